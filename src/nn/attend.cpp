#include "nn/attend.h"

#include "tensor/ops/attention.h"

namespace hearth {

Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const LayerStep& step,
              float scale) {
  return attend(q, k, v, step.slices(), step.pages(), {.scale = scale, .window = step.window()});
}

}  // namespace hearth
