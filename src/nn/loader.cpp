#include "nn/loader.h"

#include "checkpoint/checkpoint.h"

namespace hearth {

std::string Loader::path(std::string_view name) const { return prefix_ + std::string(name); }

Loader Loader::in(std::string_view name) const {
  Loader inner = *this;
  inner.prefix_ = path(name) + ".";
  return inner;
}

Loader Loader::in(std::string_view name, int64_t index) const {
  Loader inner = *this;
  inner.prefix_ = path(name) + "." + std::to_string(index) + ".";
  return inner;
}

Weight Loader::weight(std::string_view name, int64_t out, int64_t in) const {
  Weight w = checkpoint_->weight(path(name), out, in);
  tree_->add({.name = path(name) + ".weight", .weight = w, .tensor = {}});
  return w;
}

Tensor Loader::tensor(std::string_view full_name, int64_t width) const {
  Tensor t = checkpoint_->tensor(full_name, {width});
  tree_->add({.name = std::string(full_name), .weight = {}, .tensor = t});
  return t;
}

Linear Loader::linear(std::string_view name, int64_t in, int64_t out, Bias bias) const {
  Linear l{.weight = weight(name, out, in), .bias = std::nullopt};
  if (bias == Bias::kPresent) l.bias = tensor(path(name) + ".bias", out);
  return l;
}

Embedding Loader::embedding(std::string_view name, int64_t rows, int64_t width) const {
  return {weight(name, rows, width)};
}

Norm Loader::norm(std::string_view name, int64_t width, float eps) const {
  return {tensor(path(name) + ".weight", width), eps};
}

}  // namespace hearth
