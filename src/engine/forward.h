// One forward pass over packed rows of several sequences.
#pragma once

#include <cstdint>
#include <span>

#include "kv/attention_state.h"
#include "kv/page_pool.h"
#include "models/model.h"
#include "tensor/tensor.h"

namespace hearth {

enum class LogitsOf : uint8_t { kNone, kLast, kAll };

struct ForwardSlice {
  AttentionState* state;
  std::span<const int32_t> tokens;  // at least one
  LogitsOf logits = LogitsOf::kLast;
};

// Computes the slices' tokens in one step, appends them to the states, and returns the logits of the rows asked for,
// in order: [R, V] f32 (R may be 0). Throws kResourceExhausted when the pool is dry; then no state has changed.
Tensor forward(const Model& model, const PagePool& pool, std::span<const ForwardSlice> slices);

}  // namespace hearth
