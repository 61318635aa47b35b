#include "checkpoint/layer_types.h"

#include "base/error.h"

namespace hearth {

std::vector<std::optional<int64_t>> parse_windows(const Json& config, int64_t num_hidden_layers) {
  require_data(num_hidden_layers >= 1 && num_hidden_layers <= kMaxLayers,
               "config.json: num_hidden_layers is ", num_hidden_layers, "; 1 to ", kMaxLayers,
               " are accepted");
  std::vector<std::optional<int64_t>> windows(static_cast<size_t>(num_hidden_layers));
  const Json* types = config.find_value("layer_types");
  if (types == nullptr) return windows;
  require_data(types->is_array() && types->size() == num_hidden_layers,
               "config.json: layer_types must list ", num_hidden_layers,
               " layers as num_hidden_layers says, not ", types->size());
  for (size_t i = 0; i < windows.size(); ++i) {
    const Json& type = (*types)[static_cast<int64_t>(i)];
    const bool is_sliding = type == Json("sliding_attention");
    require_data(is_sliding || type == Json("full_attention"), "config.json: layer_types[", i,
                 "] must be \"full_attention\" or \"sliding_attention\", not ",
                 type.dump().substr(0, 60));
    if (is_sliding) windows[i] = config.require_int("sliding_window", {.min = 1});
  }
  return windows;
}

}  // namespace hearth
