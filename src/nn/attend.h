// Attention of one layer of a step: the cache's pages, positions and window come from the step.
#pragma once

#include "kv/step.h"
#include "tensor/tensor.h"

namespace hearth {

// Appends k and v to each slice's pages, then attends causally to everything in them that the layer's window admits.
//
//   q [T, Nq, D]   k [T, Nkv, D]   v [T, Nkv, Dv]   ->  [T, Nq, Dv]   f32
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const LayerStep& step,
              float scale);

}  // namespace hearth
