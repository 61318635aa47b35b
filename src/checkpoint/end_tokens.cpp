#include "checkpoint/end_tokens.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/log.h"

namespace hearth {
namespace {

constexpr int64_t kMaxEndTokens = 1024;  // no model has more than a handful

// As Python's bool(value).
bool is_truthy(const Json& value) {
  if (value.is_null()) return false;
  if (value.is_bool()) return value.as_bool();
  if (value.is_number()) return value.as_double() != 0.0;
  if (value.is_string()) return !value.as_string().empty();
  return value.size() > 0;
}

int32_t parse_id(const Json& value) {
  require_data(value.is_int() && value.as_int() >= 0 && value.as_int() <= INT32_MAX,
               "eos_token_id must be a token id or a list of them, not ",
               value.dump().substr(0, 40));
  return static_cast<int32_t>(value.as_int());
}

std::vector<int32_t> parse_ids(const Json& value) {
  if (!value.is_array()) return {parse_id(value)};
  require_data(value.size() <= kMaxEndTokens, "eos_token_id lists ", value.size(), " ids; at most ",
               kMaxEndTokens, " are accepted");
  std::vector<int32_t> ids;
  for (const Json& id : value.as_array()) ids.push_back(parse_id(id));
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  return ids;
}

}  // namespace

std::vector<int32_t> end_token_ids(const Json& config, const Json* generation_config) {
  const Json* own =
      generation_config != nullptr ? generation_config->find("eos_token_id") : nullptr;
  if (own != nullptr && is_truthy(*own)) {
    try {
      return parse_ids(*own);
    } catch (const Error& e) {  // the reference ignores a malformed generation_config, so we do
      log_warning("generation_config.json is ignored for end tokens: " + e.message());
    }
  }
  const Json* ids = config.find_value("eos_token_id");
  if (ids == nullptr) {
    const Json* text = config.find_value("text_config");
    if (text != nullptr) ids = text->find_value("eos_token_id");
  }
  return ids != nullptr ? parse_ids(*ids) : std::vector<int32_t>();
}

}  // namespace hearth
