#include "checkpoint/make_checkpoint.h"

#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/file.h"
#include "base/half.h"
#include "checkpoint/inspect.h"
#include "checkpoint/random_rows.h"
#include "support/error_of.h"
#include "support/paths.h"

namespace hearth {
namespace {

using doctest::Approx;
using doctest::Contains;
using test_support::message_of;
using test_support::TempDir;

const std::vector<ExpectedTensor>& small_model() {
  static const std::vector<ExpectedTensor> tensors = {
      {"model.embed_tokens.weight", {96, 128}, true},
      {"model.layers.0.mlp.up_proj.weight", {160, 128}, true},
      {"model.layers.0.mlp.up_proj.bias", {160}, false},
      {"model.layers.0.mlp.odd.weight", {16, 48}, true},
      {"model.norm.weight", {128}, false},
      {"model.norm.weight", {128}, false}};
  return tensors;
}

Json small_config() {
  return Json::parse(R"({"model_type": "llama", "hidden_size": 128, "quantization": {"bits": 2}})");
}

// The bytes of each tensor.
std::map<std::string, std::string> contents(const std::filesystem::path& folder) {
  std::map<std::string, std::string> out;
  const Checkpoint c = Checkpoint::open(folder);
  for (const SafetensorsFile& f : c.files()) {
    for (const TensorInfo& t : f.tensors()) {
      const auto bytes = f.bytes(t);
      out[t.name] = std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
  }
  return out;
}

std::map<std::string, std::string> make(const MakeCheckpointOptions& options) {
  const TempDir dir;
  make_checkpoint(dir.path() / "m", small_config(), small_model(), options);
  return contents(dir.path() / "m");
}

TEST_CASE("a dense checkpoint has the tensors asked for, with sensible values") {
  const TempDir dir;
  make_checkpoint(dir.path() / "m", small_config(), small_model(), {.dtype = DType::kF32});
  Checkpoint c = Checkpoint::open(dir.path() / "m");
  CHECK_FALSE(c.config().contains("quantization"));
  const Weight up = c.weight("model.layers.0.mlp.up_proj", 160, 128);
  double sum = 0.0, squares = 0.0;
  for (const float v : up.data().span<float>()) {
    sum += static_cast<double>(v);
    squares += static_cast<double>(v) * static_cast<double>(v);
  }
  const auto n = static_cast<double>(up.data().size());
  CHECK(std::abs(sum / n) < 0.003);
  CHECK(std::sqrt(squares / n) == Approx(1.0 / std::sqrt(128.0)).epsilon(0.02));
  const Tensor norm = c.tensor("model.norm.weight", {128});
  for (const float v : norm.span<float>()) CHECK(std::abs(v - 1.0F) < 0.36F);
  for (const float v : c.tensor("model.layers.0.mlp.up_proj.bias", {160}).span<float>())
    CHECK(std::abs(v) < 0.08F);
  c.weight("model.embed_tokens", 96, 128);
  c.weight("model.layers.0.mlp.odd", 16, 48);
  CHECK_NOTHROW(c.audit());
}

TEST_CASE("an affine checkpoint quantizes the same values, where the group fits") {
  const TempDir dir;
  const auto dense = make({.dtype = DType::kF32, .seed = 3});
  for (const codec::AffineFormat format : {codec::AffineFormat{4, 64}, {3, 32}, {8, 128}}) {
    const std::filesystem::path folder = dir.path() / ("m" + std::to_string(format.bits));
    make_checkpoint(folder, small_config(), small_model(),
                    {.dtype = DType::kF16, .affine = format, .seed = 3});
    Checkpoint c = Checkpoint::open(folder);
    const Weight up = c.weight("model.layers.0.mlp.up_proj", 160, 128);
    CHECK(up.format() == format);
    CHECK(c.weight("model.layers.0.mlp.odd", 16, 48)
              .is_dense());  // 48 is no multiple of any group but none
    std::vector<float> w(128);
    std::memcpy(w.data(), dense.at("model.layers.0.mlp.up_proj.weight").data() + 7 * 512, 512);
    std::vector<uint32_t> packed(static_cast<size_t>(codec::packed_words(128, format.bits)));
    std::vector<float> scales(128 / static_cast<size_t>(format.group)), biases(scales.size());
    codec::quantize_row(w.data(), 128, format, packed.data(), scales.data(), biases.data());
    CHECK(std::equal(packed.begin(), packed.end(), up.data().data<uint32_t>() + 7 * packed.size()));
    for (size_t i = 0; i < scales.size(); ++i) {
      CHECK(up.scales().data<f16>()[7 * scales.size() + i] == to_f16(scales[i]));
      CHECK(up.biases().data<f16>()[7 * scales.size() + i] == to_f16(biases[i]));
    }
  }
}

TEST_CASE("values depend on seed and name only, not on threads or shards") {
  const auto reference = make({.seed = 1});
  CHECK(make({.seed = 1, .shards = 3, .threads = 2}) == reference);
  CHECK(make({.seed = 2}) != reference);
  CHECK(reference.size() == 5);
}

TEST_CASE("shards have an index that names every tensor") {
  const TempDir dir;
  make_checkpoint(dir.path() / "m", small_config(), small_model(),
                  {.dtype = DType::kBF16, .affine = codec::AffineFormat{4, 64}, .shards = 2});
  CHECK(std::filesystem::exists(dir.path() / "m" / "model-00001-of-00002.safetensors"));
  CHECK(std::filesystem::exists(dir.path() / "m" / "model-00002-of-00002.safetensors"));
  const Json index =
      Json::parse(read_text_file(dir.path() / "m" / "model.safetensors.index.json", 1 << 20));
  const Checkpoint c = Checkpoint::open(dir.path() / "m");
  CHECK(index.at("weight_map").size() == std::ssize(c.tensors()));
  CHECK(index.at("metadata").require_int("total_size") == c.tensor_bytes());
  CHECK(c.quantization().global() == ModuleQuantization{QuantizationMode::kAffine, 4, 64});
}

TEST_CASE("bad options and a folder in use are refused, and nothing is left behind") {
  const TempDir dir;
  const std::filesystem::path folder = dir.path() / "m";
  const auto message = [&](const MakeCheckpointOptions& options) {
    return message_of([&] { make_checkpoint(folder, small_config(), small_model(), options); });
  };
  CHECK(message({.dtype = DType::kI8}) == Contains("invalid_argument"));
  CHECK(message({.affine = codec::AffineFormat{7, 64}}) == Contains("2, 3, 4, 5, 6 or 8 bits"));
  CHECK(message({.shards = 0}) == Contains("shards"));
  CHECK(message_of([&] { make_checkpoint(folder, small_config(), {}, {}); }) ==
        Contains("no tensors"));
  const std::vector<ExpectedTensor> absurd = {
      {"a.weight", {int64_t{1} << 25, int64_t{1} << 25}, true}};
  CHECK(message_of([&] { make_checkpoint(folder, small_config(), absurd, {}); }) ==
        Contains("resource_exhausted"));
  CHECK(std::filesystem::is_empty(dir.path()));
  std::filesystem::create_directory(folder);
  write_file_atomic(folder / "precious", "text");
  CHECK(message({}) == Contains("exists already"));
  CHECK(std::filesystem::exists(folder / "precious"));
}

TEST_CASE("random rows are standard normal to the fourth moment, and independent of each other") {
  std::vector<float> a(1 << 16), b(a.size());
  random_row(5, "x", 0, 0.0F, 1.0F, a);
  random_row(5, "x", 1, 0.0F, 1.0F, b);
  double m1 = 0.0, m2 = 0.0, m4 = 0.0, cross = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(a[i]);
    m1 += x;
    m2 += x * x;
    m4 += x * x * x * x;
    cross += x * static_cast<double>(b[i]);
  }
  const auto n = static_cast<double>(a.size());
  CHECK(std::abs(m1 / n) < 0.02);
  CHECK(m2 / n == Approx(1.0).epsilon(0.02));
  CHECK(m4 / n == Approx(2.7).epsilon(0.05));  // 3 - 1.2 / 4 for a sum of four uniforms
  CHECK(std::abs(cross / n) < 0.02);
}

TEST_CASE("presets parse, and an unknown one lists them") {
  for (const std::string_view name : preset_names())
    CHECK(preset_config(name).require_int("hidden_size") > 0);
  CHECK(message_of([] { preset_config("7t"); }) ==
        Contains("known are 110m, llama-3.2-1b, qwen3-0.6b"));
}

TEST_CASE("inspection counts parameters unpacked and tells the memory of a token") {
  const TempDir dir;
  Json config = small_config();
  config.set("num_hidden_layers", 3);
  config.set("num_attention_heads", 4);
  config.set("num_key_value_heads", 2);
  config.set("max_position_embeddings", 512);
  config.set("eos_token_id", 2);
  make_checkpoint(dir.path() / "m", config, small_model(),
                  {.dtype = DType::kBF16, .affine = codec::AffineFormat{4, 64}});
  const CheckpointSummary s = inspect(Checkpoint::open(dir.path() / "m"));
  CHECK(s.model_type == "llama");
  CHECK(s.parameters == 96 * 128 + 160 * 128 + 160 + 16 * 48 + 128);
  const int64_t quantized = (96 + 160) * 128;
  const int64_t bytes = quantized / 2 + quantized / 64 * 4 + (160 + 16 * 48 + 128) * 2;
  CHECK(s.tensor_bytes == bytes);
  CHECK(s.bits_per_weight ==
        Approx(8.0 * static_cast<double>(bytes) / static_cast<double>(s.parameters)));
  CHECK(s.quantization == "affine 4 bits group 64");
  CHECK(s.head_dim == 32);
  CHECK(s.context_tokens == 512);
  CHECK(s.kv_bytes_per_token_f32 == 3 * 2 * 32 * 2 * 4);
  CHECK(s.kv_bytes_per_token_bf16 == 3 * 2 * 32 * 2 * 2);
  REQUIRE(s.tensors.size() == 5);
  CHECK(s.tensors[0].name == "model.embed_tokens.weight");
  CHECK(s.tensors[0].shape == std::vector<int64_t>{96, 128});
  CHECK(s.tensors[0].storage == "affine 4 bits group 64");
  CHECK(s.by_storage.size() == 2);
  const Json j = to_json(s);
  CHECK(j.require_int("parameters") == s.parameters);
  CHECK(j.at("tensors").size() == 5);
  CHECK(j.at("end_token_ids")[0].as_int() == 2);
}

TEST_CASE("inspection works on checkpoints that can't be loaded") {
  const TempDir dir;
  {
    SafetensorsWriter writer(dir.path() / "model.safetensors",
                             {{"a.qweight", DType::kI32, {2, 2}}});
    writer.write("a.qweight", std::vector<std::byte>(16));
    writer.commit();
  }
  write_file_atomic(dir.path() / "config.json",
                    R"({"quantization_config": {"quant_method": "awq"}})");
  const CheckpointSummary s = inspect(Checkpoint::open(dir.path()));
  CHECK(s.quantization.starts_with("refused: weights quantized with quant_method \"awq\""));
  CHECK(s.parameters == 4);
  CHECK_FALSE(s.layers.has_value());
  CHECK(to_json(s).at("layers").is_null());
}

}  // namespace
}  // namespace hearth
