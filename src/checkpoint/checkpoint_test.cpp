#include "checkpoint/checkpoint.h"

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/file.h"
#include "base/log.h"
#include "support/error_of.h"
#include "support/paths.h"
#include "support/safetensors_bytes.h"

namespace hearth {
namespace {

using doctest::Contains;
using test_support::message_of;
using test_support::safetensors_bytes;
using test_support::TempDir;
using test_support::write_bytes;

constexpr const char* kConfig = R"({"model_type": "llama", "eos_token_id": 2})";

// A model folder of zeros.
struct Folder {
  TempDir dir;

  explicit Folder(std::string_view config = kConfig) {
    write_bytes(dir.path() / "config.json", config);
  }

  void tensors(const std::string& file, std::vector<TensorSpec> specs) const {
    SafetensorsWriter writer(dir.path() / file, specs);
    for (const TensorSpec& t : specs)
      writer.write(t.name, std::vector<std::byte>(static_cast<size_t>(t.size_bytes())));
    writer.commit();
  }
  void text(const std::string& file, std::string_view content) const {
    write_bytes(dir.path() / file, content);
  }
  Checkpoint open() const { return Checkpoint::open(dir.path()); }
  doctest::String message() const {
    return message_of([&] { open(); });
  }
};

TEST_CASE("tensors of all shards are merged, whether or not there is an index") {
  const Folder f;
  f.tensors("model-00001-of-00002.safetensors", {{"a.weight", DType::kF32, {2, 3}}});
  f.tensors("model-00002-of-00002.safetensors", {{"b.weight", DType::kBF16, {4}}});
  f.tensors("adapters.safetensors", {{"c.weight", DType::kF32, {1}}});  // not a part of the model
  const auto check = [&] {
    const Checkpoint c = f.open();
    REQUIRE(c.tensors().size() == 2);
    CHECK(c.tensors()[0]->name == "a.weight");
    CHECK(c.has("b.weight"));
    CHECK_FALSE(c.has("c.weight"));
    CHECK(c.tensor_bytes() == 24 + 8);
    CHECK(c.files().size() == 2);
  };
  check();
  f.text("model.safetensors.index.json",
         R"({"weight_map": {"a.weight": "model-00001-of-00002.safetensors"}})");
  check();
}

TEST_CASE("an index whose file or tensor is missing is refused by name") {
  const Folder f;
  f.tensors("model-00001-of-00002.safetensors", {{"a", DType::kU8, {1}}});
  const auto with_index = [&](std::string_view index) {
    f.text("model.safetensors.index.json", index);
    return f.message();
  };
  CHECK(with_index(R"({"weight_map": {"b": "model-00002-of-00002.safetensors"}})") ==
        Contains("tensor b should be in model-00002-of-00002.safetensors, which is not among"));
  CHECK(with_index(R"({"weight_map": {"b": "model-00001-of-00002.safetensors"}})") ==
        Contains("tensor b should be in model-00001-of-00002.safetensors, which doesn't have it"));
  CHECK(with_index(R"({"weight_map": {"b": "../../etc/passwd"}})") ==
        Contains("which is not among"));
  CHECK(with_index(R"({"weight_map": {"a": 7}})") == Contains("weight_map of a must name a file"));
  CHECK(with_index(R"({"weight_map": []})") == Contains("\"weight_map\" must be an object"));
  CHECK(with_index("{") == Contains("model.safetensors.index.json: not valid JSON"));
}

TEST_CASE("a tensor in two files is refused, naming both") {
  const Folder f;
  f.tensors("model.safetensors", {{"a", DType::kU8, {1}}});
  f.tensors("model-00001-of-00001.safetensors", {{"a", DType::kU8, {1}}});
  CHECK(f.message() == Contains("tensor a is in two files"));
  CHECK(f.message() == Contains("model-00001-of-00001.safetensors and"));
}

TEST_CASE("folders that are no model say what is missing") {
  const TempDir empty;
  CHECK(message_of([&] { Checkpoint::open(empty.path() / "none"); }) ==
        Contains("not_found: there is no model folder"));
  CHECK(message_of([&] { Checkpoint::open(empty.path()); }) == Contains("has no config.json"));
  CHECK(Folder().message() == Contains("has no model*.safetensors"));
}

TEST_CASE("configs that are malformed or want foreign code are refused") {
  const auto message = [](std::string_view config) {
    const Folder f(config);
    f.tensors("model.safetensors", {{"a", DType::kU8, {1}}});
    return f.message();
  };
  CHECK(message("") == Contains("config.json: not valid JSON"));
  CHECK(message("{\"a\": 1") == Contains("config.json: not valid JSON"));
  CHECK(message("[]") == Contains("config.json: expected an object, found array"));
  CHECK(message(std::string(100'000, '[')) == Contains("config.json: not valid JSON"));
  CHECK(message("{\"a\":" + std::string(100'000, '{')) == Contains("config.json"));
  CHECK(message(R"({"model_file": "evil.py"})") == Contains("unsupported"));
  CHECK(message(R"({"text_config": 3})") == Contains("text_config must be an object"));
  CHECK(message(R"({"eos_token_id": "x"})") == Contains("eos_token_id must be"));
  CHECK(message(R"({"y": Infinity, "z": [-Infinity]})") == "nothing was thrown");
}

TEST_CASE("a malformed generation_config is ignored, a good one replaces the end tokens") {
  const Folder f;
  f.tensors("model.safetensors", {{"a", DType::kU8, {1}}});
  CHECK(f.open().generation_config() == nullptr);
  CHECK(f.open().end_token_ids() == std::vector<int32_t>{2});
  set_log_level(LogLevel::kQuiet);
  for (const char* bad : {"", "{", "[]", "{\"eos_token_id\": \"x\"}"}) {
    f.text("generation_config.json", bad);
    CHECK(f.open().end_token_ids() == std::vector<int32_t>{2});
  }
  set_log_level(LogLevel::kInfo);
  f.text("generation_config.json", R"({"eos_token_id": [5, 4], "temperature": 0.5})");
  const Checkpoint c = f.open();
  CHECK(c.end_token_ids() == std::vector<int32_t>{4, 5});
  REQUIRE(c.generation_config() != nullptr);
  CHECK(c.generation_config()->get_double("temperature", 0.0) == 0.5);
}

TEST_CASE("model types are remapped, and nested text configs found") {
  const auto open = [](std::string_view config) {
    return Checkpoint::from_parts({.name = "m",
                                   .config_json = std::string(config),
                                   .generation_config_json = "",
                                   .files = {}});
  };
  CHECK(open(R"({"model_type": "mistral"})").model_type() == "llama");
  CHECK(open(R"({"model_type": "iquestcoder"})").model_type() == "llama");
  CHECK(open(R"({"model_type": "kimi_k2"})").model_type() == "deepseek_v3");
  CHECK(open(R"({"model_type": "qwen3"})").model_type() == "qwen3");
  CHECK(message_of([&] { open("{}").model_type(); }) ==
        Contains("config.json needs \"model_type\""));
  CHECK(message_of([&] { open(R"({"model_type": 3})").model_type(); }) == Contains("model_type"));
  const Checkpoint nested = open(
      R"({"model_type": "gemma4", "text_config": {"max_position_embeddings": 77, "hidden_size": 8}})");
  CHECK(nested.text_config().require_int("hidden_size") == 8);
  CHECK(nested.context_tokens() == 77);
  CHECK_FALSE(open("{}").context_tokens().has_value());
}

TEST_CASE("dense weights are views of their stored type") {
  const Folder f;
  f.tensors("model.safetensors",
            {{"a.weight", DType::kBF16, {2, 3}}, {"n.weight", DType::kF16, {3}}});
  Checkpoint c = f.open();
  const Weight w = c.weight("a", 2, 3);
  CHECK(w.is_dense());
  CHECK(w.data().dtype() == DType::kBF16);
  const TensorInfo* info = c.find("a.weight");
  CHECK(w.data().raw() == c.files()[0].bytes(*info).data());
  CHECK(c.tensor("n.weight", {3}).dtype() == DType::kF16);
  CHECK_NOTHROW(c.audit());
  CHECK(c.expected().size() == 2);
  CHECK(c.expected()[0].is_weight);
}

std::vector<TensorSpec> affine(const std::string& path, int64_t out, int64_t in, int bits,
                               int64_t group) {
  return {{path + ".weight", DType::kU32, {out, in * bits / 32}},
          {path + ".scales", DType::kBF16, {out, in / group}},
          {path + ".biases", DType::kBF16, {out, in / group}}};
}

TEST_CASE("affine weights follow the section and its exceptions") {
  const Folder f(
      R"({"quantization": {"group_size": 64, "bits": 4, "b": {"group_size": 32, "bits": 6}, "c": false}})");
  std::vector<TensorSpec> specs = affine("a", 8, 128, 4, 64);
  for (const TensorSpec& t : affine("b", 4, 64, 6, 32)) specs.push_back(t);
  specs.push_back({"c.weight", DType::kF32, {2, 64}});
  specs.push_back({"d.weight", DType::kF32, {2, 64}});
  f.tensors("model.safetensors", specs);
  Checkpoint c = f.open();
  const Weight a = c.weight("a", 8, 128);
  CHECK(a.is_affine());
  CHECK(a.format() == codec::AffineFormat{4, 64});
  CHECK(a.bits_per_weight() == doctest::Approx(4.5));
  CHECK(c.weight("b", 4, 64).format() == codec::AffineFormat{6, 32});
  CHECK(c.weight("c", 2, 64).is_dense());
  CHECK(c.weight("d", 2, 64).is_dense());
  CHECK_NOTHROW(c.audit());
}

TEST_CASE("the audit lists what is missing, misshapen and unexpected, at most ten of a kind") {
  const Folder f;
  std::vector<TensorSpec> specs = {{"a.weight", DType::kF32, {2, 3}},
                                   {"rotary_emb.inv_freq", DType::kF32, {4}},
                                   {"x.rotary_emb.inv_freq", DType::kF32, {4}}};
  for (int i = 0; i < 12; ++i) specs.push_back({"extra." + std::to_string(i), DType::kF32, {1}});
  f.tensors("model.safetensors", specs);
  Checkpoint c = f.open();
  const Weight a = c.weight("a", 3, 2);  // there, with another shape
  CHECK(a.shape() == Shape{3, 2});
  const Weight b = c.weight("b", 1000, 1000);
  CHECK(b.shape() == Shape{1000, 1000});
  CHECK(b.data().data<float>()[999'999] == 0.0F);
  CHECK(c.tensor("norm.weight", {7}).size() == 7);
  const doctest::String message =
      message_of([&] { c.audit({"*.rotary_emb.inv_freq", "rotary_emb.*"}); });
  CHECK(message == Contains("corrupt_data"));
  CHECK(message == Contains("missing (2): b.weight, norm.weight"));
  CHECK(message == Contains("wrong shape (1): a.weight is [2, 3], expected [3, 2]"));
  CHECK(message == Contains("unexpected (12): extra.0, extra.1, extra.10"));
  CHECK(message == Contains(", ..."));
  CHECK_FALSE(message == Contains("inv_freq"));
  CHECK(message_of([&] { c.audit(); }) == Contains("unexpected (14)"));
}

TEST_CASE("patterns match whole names") {
  CHECK(matches_pattern("lm_head.*", "lm_head.weight"));
  CHECK(matches_pattern("*inv_freq", "model.layers.0.self_attn.rotary_emb.inv_freq"));
  CHECK(matches_pattern("a*b*c", "a__b_bc"));
  CHECK(matches_pattern("*", ""));
  CHECK_FALSE(matches_pattern("lm_head.*", "model.lm_head.weight"));
  CHECK_FALSE(matches_pattern("a*b", "abc"));
  CHECK_FALSE(matches_pattern("", "a"));
}

TEST_CASE("storage that nothing computes with is refused with the word for it") {
  const Folder f;
  f.tensors("model.safetensors", {{"f8.weight", DType::kF8E4M3, {2, 2}},
                                  {"f64.weight", DType::kF64, {2, 2}},
                                  {"packed.weight", DType::kU32, {2, 2}},
                                  {"q.weight", DType::kU32, {2, 8}},
                                  {"q.scales", DType::kBF16, {2, 1}}});
  Checkpoint c = f.open();
  CHECK(message_of([&] { c.weight("f8", 2, 2); }) ==
        Contains("tensor f8.weight is stored as F8_E4M3: 8-bit floating-point weights are not "
                 "supported yet"));
  CHECK(message_of([&] { c.weight("f64", 2, 2); }) ==
        Contains("stored as F64, which is not supported for weights"));
  CHECK(message_of([&] { c.tensor("f8.weight", {2, 2}); }) == Contains("unsupported"));
  CHECK(message_of([&] { c.weight("packed", 2, 2); }) ==
        Contains("doesn't say that it is quantized"));
  CHECK(message_of([&] { c.weight("q", 2, 64); }) ==
        Contains("config.json has no \"quantization\" section"));
}

TEST_CASE("a quantization section that doesn't fit the tensors is refused by name") {
  const Folder f(
      R"({"quantization": {"group_size": 64, "bits": 4, "dense": true, "mx": {"mode": "mxfp4"}}})");
  std::vector<TensorSpec> specs = affine("eight", 4, 128, 8, 64);
  for (const TensorSpec& t : affine("narrow", 4, 32, 4, 32)) specs.push_back(t);
  specs.push_back({"dense.weight", DType::kF32, {2, 64}});
  specs.push_back({"mx.weight", DType::kU32, {2, 8}});
  specs.push_back({"mixed.weight", DType::kU32, {2, 8}});
  specs.push_back({"mixed.scales", DType::kF32, {2, 1}});
  specs.push_back({"mixed.biases", DType::kBF16, {2, 1}});
  f.tensors("model.safetensors", specs);
  Checkpoint c = f.open();
  CHECK(c.weight("eight", 4, 128).is_affine());  // a placeholder
  CHECK(message_of([&] { c.audit({"*"}); }) ==
        Contains("eight.weight is [4, 32], expected [4, 16]"));
  CHECK(message_of([&] { c.weight("narrow", 4, 32); }) ==
        Contains(
            "narrow has rows of 32 values, which is no multiple of its quantization group of 64"));
  CHECK(message_of([&] { c.weight("dense", 2, 64); }) ==
        Contains("its weight is stored as F32, not U32"));
  CHECK(message_of([&] { c.weight("mx", 2, 64); }) ==
        Contains("mode mxfp4, which is not supported yet"));
  CHECK(message_of([&] { c.weight("mixed", 2, 64); }) ==
        Contains("mixed.scales is F32 and .biases is BF16"));
}

TEST_CASE(
    "a config that asks for absurd shapes or endless layers ends with an error, not with memory") {
  const Folder f;
  f.tensors("model.safetensors", {{"a.weight", DType::kF32, {2, 3}}});
  Checkpoint c = f.open();
  CHECK(c.weight("a", int64_t{1} << 20, int64_t{1} << 20).out() ==
        1 << 20);  // 4 TiB that aren't there
  CHECK(message_of([&] { c.weight("a", int64_t{1} << 40, int64_t{1} << 40); }) ==
        Contains("larger than any file"));
  CHECK(message_of([&] { c.weight("a", -1, 4); }) == Contains("larger than any file"));
  CHECK(message_of([&] {
          for (int64_t i = 0; i < int64_t{1} << 40; ++i)
            c.weight("layers." + std::to_string(i), 4, 4);
        }) == Contains("corrupt_data"));
}

TEST_CASE("a blueprint grants and records whatever is asked for") {
  Checkpoint c = Checkpoint::blueprint(Json::parse(R"({"model_type": "llama", "x": 1})"));
  CHECK(c.weight("a", 4, 8).shape() == Shape{4, 8});
  CHECK(c.tensor("n.weight", {8}).data<float>()[7] == 0.0F);
  CHECK_NOTHROW(c.audit());
  REQUIRE(c.expected().size() == 2);
  CHECK(c.expected()[0].name == "a.weight");
  CHECK(c.expected()[0].shape == std::vector<int64_t>{4, 8});
  CHECK(c.expected()[1].name == "n.weight");
  CHECK_FALSE(c.expected()[1].is_weight);
}

TEST_CASE("the fingerprint follows config and headers") {
  const auto print = [](const char* config, std::vector<int64_t> shape) {
    const Folder f(config);
    f.tensors("model.safetensors", {{"a", DType::kU8, std::move(shape)}});
    std::filesystem::last_write_time(f.dir.path() / "model.safetensors", {});
    return f.open().fingerprint();
  };
  const uint64_t reference = print("{}", {2, 3});
  CHECK(print("{}", {2, 3}) == reference);
  CHECK(print("{ }", {2, 3}) != reference);
  CHECK(print("{}", {3, 2}) != reference);
}

TEST_CASE("every golden checkpoint opens, and every tensor in it can be taken") {
  std::vector<std::filesystem::path> roots = {test_support::source_dir() / "tests" / "golden" /
                                              "models"};
  if (const auto shared = test_support::shared_dir()) roots.push_back(*shared / "goldens");
  int count = 0;
  for (const auto& root : roots) {
    for (const auto& entry : std::filesystem::directory_iterator(root)) {
      if (!std::filesystem::exists(entry.path() / "config.json")) continue;
      CAPTURE(entry.path());
      const Checkpoint c = Checkpoint::open(entry.path());
      CHECK_FALSE(c.model_type().empty());
      for (const TensorInfo* t : c.tensors())
        CHECK(t->size_bytes() == t->elements() * bytes_of(t->dtype));
      ++count;
    }
  }
  CHECK(count >= 10);
}

TEST_CASE("a checkpoint of a billion parameters opens within milliseconds") {
  const Folder f;
  std::vector<TensorSpec> specs;
  std::string header = "{";
  int64_t at = 0;
  for (int i = 0; i < 450; ++i) {
    const int64_t bytes = int64_t{2048} * 1216 * 2;
    header += (i > 0 ? "," : "") + ("\"model.layers." + std::to_string(i)) +
              R"(.self_attn.q_proj.weight":{"dtype":"BF16","shape":[2048,1216],"data_offsets":[)" +
              std::to_string(at) + "," + std::to_string(at + bytes) + "]}";
    at += bytes;
  }
  const std::filesystem::path path = f.dir.path() / "model.safetensors";
  write_bytes(path, safetensors_bytes(header + "}", 0));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + static_cast<uint64_t>(at));
  // Processor time, not wall time, and the best of five: other processes may hold the machine.
  double best_ms = 1e9;
  for (int i = 0; i < 5; ++i) {
    const std::clock_t begin = std::clock();
    const Checkpoint c = f.open();
    best_ms =
        std::min(best_ms, 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    CHECK(c.tensors().size() == 450);
  }
  MESSAGE("opened in ", best_ms, " ms of processor time");
  CHECK(best_ms < 100.0);  // about 1 ms in release; sanitizers multiply it
}

}  // namespace
}  // namespace hearth
