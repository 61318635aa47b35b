#include "checkpoint/rope_config.h"

#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "base/file.h"
#include "checkpoint/safetensors.h"
#include "support/error_of.h"
#include "support/paths.h"

namespace hearth {
namespace {

using doctest::Approx;
using doctest::Contains;
using test_support::message_of;

RopeConfig parse(const std::string& json, int64_t head_dim = 64) {
  return RopeConfig::parse(Json::parse(json), head_dim, 10000.0);
}

double norm(std::span<const float> values) {
  double sum = 0.0;
  for (const float v : values) sum += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(sum);
}

// Goldens of mlx-lm's initialize_rope: tests/golden/ops/README.md. The op itself is tested in
// tests/golden; here the tables. Rotation keeps lengths, so the input scale shows in the length of
// the result.
TEST_CASE("tables agree with the reference for every variant it has goldens for") {
  const std::filesystem::path ops = test_support::source_dir() / "tests" / "golden" / "ops";
  const Json cases = Json::parse(read_text_file(ops / "rope.json", 1 << 24)).at("cases");
  const SafetensorsFile file = SafetensorsFile::open(ops / "rope.safetensors");
  int tables = 0, scales = 0;
  for (const Json& c : cases.as_array()) {
    if (c.require_string("op") != "initialize_rope") continue;
    const Json& p = c.at("params");
    const RopeConfig config = RopeConfig::parse_scaling(
        p.find_value("scaling_config"), p.require_int("dims"), p.get_double("base", 10000.0),
        p.get_int("max_position_embeddings", 0));
    const RopeTable table = config.make_table();
    const std::string label = c.at("id").dump() + " " + p.at("scaling_config").dump();
    CAPTURE(label);
    const Tensor x = file.tensor(c.at("in").require_string("x"));
    const Tensor y = file.tensor(c.at("out").require_string("y"));
    const double ratio = norm(y.span<float>()) / norm(x.span<float>());
    CHECK(static_cast<double>(table.input_scale) == Approx(ratio).epsilon(1e-5));
    ++scales;
    if (!c.at("out").contains("freqs")) continue;
    const Tensor freqs = file.tensor(c.at("out").require_string("freqs"));
    REQUIRE(freqs.size() == config.dims / 2);
    for (int64_t i = 0; i < freqs.size(); ++i) {
      const double divisor = static_cast<double>(freqs.data<float>()[i]);
      const auto inv_freq = static_cast<double>(table.inv_freq.data<float>()[i]);
      if (std::isinf(divisor))
        CHECK(inv_freq == 0.0);
      else
        CHECK(inv_freq * divisor == Approx(1.0).epsilon(2e-6));
    }
    ++tables;
  }
  CHECK(tables >= 20);
  CHECK(scales >= 40);
}

TEST_CASE("the default table is base^(-2i/dims)") {
  const RopeTable t =
      parse(R"({"rope_theta": 500000.0, "rope_traditional": true})", 8).make_table();
  CHECK(t.dims == 8);
  CHECK(t.interleaved);
  CHECK(t.position_scale == 1.0F);
  for (int i = 0; i < 4; ++i)
    CHECK(t.inv_freq.data<float>()[i] == Approx(std::pow(500000.0, -i / 4.0)).epsilon(1e-7));
}

TEST_CASE("rope_theta is read from the top, else from rope_parameters, else it is the family's") {
  CHECK(parse("{}").theta == 10000.0);
  CHECK(parse(R"({"rope_theta": 1000000})").theta == 1e6);
  CHECK(parse(R"({"rope_parameters": {"rope_theta": 5e6, "rope_type": "default"}})").theta == 5e6);
  CHECK(parse(R"({"rope_theta": 7.0, "rope_parameters": {"rope_theta": 5e6}})").theta == 7.0);
  CHECK(parse(R"({"rope_theta": null})").theta == 10000.0);
}

TEST_CASE("rope_parameters counts as rope_scaling when that is absent") {
  const RopeConfig c =
      parse(R"({"rope_scaling": null, "rope_parameters": {"rope_theta": 1e4, "rope_type": "linear",
      "factor": 4.0}})");
  CHECK(c.type == RopeType::kLinear);
  CHECK(c.make_table().position_scale == 0.25F);
  CHECK(
      parse(
          R"({"rope_scaling": {"type": "linear", "factor": 2}, "rope_parameters": {"rope_type": "default"}})")
          .type == RopeType::kLinear);
  CHECK(parse(R"({"rope_scaling": {"type": "yarn", "rope_type": "linear", "factor": 2}})").type ==
        RopeType::kYarn);
}

