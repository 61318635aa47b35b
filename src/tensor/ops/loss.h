// Losses over rows of logits, in f32. Rows whose target lies outside [0, V) count as zero.
#pragma once

#include "tensor/tensor.h"

namespace hearth {

// sum over rows r of weights[r] * (logsumexp(logits[r]) - logits[r, targets[r]])
//
//   logits  [R, V] f32    targets  [R] i32    weights  [R] f32    ->  []
//
// Not normalised: for a mean over tokens give weights of 1 / count. Differentiable in logits.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const Tensor& weights);

// log p(target) per row: logits[r, targets[r]] - logsumexp(logits[r]).
//
//   logits  [R, V] f32    targets  [R] i32    ->  [R]
//
// Differentiable in logits.
Tensor target_log_prob(const Tensor& logits, const Tensor& targets);

}  // namespace hearth
