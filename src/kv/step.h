// One forward pass over packed tokens of several sequences, as the modules of a model see it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kv/attention_state.h"
#include "kv/page_pool.h"
#include "tensor/ops/attention.h"
#include "tensor/tensor.h"

namespace hearth {

// A sequence's rows in one step.
struct Slice {
  const AttentionState* state;  // rows tokens reserved, not yet advanced
  int64_t first_row;
  int64_t rows;  // >= 1
};

class StepContext;

// A step, seen from one layer.
class LayerStep {
 public:
  LayerStep(const StepContext& step, int64_t layer) : step_(&step), layer_(layer) {}

  const Tensor& positions() const;   // [T] i32
  const SliceTable& slices() const;  // of this layer's page group
  PagedLayer pages() const;          // where this layer's part of each page lies
  int64_t window() const;            // 0 = full attention

 private:
  const StepContext* step_;
  int64_t layer_;
};

class StepContext {
 public:
  // tokens [T]; slices cover all rows, in order, without overlap (kInternal otherwise). States and pool must live
  // until the step is over.
  StepContext(const PagePool& pool, std::span<const int32_t> tokens, std::span<const Slice> slices);

  const Tensor& tokens() const { return tokens_; }        // [T] i32
  const Tensor& positions() const { return positions_; }  // [T] i32
  LayerStep layer(int64_t i) const { return {*this, i}; }

 private:
  friend class LayerStep;
  const PagePool* pool_;
  Tensor tokens_;
  Tensor positions_;
  std::vector<SliceTable> tables_;  // by page group
};

}  // namespace hearth
