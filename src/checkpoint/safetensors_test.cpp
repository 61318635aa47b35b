#include "checkpoint/safetensors.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/half.h"
#include "support/error_of.h"
#include "support/paths.h"
#include "support/safetensors_bytes.h"

namespace hearth {
namespace {

using doctest::Contains;
using test_support::as_bytes;
using test_support::message_of;
using test_support::safetensors_bytes;
using test_support::TempDir;

doctest::String parse_message(const std::string& file) {
  return message_of([&] { SafetensorsFile::parse(as_bytes(file), "m.safetensors", nullptr); });
}

doctest::String header_message(std::string_view header, int64_t data_bytes) {
  return parse_message(safetensors_bytes(header, data_bytes));
}

// Resident memory of this process.
int64_t resident_bytes() {
  int64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

TEST_CASE("a written file reads back, whatever the types and the order of writing") {
  const TempDir dir;
  const std::filesystem::path path = dir.path() / "a.safetensors";
  const std::vector<float> floats = {1.5F, -2.0F, 0.25F, 8.0F, 0.0F, -0.5F};
  const std::array<uint8_t, 3> bytes = {7, 0, 255};
  {
    SafetensorsWriter writer(path, {{"b.bytes", DType::kU8, {3}},
                                    {"a.floats", DType::kF32, {2, 3}},
                                    {"c.empty", DType::kBF16, {0, 4}},
                                    {"d.scalar", DType::kF64, {}}});
    writer.write("b.bytes", std::as_bytes(std::span(bytes)));
    const auto raw = std::as_bytes(std::span(floats));
    writer.write("a.floats", 12, raw.subspan(12));
    writer.write("a.floats", 0, raw.first(12));
    writer.write("c.empty", {});
    const double one = 1.0;
    writer.write("d.scalar", std::as_bytes(std::span(&one, 1)));
    CHECK_FALSE(std::filesystem::exists(path));
    writer.commit();
    CHECK(static_cast<int64_t>(std::filesystem::file_size(path)) == writer.file_bytes());
  }
  const SafetensorsFile file = SafetensorsFile::open(path);
  REQUIRE(file.tensors().size() == 4);
  CHECK(file.tensors()[0].name == "a.floats");
  CHECK(file.metadata() == std::vector<std::pair<std::string, std::string>>{{"format", "mlx"}});
  CHECK(file.header_bytes() % 64 == 0);
  const Tensor t = file.tensor("a.floats");
  CHECK(t.shape() == Shape{2, 3});
  CHECK(std::vector<float>(t.span<float>().begin(), t.span<float>().end()) == floats);
  CHECK(file.tensor("b.bytes").data<uint8_t>()[2] == 255);
  CHECK(file.tensor("c.empty").size() == 0);
  CHECK(file.tensor("d.scalar").data<double>()[0] == 1.0);
  CHECK(file.find("nothing") == nullptr);
  CHECK(message_of([&] { file.tensor("nothing"); }) == Contains("not_found"));
}

TEST_CASE("every dtype of the format is recognised") {
  const std::vector<std::pair<const char*, DType>> types = {
      {"F64", DType::kF64},   {"F32", DType::kF32},        {"F16", DType::kF16},
      {"BF16", DType::kBF16}, {"F8_E4M3", DType::kF8E4M3}, {"F8_E5M2", DType::kF8E5M2},
      {"I64", DType::kI64},   {"I32", DType::kI32},        {"I16", DType::kI16},
      {"I8", DType::kI8},     {"U64", DType::kU64},        {"U32", DType::kU32},
      {"U16", DType::kU16},   {"U8", DType::kU8},          {"BOOL", DType::kBool}};
  for (const auto& [text, dtype] : types) {
    CAPTURE(text);
    const int64_t size = 2 * bytes_of(dtype);
    const std::string bytes =
        safetensors_bytes(R"({"t":{"dtype":")" + std::string(text) +
                              R"(","shape":[2],"data_offsets":[0,)" + std::to_string(size) + "]}}",
                          size);
    const SafetensorsFile file = SafetensorsFile::parse(as_bytes(bytes), "m", nullptr);
    CHECK(file.tensors()[0].dtype == dtype);
    CHECK(file.tensor("t").bytes() == size);
  }
  CHECK(
      header_message(R"({"t":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}})", 1) ==
      Contains("unsupported: m.safetensors: tensor t is stored as F4, which is not supported yet"));
  CHECK(header_message(R"({"t":{"dtype":"Q4","shape":[2],"data_offsets":[0,1]}})", 1) ==
        Contains("corrupt_data: m.safetensors: tensor t has the unknown dtype \"Q4\""));
}

