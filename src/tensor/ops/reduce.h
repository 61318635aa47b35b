// Sums and means, accumulated in f64 in a fixed order. f32 in and out, differentiable.
#pragma once

#include "tensor/tensor.h"

namespace hearth {

Tensor sum_all(const Tensor& x);   // -> []
Tensor mean_all(const Tensor& x);  // -> []; 0 when x is empty
Tensor sum_last(const Tensor& x);  // [..., H] -> [..., 1]
Tensor mean_last(const Tensor& x);

// Sums all axes but the last `keep` ones: [T, N, D] -> [D] for keep 1, [N, D] for keep 2.
Tensor sum_leading(const Tensor& x, int keep = 1);

// The index of each row's largest element, the first of several: [..., H] f32 -> [...] i32. No gradient.
// Throws kInvalidArgument when H is 0.
Tensor argmax_last(const Tensor& x);

}  // namespace hearth
