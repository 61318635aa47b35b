// The parameters of a model by name: what training watches and inspection lists.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "tensor/tensor.h"
#include "tensor/weight.h"

namespace hearth {

// One entry: a weight matrix, or a plain tensor (norm, bias). Names are those of the checkpoint: "model.norm.weight".
struct Parameter {
  std::string name;
  Weight weight;  // defined for matrices
  Tensor tensor;  // defined for everything else

  // What a tape can watch: the dense matrix or the tensor. Undefined for a quantized matrix.
  Tensor trainable() const { return weight.is_dense() ? weight.data() : tensor; }
};

// In the order of loading. Entries keep their place for life.
class ParameterTree {
 public:
  void add(Parameter parameter) { entries_.push_back(std::move(parameter)); }
  const std::deque<Parameter>& entries() const { return entries_; }
  const Parameter* find(std::string_view name) const {
    for (const Parameter& p : entries_)
      if (p.name == name) return &p;
    return nullptr;
  }

 private:
  std::deque<Parameter> entries_;
};

}  // namespace hearth
