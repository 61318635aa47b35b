// Token ids that end a generation, as far as the configs say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace hearth {

// `eos_token_id` (int or list) of generation_config when it is there and truthy (not null, 0, [] or
// false), else of config, else of config.text_config; sorted, without duplicates; empty when nobody
// says. The caller adds the tokenizer's. A malformed value in generation_config is ignored with a
// warning; in config it throws kCorruptData.
std::vector<int32_t> end_token_ids(const Json& config, const Json* generation_config);

}  // namespace hearth
