// Loading by name: a scoped prefix over a checkpoint. Loading a weight is what registers it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "nn/layers.h"
#include "nn/parameters.h"

namespace hearth {

class Checkpoint;

enum class Bias : bool { kNone, kPresent };

// Cheap to copy; checkpoint and tree must outlive it. Missing tensors and wrong shapes are collected by the checkpoint
// and reported together by its audit().
class Loader {
 public:
  Loader(Checkpoint& checkpoint, ParameterTree& tree) : checkpoint_(&checkpoint), tree_(&tree) {}

  Loader in(std::string_view name) const;                 // "self_attn"
  Loader in(std::string_view name, int64_t index) const;  // "model.layers", 3

  // `name`.weight [out, in] and, if present, `name`.bias [out].
  Linear linear(std::string_view name, int64_t in, int64_t out, Bias bias = Bias::kNone) const;
  Embedding embedding(std::string_view name, int64_t rows, int64_t width) const;
  Norm norm(std::string_view name, int64_t width, float eps) const;

 private:
  std::string path(std::string_view name) const;
  Weight weight(std::string_view name, int64_t out, int64_t in) const;
  Tensor tensor(std::string_view full_name, int64_t width) const;

  Checkpoint* checkpoint_;
  ParameterTree* tree_;
  std::string prefix_;  // "" or "model.layers.3."
};

}  // namespace hearth
