// Functions of one or two floats, applied to arrays. Every target gives the same bits.
#pragma once

#include <cstdint>

namespace hearth::kernels {

// y[i] = f(x[i]), i < n. y may be x.
//
//   exp        e^x, at most 2 ulp, subnormal results included; NaN stays, -inf gives 0
//   sigmoid    1 / (1 + e^-x)
//   tanh       at most 3 ulp
//   silu       x * sigmoid(x)
//   gelu_tanh  0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), computed as x * sigmoid(2 ...)
//   gelu_erf   0.5 x (1 + erf(x / sqrt 2)); absolute error below 1e-7 (1 + |x|)
struct UnaryArgs {
  const float* x;
  float* y;
  int64_t n;
};
using UnaryFn = void(const UnaryArgs&) noexcept;

// y[i] = f(a[i], b[i]), i < n. y may be a or b.
//
//   add     a + b
//   mul     a * b
//   swiglu  silu(a) * b            a = gate, b = up
//   geglu   gelu_tanh(a) * b
struct BinaryArgs {
  const float* a;
  const float* b;
  float* y;
  int64_t n;
};
using BinaryFn = void(const BinaryArgs&) noexcept;

}  // namespace hearth::kernels
