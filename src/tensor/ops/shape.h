// Moving elements about. Any dtype unless said otherwise; differentiable where the dtype is f32.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace hearth {

// The same elements under another shape; one extent may be -1. No copy. Throws kInvalidArgument when the
// sizes differ.
Tensor reshape(const Tensor& x, std::initializer_list<int64_t> dims);

// Rows [begin, begin + count) of axis 0. No copy: the result keeps all of x's memory alive.
Tensor slice_rows(const Tensor& x, int64_t begin, int64_t count);

// Elements [begin, begin + count) of an axis (negative axes count from the end), copied.
Tensor slice(const Tensor& x, int axis, int64_t begin, int64_t count);

// The last axis cut into parts of these sizes, which must add up to it. Copies.
std::vector<Tensor> split_last(const Tensor& x, std::span<const int64_t> sizes);

// Swaps the last two axes; puts axis axes[i] of x at place i. Copies.
Tensor transpose(const Tensor& x);
Tensor permute(const Tensor& x, std::initializer_list<int> axes);

// Joined along an axis; all other extents and the dtype agree. At least one part. Copies.
Tensor concat(std::span<const Tensor> parts, int axis);
Tensor concat_rows(std::span<const Tensor> parts);

// Rows of axis 0 by index: x [N, ...], ids [R] i32 -> [R, ...]. An id outside [0, N) is a bug of the
// caller and gives a row of zeros.
Tensor take_rows(const Tensor& x, const Tensor& ids);

// Between f32, bf16 and f16 (to nearest even). Returns x itself when nothing changes.
Tensor cast(const Tensor& x, DType dtype);

}  // namespace hearth
