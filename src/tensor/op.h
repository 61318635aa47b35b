// What an op is, and apply(), the only door through which one runs.
//
// An op is one small class in an unnamed namespace beside the free function that people call. It knows its
// shape rule, how it runs, its vector-Jacobian product and its name. Members are constants of the call:
// whatever differs from step to step (positions, lengths, page ids) is an input.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tensor/compute.h"
#include "tensor/tensor.h"

namespace hearth {

// What an op produces. With view_offset >= 0 the output is a view of input 0 that starts at that element,
// and run() is not called.
struct OutputSpec {
  Shape shape;
  DType dtype = DType::kF32;
  int64_t view_offset = -1;
};

struct RunArgs {
  std::span<const Tensor> in;
  Tensor& out;                   // of the inferred shape, not cleared
  std::span<std::byte> scratch;  // scratch_bytes() bytes, 64-byte aligned, not cleared
  const ComputeContext& compute;
};

struct VjpArgs {
  std::span<const Tensor> in;
  const Tensor& out;
  const Tensor& dout;  // f32, the shape of out
  std::span<const bool> wanted;

  bool wants(size_t i) const { return wanted[i]; }
};

class Op {
 public:
  virtual ~Op() = default;
  virtual std::string_view name() const = 0;

  // The output's shape and dtype. Sees shapes and dtypes only, never data. Everything that can be refused
  // is refused here, with kInvalidArgument.
  virtual OutputSpec infer(std::span<const Tensor> in) const = 0;

  // How much memory run() needs besides the output.
  virtual int64_t scratch_bytes(std::span<const Tensor> /*in*/, const OutputSpec& /*out*/,
                                const ComputeContext& /*compute*/) const {
    return 0;
  }

  // Fills out. Does not throw and does not allocate.
  virtual void run(const RunArgs& a) const noexcept = 0;

  // The gradient of a scalar with respect to each wanted input, given that with respect to the output:
  // one f32 tensor per input, of that input's shape. Undefined where it is not wanted or identically zero.
  // Runs without a recorder.
  virtual std::vector<Tensor> vjp(const VjpArgs& a) const = 0;
};

using CloneOp = std::unique_ptr<const Op> (*)(const Op&);

// Sees every op that apply() runs while it is current. Owned by one thread, the one that made it current.
class Recorder {
 public:
  virtual ~Recorder() = default;
  // After the op ran. `clone` copies the op for keeping.
  virtual void record(const Op& op, CloneOp clone, std::span<const Tensor> in,
                      const Tensor& out) = 0;
  // Does it need the vector-Jacobian products (Tape)? Then fused forms that have none are not used.
  virtual bool is_differentiating() const { return false; }
};

namespace detail {
Tensor apply(const Op& op, CloneOp clone, std::span<const Tensor> in);
}  // namespace detail

// Checks, allocates, runs, records. Throws what infer() throws, kResourceExhausted when memory is out.
// With no recorder it allocates nothing but the output (and scratch), from the thread's free list.
// (apply_all takes a span; an overload would meet std::apply by argument-dependent lookup.)
template <std::derived_from<Op> OpT>
Tensor apply_all(const OpT& op, std::span<const Tensor> in) {
  return detail::apply(
      op,
      [](const Op& o) -> std::unique_ptr<const Op> {
        return std::make_unique<OpT>(static_cast<const OpT&>(o));
      },
      in);
}
template <std::derived_from<Op> OpT>
Tensor apply(const OpT& op, std::initializer_list<Tensor> in) {
  return apply_all(op, {in.begin(), in.size()});
}

}  // namespace hearth
