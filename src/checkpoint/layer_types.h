// Which layers attend to a window only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/json.h"

namespace hearth {

// More layers than any model has; a config beyond it is corrupt.
inline constexpr int64_t kMaxLayers = 4096;

// -> one entry per layer: the window in tokens (the query's own included), or nullopt for full
// attention. From `layer_types` ("full_attention", "sliding_attention") and `sliding_window`;
// without layer_types every layer is full, whatever sliding_window says (spec/models/llama.md).
// Throws kCorruptData naming the key.
std::vector<std::optional<int64_t>> parse_windows(const Json& config, int64_t num_hidden_layers);

}  // namespace hearth