TEST_CASE("impossible header lengths are refused by name before anything is allocated") {
  const std::string ok = R"({"t":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})";
  CHECK(parse_message(safetensors_bytes(ok, 8)) == "nothing was thrown");
  CHECK(parse_message("") == Contains("corrupt_data: m.safetensors has 0 bytes"));
  CHECK(parse_message("1234567") == Contains("m.safetensors has 7 bytes"));
  const int64_t before = resident_bytes();
  CHECK(parse_message(std::string(8, '\xFF') + ok) ==
        Contains("corrupt_data: m.safetensors: the header length is 18446744073709551615"));
  CHECK(parse_message(safetensors_bytes(ok, 8, 99'000'000)) == Contains("the file is truncated"));
  CHECK(parse_message(safetensors_bytes(ok, 8, uint64_t{1} << 62)) ==
        Contains("more than the 100000000"));
  CHECK(parse_message(safetensors_bytes(ok, 8, ok.size() - 1)) == Contains("not JSON"));
  CHECK(parse_message(safetensors_bytes(ok, 8, ok.size() + 8)) ==
        Contains("not JSON: text after the end"));
  CHECK(resident_bytes() - before < (8 << 20));
}

TEST_CASE("headers that are not a JSON object of tensors are refused with the byte") {
  CHECK(header_message("", 0) == Contains("not JSON: a header begins with '{'"));
  CHECK(header_message("[]", 0) == Contains("not JSON"));
  CHECK(header_message("{", 0) == Contains("header byte 1: expected a string for a tensor name"));
  CHECK(header_message(R"({"t")", 0) == Contains("expected ':'"));
  CHECK(header_message(R"({"t":1})", 0) == Contains("expected '{'"));
  CHECK(header_message(R"({"t":{}})", 0) ==
        Contains("tensor t needs dtype, shape and data_offsets"));
  CHECK(header_message(R"({"t":{"dtype":"U8","shape":[1]}})", 0) ==
        Contains("needs dtype, shape and data_offsets"));
  CHECK(header_message(R"({"t":{"dtype":"U8","dtype":"U8"}})", 0) == Contains("\"dtype\" twice"));
  CHECK(header_message("{\"t\x01\":{}}", 0) == Contains("control character"));
  CHECK(header_message(R"({"\ud800x":{}})", 0) == Contains("half a surrogate pair"));
  CHECK(header_message(R"({"\q":{}})", 0) == Contains("unknown escape"));
  CHECK(header_message(R"({"t":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1) ==
        Contains("expected a whole number, not negative"));
  CHECK(header_message(R"({"t":{"dtype":"U8","shape":[1.5],"data_offsets":[0,1]}})", 1) ==
        Contains("expected a whole number"));
  CHECK(header_message(
            R"({"t":{"dtype":"U8","shape":[99999999999999999999],"data_offsets":[0,1]}})", 1) ==
        Contains("larger than any file"));
  CHECK(header_message(R"({"t":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})",
                       1) == Contains("more than 8 axes"));
  CHECK(header_message(R"({"__metadata__":{"a":1}})", 0) == Contains("only strings are allowed"));
  CHECK(header_message(R"({"__metadata__":{},"__metadata__":{}})", 0) == Contains("twice"));
  std::string deep = R"({"t":{"x":)" + std::string(100'000, '[');
  CHECK(header_message(deep, 0) == Contains("nested deeper"));
}

TEST_CASE("unknown fields of a tensor, escapes and padding are accepted") {
  const std::string bytes = safetensors_bytes(
      R"( {"__metadata__":{"k":"v"}, "\u00e9\ud83d\ude00" : {"note":[{"a":[1,-2.5e3,null,true]},"x"],
          "shape" : [ 2 , 1 ], "dtype":"U8","data_offsets":[ 0, 2 ]}}   )",
      2);
  const SafetensorsFile file = SafetensorsFile::parse(as_bytes(bytes), "m", nullptr);
  CHECK(file.tensors()[0].name == "\xC3\xA9\xF0\x9F\x98\x80");
  CHECK(file.tensors()[0].shape == std::vector<int64_t>{2, 1});
}

