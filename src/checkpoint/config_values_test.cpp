// end_tokens.h and layer_types.h.
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "checkpoint/end_tokens.h"
#include "checkpoint/layer_types.h"
#include "support/error_of.h"

namespace hearth {
namespace {

using doctest::Contains;
using test_support::message_of;
using Ids = std::vector<int32_t>;

Ids ids(const char* config, const char* generation_config = nullptr) {
  const Json c = Json::parse(config);
  if (generation_config == nullptr) return end_token_ids(c, nullptr);
  const Json g = Json::parse(generation_config);
  return end_token_ids(c, &g);
}

TEST_CASE("end tokens are an id or a list, of the config or of its text_config") {
  CHECK(ids("{}").empty());
  CHECK(ids(R"({"eos_token_id": null})").empty());
  CHECK(ids(R"({"eos_token_id": 2})") == Ids{2});
  CHECK(ids(R"({"eos_token_id": [130073, 1, 1]})") == Ids{1, 130073});
  CHECK(ids(R"({"text_config": {"eos_token_id": 7}})") == Ids{7});
  CHECK(ids(R"({"eos_token_id": 2, "text_config": {"eos_token_id": 7}})") == Ids{2});
}

TEST_CASE("a truthy value of generation_config replaces the config's") {
  CHECK(ids(R"({"eos_token_id": 2})", R"({"eos_token_id": [9, 8]})") == Ids{8, 9});
  CHECK(ids(R"({"eos_token_id": 2})", R"({"eos_token_id": 5})") == Ids{5});
  for (const char* falsy :
       {"{}", R"({"eos_token_id": null})", R"({"eos_token_id": 0})", R"({"eos_token_id": []})"})
    CHECK(ids(R"({"eos_token_id": 2})", falsy) == Ids{2});
  for (const char* bad :
       {R"({"eos_token_id": "x"})", R"({"eos_token_id": [-1]})", R"({"eos_token_id": true})"})
    CHECK(ids(R"({"eos_token_id": 2})", bad) == Ids{2});
}

TEST_CASE("end tokens of the config that are no ids are refused") {
  for (const char* bad :
       {R"({"eos_token_id": -1})", R"({"eos_token_id": 2147483648})", R"({"eos_token_id": "</s>"})",
        R"({"eos_token_id": [1, 2.5]})", R"({"eos_token_id": {}})"})
    CHECK(message_of([&] { ids(bad); }) == Contains("corrupt_data: eos_token_id must be"));
}

TEST_CASE("layers are full unless layer_types says sliding") {
  using Windows = std::vector<std::optional<int64_t>>;
  const auto windows = [](const char* json, int64_t layers) {
    return parse_windows(Json::parse(json), layers);
  };
  CHECK(windows(R"({"sliding_window": 4096})", 2) == Windows{std::nullopt, std::nullopt});
  CHECK(windows(R"({"sliding_window": 48, "layer_types": ["full_attention", "sliding_attention"]})",
                2) == Windows{std::nullopt, 48});
  CHECK(message_of([&] { windows(R"({"layer_types": ["sliding_attention"]})", 1); }) ==
        Contains("sliding_window"));
  CHECK(message_of([&] {
          windows(R"({"sliding_window": 0, "layer_types": ["sliding_attention"]})", 1);
        }) == Contains("sliding_window"));
  CHECK(message_of([&] { windows(R"({"layer_types": ["full_attention"]})", 2); }) ==
        Contains("layer_types must list 2 layers"));
  CHECK(message_of([&] { windows(R"({"layer_types": "full_attention"})", 1); }) ==
        Contains("layer_types must list"));
  CHECK(message_of([&] { windows(R"({"layer_types": ["linear_attention"]})", 1); }) ==
        Contains("layer_types[0] must be"));
  CHECK(message_of([&] { windows("{}", int64_t{1} << 60); }) == Contains("num_hidden_layers"));
  CHECK(message_of([&] { windows("{}", 0); }) == Contains("num_hidden_layers"));
}

}  // namespace
}  // namespace hearth
