// Products of f32 activations with affine weights, dequantized exactly as they are read ("exact" numerics), and
// the dequantization itself. codec/affine.h has the layout; affine_fast.h the integer products.
//
// Every weight is  w = scale * code + bias, the product rounded before the sum: the values of
// codec::dequantize_row. Products reduce in the order of dense_linear.h, so affine_linear_exact equals
// dense_linear over the dequantized matrix bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"

namespace hearth::kernels {

// A quantized matrix [rows, cols], as it lies in the checkpoint. A view: whoever made it keeps the bytes alive.
//
//   packed          [rows, cols * bits / 32] u32, 4-byte aligned
//   scales, biases  [rows, cols / group] scale_dtype (kF32, kBF16, kF16), aligned to their elements
//
// The caller has checked codec::is_valid({bits, group}), cols % group == 0 and the sizes.
struct AffineView {
  const uint32_t* packed;
  const void* scales;
  const void* biases;
  DType scale_dtype;
  int bits;
  int64_t group;
  int64_t rows;
  int64_t cols;
};

// y[i * ldy + n] = sum over k of x[i * ldx + k] * w[n, k]  (+ bias[n])      n_begin <= n < n_end <= w.rows
//
// Shapes and rules of DenseLinearArgs with k = w.cols. Reads nothing outside the view.
struct AffineLinearArgs {
  const float* x;
  AffineView w;
  const float* bias;
  float* y;
  int64_t m;
  int64_t n_begin;
  int64_t n_end;
  int64_t ldx;
  int64_t ldy;
  std::byte* scratch;  // kLinearScratchBytes (dense_linear.h)
};
using AffineLinearExactFn = void(const AffineLinearArgs&) noexcept;

// dx[i * lddx + k] = sum over n of dy[i * lddy + n] * w[n, k]      k_begin <= k < k_end
//
// As DenseLinearDxArgs with n = w.rows, k = w.cols; k_begin and k_end are multiples of 32.
struct AffineLinearDxArgs {
  const float* dy;
  AffineView w;
  float* dx;
  int64_t m;
  int64_t k_begin;
  int64_t k_end;
  int64_t lddy;
  int64_t lddx;
  std::byte* scratch;  // kLinearScratchBytes
};
using AffineLinearDxFn = void(const AffineLinearDxArgs&) noexcept;

// out[i, :] = w[row_begin + i, :] in f32, rows packed; out is [row_end - row_begin, w.cols].
struct AffineDequantizeArgs {
  AffineView w;
  int64_t row_begin;
  int64_t row_end;
  float* out;
};
using AffineDequantizeFn = void(const AffineDequantizeArgs&) noexcept;

}  // namespace hearth::kernels
