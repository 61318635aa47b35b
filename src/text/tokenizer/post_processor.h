// The `post_processor` of tokenizer.json: the ids around a single text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace hearth::text {

struct Wrapping {
  std::vector<int32_t> before;
  std::vector<int32_t> after;
};

// `json` may be null. Ids must be below `id_end`. Throws kCorruptData or kUnsupported naming `where`.
Wrapping parse_post_processor(const Json& json, int64_t id_end, std::string_view where);

}  // namespace hearth::text
