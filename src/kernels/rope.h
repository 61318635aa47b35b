// Rotary position embedding (arXiv:2104.09864).
#pragma once

#include <cstdint>

namespace hearth::kernels {

// angle = (position_scale * position[t]) * inv_freq[j], rounded to f32 twice as the reference does;
// cos[t, j], sin[t, j] of it, within 1 ulp for every angle below 2^31.
//
//   positions  [tokens] i32      inv_freq  [pairs] f32      cos, sin  [tokens, pairs] f32, packed
//
// One table serves all layers of a step that share inv_freq.
struct RopeTableArgs {
  const int32_t* positions;
  const float* inv_freq;
  float position_scale;
  float* cos;
  float* sin;
  int64_t tokens;
  int64_t pairs;
};
using RopeTableFn = void(const RopeTableArgs&) noexcept;

// Rotates the first 2 * pairs channels of every head; the rest is copied.
//
//   half-split:   channels (j, j + pairs)        interleaved: channels (2j, 2j + 1)        j < pairs
//   y_a = s a cos - s b sin,   y_b = s a sin + s b cos,   s = input_scale
//
//   x, y      [tokens, heads, head_dim] f32; tokens lie x_stride / y_stride floats apart, heads packed;
//             y may be x
//   cos, sin  [tokens, pairs] as the table kernel writes them
//
// sin_sign -1 rotates backwards (the gradient). Every target gives the same bits.
struct RopeArgs {
  const float* x;
  const float* cos;
  const float* sin;
  float* y;
  int64_t tokens;
  int64_t heads;
  int64_t head_dim;
  int64_t pairs;
  int64_t x_stride;
  int64_t y_stride;
  float input_scale;
  float sin_sign;
  bool interleaved;
};
using RopeFn = void(const RopeArgs&) noexcept;

}  // namespace hearth::kernels
