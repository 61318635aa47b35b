// Rotary position embedding (Su et al. 2021, arXiv:2104.09864; spec/models/common.md, 4).
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace hearth {

// What turns a position into angles. checkpoint/rope_config.h makes it from config.json.
struct RopeTable {
  int64_t dims = 0;             // the first `dims` channels of a head rotate, the others pass; even
  Tensor inv_freq;              // [dims / 2] f32
  float position_scale = 1.0F;  // angle = position_scale * position * inv_freq
  float input_scale = 1.0F;     // multiplies the rotated channels (yarn, longrope)
  bool interleaved = false;     // pairs (2i, 2i + 1); else (i, i + dims / 2)
};

//   x          [T, N, D]  f32, D >= dims
//   positions  [T]        i32
//   ->         [T, N, D]  f32
//
// Differentiable in x. Throws kInvalidArgument when the shapes do not fit.
Tensor rope(const Tensor& x, const Tensor& positions, const RopeTable& table);

// The same in two steps, for layers that share a table: cosines and sines once per step, [2, T, dims / 2] f32, then
// the rotation by them. Bit for bit equal to rope().
Tensor rope_angles(const Tensor& positions, const RopeTable& table);
Tensor rope_with_angles(const Tensor& x, const Tensor& angles, const RopeTable& table);

}  // namespace hearth
