// Products with dense weights in f32, bf16 or f16; activations and sums are f32.
//
// The one order of reduction, the same for every target, any number of rows and any split:
//
//   L[j] = 0, j = 0 .. 7;   for k ascending, j = k mod 8:  L[j] = fma(x[k], w[k], L[j])
//   y = ((L[0]+L[4]) + (L[2]+L[6])) + ((L[1]+L[5]) + (L[3]+L[7]));   y += bias, if there is one
//
// K is padded to a multiple of 8 with zeros. NaN and infinity propagate as IEEE arithmetic has it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"

namespace hearth::kernels {

// Scratch that every product below needs (f32 tiles of widened weights, partial sums), whatever the shape.
// 64-byte aligned, one per thread, content irrelevant before and after.
inline constexpr int64_t kLinearScratchBytes = 176 * 1024;

// y[i * ldy + n] = sum over k of x[i * ldx + k] * w[n * K + k]  (+ bias[n])      n_begin <= n < n_end
//
//   x     [m, k] f32, rows ldx floats apart
//   w     [N, k] w_dtype (kF32, kBF16, kF16), rows k elements apart, 2-byte aligned at least
//   bias  [N] f32 or null, indexed by n
//   y     [m, N] f32, rows ldy floats apart; only columns n_begin .. n_end - 1 are written; not x
//
// m, k and n_end - n_begin may be 0 (k = 0 gives the bias or 0). Any k. Calls for disjoint ranges of n may run
// at once, each with its own scratch. Reads exactly the elements named.
struct DenseLinearArgs {
  const float* x;
  const void* w;
  DType w_dtype;
  const float* bias;
  float* y;
  int64_t m;
  int64_t n_begin;
  int64_t n_end;
  int64_t k;
  int64_t ldx;
  int64_t ldy;
  std::byte* scratch;  // kLinearScratchBytes
};
using DenseLinearFn = void(const DenseLinearArgs&) noexcept;

// The product for gradients: dx[i * lddx + k] = sum over n of dy[i * lddy + n] * w[n, k]   k_begin <= k < k_end
//
//   dy  [m, n] f32      w  [n, k] as above      dx  [m, k] f32, only columns k_begin .. k_end - 1 are written
//
// Order: one fma per n, n ascending, from 0. Disjoint ranges of k may run at once. n = 0 gives 0.
struct DenseLinearDxArgs {
  const float* dy;
  const void* w;
  DType w_dtype;
  float* dx;
  int64_t m;
  int64_t n;
  int64_t k;
  int64_t k_begin;
  int64_t k_end;
  int64_t lddy;
  int64_t lddx;
  std::byte* scratch;  // kLinearScratchBytes
};
using DenseLinearDxFn = void(const DenseLinearDxArgs&) noexcept;

}  // namespace hearth::kernels
