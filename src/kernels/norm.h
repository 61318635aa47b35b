// Normalisation of rows.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace hearth::kernels {

// y[i, :] = w * (x[i, :] * 1/sqrt(mean(x[i, :]^2) + eps))            arXiv:1910.07467
//
//   x  [rows, cols] f32, rows x_stride floats apart       y  likewise, y_stride; y may be x
//   w  [cols] f32, bf16 or f16 as w_dtype says, or null for ones
//
// The sum of squares has 16 partial sums (column c goes to c % 16) and a fixed tree, so every target
// gives the same bits.
struct RmsNormArgs {
  const float* x;
  const void* w;
  DType w_dtype;
  float* y;
  int64_t rows;
  int64_t cols;
  int64_t x_stride;
  int64_t y_stride;
  float eps;
};
using RmsNormFn = void(const RmsNormArgs&) noexcept;

// y[i, :] = w * ((x[i, :] - mean) * 1/sqrt(var + eps)) + b           arXiv:1607.06450
//
// Shapes and order as above, two passes (mean, then the sum of squared differences divided by cols).
// b has the dtype of w; either may be null.
struct LayerNormArgs {
  const float* x;
  const void* w;
  const void* b;
  DType w_dtype;
  float* y;
  int64_t rows;
  int64_t cols;
  int64_t x_stride;
  int64_t y_stride;
  float eps;
};
using LayerNormFn = void(const LayerNormArgs&) noexcept;

}  // namespace hearth::kernels