TEST_CASE("partial_rotary_factor rotates the first channels only") {
  CHECK(parse(R"({"partial_rotary_factor": 0.5})", 96).dims == 48);
  CHECK(
      parse(R"({"rope_parameters": {"partial_rotary_factor": 0.25, "rope_type": "default"}})", 256)
          .dims == 64);
  const RopeConfig c = parse(
      R"({"rope_parameters": {"partial_rotary_factor": 0.25, "rope_type": "proportional", "rope_theta": 1e6}})",
      64);
  CHECK(c.dims == 64);
  const RopeTable t = c.make_table();
  CHECK(t.inv_freq.data<float>()[7] == Approx(std::pow(1e6, -14.0 / 64.0)));
  CHECK(t.inv_freq.data<float>()[8] == 0.0F);
}

TEST_CASE("the dynamic table changes only beyond the trained context") {
  const RopeConfig c = parse(
      R"({"max_position_embeddings": 1000, "rope_scaling": {"type": "dynamic", "factor": 2.0}})");
  const float plain = parse("{}").make_table().inv_freq.data<float>()[5];
  CHECK(c.make_table().inv_freq.data<float>()[5] == plain);
  CHECK(c.make_table(1000).inv_freq.data<float>()[5] == plain);
  const double base = 10000.0 * std::pow(2.0 * 2.0 - 1.0, 64.0 / 62.0);
  CHECK(c.make_table(2000).inv_freq.data<float>()[5] ==
        Approx(std::pow(base, -10.0 / 64.0)).epsilon(1e-6));
}

TEST_CASE("longrope takes the original context from the scaling or from the top") {
  const std::string factors = "[1, 2, 3, 4]";
  const RopeConfig c =
      parse(R"({"max_position_embeddings": 256, "original_max_position_embeddings": 64,
      "rope_scaling": {"type": "su", "long_factor": )" +
                factors + R"(, "short_factor": [1, 1, 1, 1]}})",
            8);
  CHECK(c.make_table().input_scale == Approx(std::sqrt(1.0 + std::log(4.0) / std::log(64.0))));
  CHECK(
      message_of([&] {
        parse(
            R"({"max_position_embeddings": 256, "rope_scaling": {"type": "longrope", "long_factor": [1, 2, 3, 4]}})",
            8);
      }) == Contains("\"original_max_position_embeddings\" is missing"));
}

TEST_CASE("wrong settings name the key") {
  const auto message = [](const std::string& json) { return message_of([&] { parse(json); }); };
  CHECK(message(R"({"rope_scaling": {"type": "spiral"}})") ==
        Contains(
            "unsupported: config.json: rope_scaling: the RoPE type \"spiral\" is not supported"));
  CHECK(message(R"({"rope_scaling": {"type": 3}})") == Contains("the type must be text"));
  CHECK(message(R"({"rope_scaling": [1]})") == Contains("must be an object"));
  CHECK(message(R"({"rope_theta": 0})") ==
        Contains("corrupt_data: config.json: rope_theta must be above 1"));
  CHECK(message(R"({"rope_theta": "big"})") == Contains("rope_theta"));
  CHECK(message(R"({"partial_rotary_factor": 2})") == Contains("partial_rotary_factor"));
  CHECK(message(R"({"partial_rotary_factor": 0.01})") == Contains("number of rotated channels"));
  CHECK(message(R"({"rope_scaling": {"type": "linear"}})") == Contains("\"factor\" is missing"));
  CHECK(message(R"({"rope_scaling": {"type": "linear", "factor": -1}})") ==
        Contains("\"factor\" must be a positive"));
  CHECK(message(R"({"rope_scaling": {"type": "llama3", "factor": 8, "low_freq_factor": 4}})") ==
        Contains("high_freq_factor"));
  CHECK(message(R"({"rope_scaling": {"type": "longrope", "long_factor": [1]}})") ==
        Contains("\"long_factor\" must list 32 numbers"));
  CHECK(message(R"({"rope_scaling": {"type": "dynamic", "factor": 2}})") ==
        Contains("max_position_embeddings"));
  CHECK(message(R"({"rope_scaling": {"type": "mrope"}})") ==
        Contains("\"mrope_section\" must list 3 numbers"));
  CHECK(
      message(
          R"({"rope_scaling": {"type": "yarn", "factor": 4, "mscale_all_dim": -7.213475204444817}})") ==
      Contains("usable scale"));
  CHECK(message_of([] { parse("{}", int64_t{1} << 50); }) == Contains("head_dim"));
  CHECK(message_of([] { parse("{}", 0); }) == Contains("head_dim"));
}

}  // namespace
}  // namespace hearth
