// For the .cpp files of this folder: the transpose of taking rows.
#pragma once

#include "tensor/tensor.h"

namespace hearth {

// Zeros of `shape`, f32, with rows[r] added to row ids[r]; ids outside the shape are skipped.
Tensor scatter_add_rows(const Tensor& rows, const Tensor& ids, const Shape& shape);

}  // namespace hearth
