// Nonlinearities, in f32 and of x's shape unless said otherwise; differentiable in every tensor argument.
#pragma once

#include "tensor/tensor.h"

namespace hearth {

Tensor sigmoid(const Tensor& x);  // 1 / (1 + exp(-x))
Tensor tanh(const Tensor& x);
Tensor relu(const Tensor& x);      // max(x, 0); gradient 0 at 0
Tensor softplus(const Tensor& x);  // log(1 + exp(x))
Tensor silu(const Tensor& x);      // x * sigmoid(x)

// x * (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2, and the exact x * Phi(x).
Tensor gelu_tanh(const Tensor& x);
Tensor gelu_erf(const Tensor& x);

// silu(gate) * up, and gelu_tanh(gate) * up; both of one shape.
Tensor swiglu(const Tensor& gate, const Tensor& up);
Tensor geglu(const Tensor& gate, const Tensor& up);

// cap * tanh(x / cap), cap > 0 (Gemma 2's soft cap of logits).
Tensor softcap(const Tensor& x, float cap);

// Over the last axis; a row of width 0 stays empty.
Tensor softmax(const Tensor& x);
Tensor log_softmax(const Tensor& x);
Tensor logsumexp(const Tensor& x);  // [..., W] -> [..., 1]

}  // namespace hearth