TEST_CASE(
    "offsets that are incomplete, reversed, overlapping, gapped or beyond the file are refused") {
  const auto one = [](std::string_view shape, std::string_view offsets) {
    return R"({"t":{"dtype":"U8","shape":)" + std::string(shape) + R"(,"data_offsets":)" +
           std::string(offsets) + "}}";
  };
  const auto two = [](std::string_view first, std::string_view second) {
    return R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + std::string(first) +
           R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + std::string(second) + "}}";
  };
  CHECK(header_message(one("[4]", "[4]"), 4) ==
        Contains("data_offsets of tensor t must be two numbers"));
  CHECK(header_message(one("[4]", "[0,4,8]"), 4) == Contains("must be two numbers"));
  CHECK(
      header_message(one("[4]", "[8,4]"), 8) ==
      Contains("m.safetensors: tensor t has data_offsets [8, 4], whose end lies before its begin"));
  CHECK(header_message(one("[4]", "[0,3]"), 3) ==
        Contains("needs 4 bytes, but its data_offsets [0, 3] span 3"));
  CHECK(header_message(one("[4]", "[0,4]"), 3) == Contains("the file has only 3; it is truncated"));
  CHECK(header_message(one("[4]", "[0,4]"), 5) ==
        Contains("1 bytes after the last tensor belong to no tensor"));
  CHECK(header_message("{}", 5) == Contains("5 bytes after the last tensor"));
  CHECK(header_message(one("[4]", "[1,5]"), 5) ==
        Contains("bytes 0 to 1 before tensor t belong to no tensor"));
  CHECK(header_message(one("[4294967296,4294967296]", "[0,4]"), 4) ==
        Contains("larger than any file"));
  CHECK(header_message(one("[4611686018427387904,4,0]", "[0,0]"), 0) ==
        Contains("larger than any file"));
  CHECK(header_message(one("[9223372036854775807]", "[0,9223372036854775807]"), 4) ==
        Contains("truncated"));
  CHECK(header_message(two("[0,4]", "[2,6]"), 6) ==
        Contains("tensor b begins at byte 2 and overlaps a"));
  CHECK(header_message(two("[0,4]", "[0,4]"), 4) == Contains("overlaps"));
  CHECK(header_message(two("[0,4]", "[5,9]"), 9) == Contains("bytes 4 to 5 before tensor b"));
  CHECK(header_message(two("[4,8]", "[0,4]"), 8) == "nothing was thrown");
  CHECK(header_message(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                       R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                       2) == Contains("tensor a stands in the header twice"));
}

TEST_CASE("a message never carries control characters or endless names") {
  const std::string name = "\\u001b[2J" + std::string(1000, 'n');
  const std::string bytes = safetensors_bytes(
      R"({")" + name + R"(":{"dtype":"XX","shape":[1],"data_offsets":[0,1]}})", 1);
  const auto error = test_support::error_of(
      [&] { SafetensorsFile::parse(as_bytes(bytes), "m.safetensors", nullptr); });
  REQUIRE(error.has_value());
  CHECK(error->message().find('\x1B') == std::string::npos);
  CHECK(error->message().size() < 400);
}

