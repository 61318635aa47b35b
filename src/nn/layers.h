// Modules with parameters. Values: copies share the weights, which are views into the checkpoint.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/ops/activation.h"
#include "tensor/ops/arithmetic.h"
#include "tensor/ops/linear.h"
#include "tensor/ops/norm.h"
#include "tensor/ops/shape.h"
#include "tensor/tensor.h"
#include "tensor/weight.h"

namespace hearth {

// y = x W^T + b.   x [..., in] -> [..., out]
struct Linear {
  Weight weight;
  std::optional<Tensor> bias;  // [out]

  Tensor operator()(const Tensor& x) const { return linear(x, weight, bias ? &*bias : nullptr); }
};

// Root-mean-square norm over the last axis, with weight.
struct Norm {
  Tensor weight;  // [H]
  float eps;

  Tensor operator()(const Tensor& x) const { return rms_norm(x, weight, eps); }
};

// Rows of a matrix by token id, and the same matrix as output head.
struct Embedding {
  Weight weight;  // [V, H]

  Tensor operator()(const Tensor& ids) const {
    return embedding(ids, weight);
  }  // [T] i32 -> [T, H]
  Tensor as_linear(const Tensor& rows) const { return linear(rows, weight); }  // [R, H] -> [R, V]
};

// Several linear layers of one input, as q/k/v or gate/up: one result for each, in order. Quantized activations are
// made once for all; every result has the bits that its layer alone would give.
template <size_t N>
std::array<Tensor, N> project(const Tensor& x, const std::array<const Linear*, N>& layers) {
  std::array<const Weight*, N> weights;
  for (size_t i = 0; i < N; ++i) weights[i] = &layers[i]->weight;
  std::vector<Tensor> products = linear_many(x, weights);
  std::array<Tensor, N> out;
  for (size_t i = 0; i < N; ++i)
    out[i] = layers[i]->bias ? add(products[i], cast(*layers[i]->bias, DType::kF32)) : products[i];
  return out;
}

// Gated feed-forward: down(silu(gate(x)) * up(x)) (Shazeer 2020, arXiv:2002.05202).   [T, H] -> [T, H]
struct SwigluMlp {
  Linear gate_proj, up_proj, down_proj;

  Tensor operator()(const Tensor& x) const {
    const auto [gate, up] = project<2>(x, {&gate_proj, &up_proj});  // [T, I]
    return down_proj(swiglu(gate, up));
  }
};

}  // namespace hearth
