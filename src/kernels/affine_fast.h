// Integer products with affine weights ("fast" numerics): int8 activations (activations.h) times the codes as
// they lie in the file, exact int32 sums per group, and one scaling per group.
//
// The one order of the float part, the same for every target, any number of rows and any split. For each output,
// with I_g the exact sum of code * a over group g, s and b the group's scale and bias:
//
//   L[j] = 0, j = 0 .. 7;   for g ascending, j = g mod 8:
//     L[j] = fma(float(I_g), s_g * d_g, L[j]);   L[j] = fma(b_g, sigma_g, L[j])
//   y = ((L[0]+L[4]) + (L[2]+L[6])) + ((L[1]+L[5]) + (L[3]+L[7]));   y += bias, if there is one
//
// Lanes that have no group stay 0. Measured against exact: 0.6 % of the output's rms for 4 bits and normal
// activations, whatever k is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/activations.h"
#include "kernels/affine_linear.h"

namespace hearth::kernels {

// y[i * ldy + n] for 0 <= i < m and n_begin <= n < n_end <= w.rows.
//
//   x     m rows, quantized by the same table for w.bits and w.group, k = w.cols
//   bias  [w.rows] f32 or null, indexed by n
//   y     [m, N] f32, rows ldy floats apart; only columns n_begin .. n_end - 1 are written
//
// m may be 0. Disjoint ranges of n may run at once, each with its own scratch; multiples of 16 rows are best.
// Reads nothing outside the view.
struct AffineLinearFastArgs {
  QuantizedActivations x;
  AffineView w;
  const float* bias;
  float* y;
  int64_t m;
  int64_t n_begin;
  int64_t n_end;
  int64_t ldy;
  std::byte*
      scratch;  // affine_linear_fast_scratch_bytes(w.cols, w.group), 64-byte aligned, one per thread
};
using AffineLinearFastFn = void(const AffineLinearFastArgs&) noexcept;

// Enough for every target and any m.
int64_t affine_linear_fast_scratch_bytes(int64_t cols, int64_t group);

}  // namespace hearth::kernels
