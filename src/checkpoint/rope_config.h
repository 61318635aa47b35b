// Rotary position settings of config.json, for every variant of spec/models/common.md section 4.2.
// RoPE: Su et al. 2021 (arXiv:2104.09864); YaRN: Peng et al. 2023 (arXiv:2309.00071); LongRoPE:
// Ding et al. 2024 (arXiv:2402.13753).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "tensor/ops/rope.h"

namespace hearth {

enum class RopeType : uint8_t {
  kDefault,
  kLinear,
  kLlama3,
  kYarn,
  kLongRope,
  kDynamic,
  kProportional,
  kMrope
};
std::string_view name(RopeType type);

// A value: the parsed settings. Public fields, so that a family may set its own.
struct RopeConfig {
  RopeType type = RopeType::kDefault;
  int64_t dims = 0;          // rotated channels, even; the first `dims` of the head
  double theta = 10000.0;    // the base
  bool interleaved = false;  // rope_traditional: pairs (2i, 2i+1) rather than (i, i + dims/2)

  double factor = 1.0;  // linear, llama3, yarn, dynamic, proportional
  int64_t original_max_position_embeddings = 0;
  int64_t max_position_embeddings = 0;  // longrope, dynamic; 0 when the config has none
  double low_freq_factor = 1.0;         // llama3
  double high_freq_factor = 4.0;
  double beta_fast = 32.0;  // yarn
  double beta_slow = 1.0;
  double mscale = 1.0;
  double mscale_all_dim = 0.0;
  std::vector<double> long_factor;     // longrope, dims/2
  double rotated_fraction = 1.0;       // proportional: partial_rotary_factor
  std::vector<int64_t> mrope_section;  // mrope, 3 entries; text positions don't need it

  // Reads rope_theta (else rope_parameters.rope_theta, else default_theta), rope_scaling (else
  // rope_parameters), rope_traditional, partial_rotary_factor and max_position_embeddings. head_dim
  // is the width of one head. Throws kCorruptData naming the key, kUnsupported for a type that
  // isn't known.
  static RopeConfig parse(const Json& config, int64_t head_dim, double default_theta);

  // The same from parts, for families that keep one dictionary per layer type. `scaling` may be
  // null.
  static RopeConfig parse_scaling(const Json* scaling, int64_t dims, double theta,
                                  int64_t max_position_embeddings);

  // The table for the rope op: inv_freq f32 [dims/2] computed in double, position scale, input
  // scale. `tokens` is the length of the whole sequence; only `dynamic` depends on it, and only
  // beyond max_position_embeddings.
  RopeTable make_table(int64_t tokens = 0) const;
};

}  // namespace hearth
