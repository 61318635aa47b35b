#include "checkpoint/quantization.h"

#include <string>

#include <doctest/doctest.h>

#include "support/error_of.h"

namespace hearth {
namespace {

using doctest::Contains;
using test_support::message_of;

QuantizationConfig parse(const std::string& json) {
  return QuantizationConfig::parse(Json::parse(json));
}

TEST_CASE("no section, or a null one, leaves every module dense") {
  for (const char* json :
       {"{}", R"({"quantization": null})", R"({"quantization_config": null, "text_config": {}})"}) {
    const QuantizationConfig q = parse(json);
    CHECK_FALSE(q.is_present());
    CHECK_FALSE(q.of("a", /*has_scales=*/false).has_value());
    CHECK(message_of([&] { q.of("a.b", /*has_scales=*/true); }) ==
          Contains("tensor a.b.scales says that the module is quantized"));
  }
}

TEST_CASE("quantization counts before quantization_config, the top level before text_config") {
  CHECK(
      parse(
          R"({"quantization": {"bits": 3, "group_size": 32}, "quantization_config": {"bits": 8}})")
          .global() == ModuleQuantization{QuantizationMode::kAffine, 3, 32});
  CHECK(parse(R"({"quantization_config": {"bits": 8, "group_size": 128}})").global().bits == 8);
  CHECK(parse(R"({"text_config": {"quantization_config": {"bits": 6, "group_size": 128}}})")
            .global() == ModuleQuantization{QuantizationMode::kAffine, 6, 128});
  CHECK(parse(R"({"quantization": {"bits": 2}, "text_config": {"quantization": {"bits": 6}}})")
            .global()
            .bits == 2);
}

TEST_CASE("a module is quantized iff it has scales, unless the section names it") {
  const QuantizationConfig q =
      parse(R"({"quantization": {"group_size": 64, "bits": 4, "mode": "affine",
      "model.a": {"group_size": 32, "bits": 8}, "model.b": false, "model.c": true, "lm_head": false}})");
  CHECK_FALSE(q.of("model.x", false).has_value());
  CHECK(q.of("model.x", true) == ModuleQuantization{QuantizationMode::kAffine, 4, 64});
  CHECK(q.of("model.a", false) == ModuleQuantization{QuantizationMode::kAffine, 8, 32});
  CHECK_FALSE(q.of("model.b", true).has_value());
  CHECK(q.of("model.c", false) == ModuleQuantization{QuantizationMode::kAffine, 4, 64});
  CHECK_FALSE(q.of("lm_head", true).has_value());
  CHECK(q.override_count() == 4);
}

TEST_CASE("a module's entry without mode is affine, and missing numbers are those of its mode") {
  const QuantizationConfig q = parse(R"({"quantization": {"mode": "mxfp4",
      "router": {"group_size": 64, "bits": 8}, "gate": {"mode": "nvfp4"}, "up": {"mode": "mxfp8"}, "down": {}}})");
  CHECK(q.global() == ModuleQuantization{QuantizationMode::kMxfp4, 4, 32});
  CHECK(q.of("router", true) == ModuleQuantization{QuantizationMode::kAffine, 8, 64});
  CHECK(q.of("gate", true) == ModuleQuantization{QuantizationMode::kNvfp4, 4, 16});
  CHECK(q.of("up", true) == ModuleQuantization{QuantizationMode::kMxfp8, 8, 32});
  CHECK(q.of("down", true) == ModuleQuantization{QuantizationMode::kAffine, 4, 64});
}

TEST_CASE("foreign quantization is refused when a module is asked for, not before") {
  for (const char* method :
       {"awq", "gptq", "fp8", "bitsandbytes", "compressed-tensors", "mxfp4", "bitnet"}) {
    const QuantizationConfig q =
        parse(R"({"quantization_config": {"quant_method": ")" + std::string(method) +
              R"(", "bits": 4, "modules_to_not_convert": ["a"], "sym": true}})");
    CHECK(q.is_present());
    const std::string expected =
        "unsupported: config.json: weights quantized with quant_method \"" + std::string(method) +
        "\" are not supported yet";
    CHECK(message_of([&] { q.of("a", false); }) == Contains(expected.c_str()));
  }
}

TEST_CASE("sections of the wrong kind name the key") {
  CHECK(message_of([] { parse(R"({"quantization": 4})"); }) ==
        Contains("config.json: quantization must be an object"));
  CHECK(message_of([] { parse(R"({"quantization": {"bits": "four"}})"); }) == Contains("bits"));
  CHECK(message_of([] { parse(R"({"quantization": {"bits": 99}})"); }) == Contains("bits"));
  CHECK(message_of([] { parse(R"({"quantization": {"group_size": -64}})"); }) ==
        Contains("group_size"));
  CHECK(message_of([] { parse(R"({"quantization": {"bits": 4, "model.a": {"bits": 0}}})"); }) ==
        Contains("config.json: quantization.model.a"));
  CHECK(message_of([] { parse(R"({"quantization": {"mode": "q4_k"}})"); }) ==
        Contains("unsupported: config.json: quantization: mode \"q4_k\" is not known"));
}

TEST_CASE("microscaled modes and impossible affine formats are refused by path") {
  CHECK(affine_format({QuantizationMode::kAffine, 6, 128}, "p") == codec::AffineFormat{6, 128});
  CHECK(
      message_of([] { affine_format({QuantizationMode::kMxfp4, 4, 32}, "model.a"); }) ==
      Contains("unsupported: model.a is quantized in the mode mxfp4, which is not supported yet"));
  CHECK(message_of([] { affine_format({QuantizationMode::kAffine, 7, 64}, "model.a"); }) ==
        Contains("quantization of model.a has 7 bits and group_size 64"));
  CHECK(message_of([] { affine_format({QuantizationMode::kAffine, 4, 48}, "model.a"); }) ==
        Contains("group_size 48"));
}

}  // namespace
}  // namespace hearth
