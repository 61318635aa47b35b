// Elementwise arithmetic. All take and give f32 and are differentiable in every tensor argument.
//
// Broadcasting is limited to four forms; the result has the shape of the larger operand, and either
// operand may be the smaller one:
//   same shape                [T, H] with [T, H]
//   one element               [T, H] with [] or [1]
//   trailing axes             [T, N, D] with [D] or [N, D]      (a row repeated)
//   a value per row           [T, H] with [T, 1]                (the same but for a last axis of 1)
// Where [1, 1] could be read in several ways they agree. Anything else throws kInvalidArgument.
#pragma once

#include "tensor/tensor.h"

namespace hearth {

Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);

Tensor add_scalar(const Tensor& x, float s);
Tensor mul_scalar(const Tensor& x, float s);
Tensor neg(const Tensor& x);

Tensor square(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);  // 1 / sqrt(x)
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor clamp(const Tensor& x, float low, float high);  // gradient 1 inside [low, high], else 0

}  // namespace hearth
