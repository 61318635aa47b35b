// What every family provides.
#pragma once

#include <cstdint>

#include "kv/cache_layout.h"
#include "kv/step.h"
#include "nn/parameters.h"
#include "tensor/tensor.h"

namespace hearth {

// A loaded model. Owned by the engine thread. Its weights are views into the checkpoint's mapping, which they keep
// alive.
class Model {
 public:
  virtual ~Model() = default;

  // All tokens of a step -> [T, H], final norm applied. Appends keys and values to the slices' pages.
  virtual Tensor hidden(const StepContext& step) const = 0;
  // rows [R, H] -> [R, V] f32.
  virtual Tensor logits(const Tensor& rows) const = 0;
  virtual CacheLayout cache_layout() const = 0;
  virtual int64_t vocab_size() const = 0;
  virtual const ParameterTree& parameters() const = 0;
};

}  // namespace hearth
