// Normalisation over the last axis, in f32 (spec/models/common.md, 3). Differentiable in all tensors.
#pragma once

#include "tensor/tensor.h"

namespace hearth {

// Root-mean-square normalisation (Zhang and Sennrich 2019, arXiv:1910.07467).
//
//   x   [..., H]  f32
//   w   [H]       f32, bf16 or f16
//   ->  [..., H]  f32      y = w * x * rsqrt(mean(x^2) + eps)
//
// Throws kInvalidArgument when w is not [H].
Tensor rms_norm(const Tensor& x, const Tensor& w, float eps);
Tensor rms_norm_no_weight(const Tensor& x, float eps);

// Layer normalisation (Ba et al. 2016, arXiv:1607.06450): y = (x - mean) * rsqrt(var + eps) * w + b,
// with the population variance.
//
//   x [..., H] f32    w [H], b [H] f32, bf16 or f16    ->  [..., H] f32
Tensor layer_norm(const Tensor& x, const Tensor& w, const Tensor& b, float eps);

}  // namespace hearth
