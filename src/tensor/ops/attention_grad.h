// For the .cpp files of this folder: what sdpa() and attend() share.
#pragma once

#include <cstdint>
#include <string_view>

#include "tensor/ops/sdpa_core.h"
#include "tensor/tensor.h"

namespace hearth {

// q [L, Nq, D], k [S, Nkv, D], v [S, Nkv, Dv] in f32 with Nkv dividing Nq; sinks [Nq]. Else kInvalidArgument.
void check_attention_shapes(std::string_view op, const Tensor& q, const Tensor& k, const Tensor& v);
void check_sinks(std::string_view op, const Tensor& sinks, const Tensor& q);

// Pointers and sizes; scale, masks and sinks are the caller's.
SdpaProblem attention_problem(const Tensor& q, const Tensor& k, const Tensor& v);

// Gradients of attention, of one sequence or of several packed in one tensor.
struct AttentionGradients {
  AttentionGradients(const Tensor& q, const Tensor& k, const Tensor& v, bool has_sinks);

  // Fills in the sequence whose first row (of queries and keys) is `row`; `dy` points to the gradient of that
  // row's result, as the problem's pointers do.
  void add(const SdpaProblem& p, const float* dy, int64_t row);

  Tensor dq, dk, dv, dsinks;  // dsinks undefined without sinks
};

}  // namespace hearth
