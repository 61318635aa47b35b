// Products with weights. f32 activations in and out; every output row has the same bits whatever rows are
// computed beside it.
#pragma once

#include <span>
#include <vector>

#include "tensor/tensor.h"
#include "tensor/weight.h"

namespace hearth {

// y[..., n] = sum over k of x[..., k] w[n, k] (+ bias[n])
//
//   x     [..., K]  f32
//   w     [N, K]    dense, or affine under the current context's Numerics (compute.h)
//   bias  [N]       f32, bf16 or f16; may be null
//   ->    [..., N]  f32
//
// Differentiable in x and bias, and in a dense w (watch w.data()). Gradients through a quantized weight use
// its dequantized values. Throws kInvalidArgument when shapes do not fit or w is undefined.
Tensor linear(const Tensor& x, const Weight& w, const Tensor* bias = nullptr);

// Several projections of the same x, as q/k/v or gate/up: the results of linear() for each, bit for bit, with
// x quantized once and one fork for all. Weights are not null and have x's width.
std::vector<Tensor> linear_many(const Tensor& x, std::span<const Weight* const> weights);
// The same without a vector: results[i] belongs to weights[i].
void linear_many(const Tensor& x, std::span<const Weight* const> weights,
                 std::span<Tensor> results);

// Rows of a weight: ids [T] i32 -> [T, K] f32, dequantized exactly. Differentiable in a dense w. An id
// outside [0, N) is a bug of the caller and gives a row of zeros.
Tensor embedding(const Tensor& ids, const Weight& w);

// The whole matrix in f32, [N, K]. Differentiable in a dense w.
Tensor dequantize(const Weight& w);

// a [M, K] times b [K, N], f32, -> [M, N]. Differentiable in both.
Tensor matmul(const Tensor& a, const Tensor& b);

}  // namespace hearth