TEST_CASE("data at any alignment reads right, and aligned data is not copied") {
  for (int shift = 0; shift < 8; ++shift) {
    CAPTURE(shift);
    const std::string header = R"({"t":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})" +
                               std::string(static_cast<size_t>(shift), ' ');
    std::string bytes = safetensors_bytes(header, 0);
    const std::array<float, 3> values = {1.0F, -2.0F, 3.5F};
    bytes.append(reinterpret_cast<const char*>(values.data()), sizeof values);
    const auto owner = std::make_shared<const std::string>(bytes);
    const SafetensorsFile file = SafetensorsFile::parse(as_bytes(*owner), "m", owner);
    const Tensor t = file.tensor("t");
    CHECK(std::equal(values.begin(), values.end(), t.span<float>().begin()));
    const std::byte* stored = file.bytes(file.tensors()[0]).data();
    CHECK((t.raw() == stored) == (reinterpret_cast<uintptr_t>(stored) % 4 == 0));
  }
}

TEST_CASE("a tensor keeps the mapping alive after its file is gone") {
  const TempDir dir;
  const std::filesystem::path path = dir.path() / "a.safetensors";
  test_support::write_bytes(
      path, safetensors_bytes(R"({"t":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", 9));
  Tensor t;
  {
    const SafetensorsFile file = SafetensorsFile::open(path);
    t = file.tensor("t");
  }
  std::filesystem::remove(path);
  CHECK(t.data<uint8_t>()[8] == 8);
}

TEST_CASE("opening a file of gigabytes touches only its header") {
  const TempDir dir;
  const std::filesystem::path path = dir.path() / "model.safetensors";
  constexpr int64_t kBytes = int64_t{2} << 30;  // sparse: takes no disk
  test_support::write_bytes(path, safetensors_bytes(R"({"t":{"dtype":"U8","shape":[2147483648],)"
                                                    R"("data_offsets":[0,2147483648]}})",
                                                    0));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + kBytes);
  const int64_t before = resident_bytes();
  const SafetensorsFile file = SafetensorsFile::open(path);
  const Tensor t = file.tensor("t");
  CHECK(t.size() == kBytes);
  CHECK(resident_bytes() - before < (4 << 20));
}

TEST_CASE("a writer that is not committed leaves nothing, and refuses what was not announced") {
  const TempDir dir;
  const std::filesystem::path path = dir.path() / "a.safetensors";
  const std::array<std::byte, 8> data{};
  {
    SafetensorsWriter writer(path, {{"t", DType::kF32, {2}}});
    CHECK(message_of([&] { writer.write("u", data); }) == Contains("tensor u was not announced"));
    CHECK(message_of([&] { writer.write("t", 4, data); }) == Contains("lie outside tensor t"));
    CHECK(message_of([&] { writer.write("t", -1, data); }) == Contains("lie outside tensor t"));
    CHECK(message_of([&] { writer.write("t", std::span(data).first(4)); }) ==
          Contains("has 8 bytes, not 4"));
    CHECK(message_of([&] { writer.commit(); }) == Contains("internal"));
  }
  CHECK(std::filesystem::is_empty(dir.path()));
  CHECK(message_of([&] {
          SafetensorsWriter(path, {{"t", DType::kU8, {1}}, {"t", DType::kU8, {1}}});
        }) == Contains("written twice"));
  CHECK(message_of([&] { SafetensorsWriter(path, {{"t", DType::kF32, {int64_t{1} << 62}}}); }) ==
        Contains("too large"));
  CHECK(message_of([&] { SafetensorsWriter(dir.path() / "no" / "a", {{"t", DType::kU8, {1}}}); }) ==
        Contains("io:"));
  CHECK(std::filesystem::is_empty(dir.path()));
}

TEST_CASE("a file that is not there or not a file is refused by name") {
  const TempDir dir;
  CHECK(message_of([&] { SafetensorsFile::open(dir.path() / "none.safetensors"); }) ==
        Contains("none.safetensors"));
  CHECK(message_of([&] { SafetensorsFile::open(dir.path()); }) == Contains("not a regular file"));
}

}  // namespace
}  // namespace hearth
