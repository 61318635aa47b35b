// Reverse-mode automatic differentiation. Owned by one thread.
//
//   Tape tape;                     // records from here on, in this thread
//   tape.watch(w);
//   const Tensor loss = mean_all(square(linear(x, Weight::dense(w))));
//   const Gradients g = tape.backward(loss);
//   const Tensor dw = g.of(w);
//
// A tensor is known by the memory it names (Tensor::is_same_memory), so every handle and every reshape of a
// watched tensor counts as that tensor: a weight that two layers share gets the sum of both gradients.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tensor/op.h"
#include "tensor/tensor.h"

namespace hearth {

// Gradients by watched tensor. A value.
class Gradients {
 public:
  // f32, the shape of `t`; zeros when the loss does not depend on it. Throws kInvalidArgument when `t` was
  // not watched.
  Tensor of(const Tensor& t) const;
  // Does the loss depend on `t`? False also for tensors that were not watched.
  bool has(const Tensor& t) const;

 private:
  friend class Tape;
  struct Entry {
    Tensor watched;
    Tensor gradient;  // undefined: zero
  };
  std::vector<Entry> entries_;  // sorted by address of the watched memory
  const Entry* find(const Tensor& t) const;
};

class Tape final : public Recorder {
 public:
  // Becomes the recorder of this thread until destruction; pool and numerics stay those of the current
  // context. The tape that was current before, if any, sees nothing meanwhile.
  Tape();
  ~Tape() override;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // Wants the gradient of `t` (f32, bf16 or f16), which must not yet have taken part in a recorded op.
  void watch(const Tensor& t);

  // Gradients of the scalar `loss` (one f32 element). The records are used up: one call per tape.
  // Throws kInvalidArgument when loss is no scalar, kUnsupported when an op on the way has no derivative.
  Gradients backward(const Tensor& loss);
  // The same, starting from the gradient of some scalar with respect to `t`.
  Gradients backward(const Tensor& t, const Tensor& dt);

  int64_t recorded_ops() const;

  void record(const Op& op, CloneOp clone, std::span<const Tensor> in, const Tensor& out) override;
  bool is_differentiating() const override { return true; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  ComputeScope scope_;
};

}  // namespace hearth
