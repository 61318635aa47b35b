// Where and how ops run: the threads, the numeric policy, and who is recording.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/function_ref.h"

namespace hearth {

class Recorder;
class ThreadPool;

// Products with quantized weights (ARCHITECTURE.md, 4): kExact multiplies f32 activations with dequantized
// weights; kFast rounds activations to int8 per group first. Dense weights are the same under both.
enum class Numerics { kExact, kFast };

// A value. The pool and the recorder are borrowed and must outlive the scope that uses them.
struct ComputeContext {
  ThreadPool* pool = nullptr;  // null: the calling thread alone
  Numerics numerics = Numerics::kExact;
  Recorder* recorder = nullptr;  // null: just run

  int workers() const noexcept;  // how many values `worker` can take below; at least 1

  // Runs body(chunk, worker) for every chunk in [0, chunks), in parallel when `work` (roughly, the number of
  // multiply-adds) is worth a fork. Which chunks exist is the caller's fixed choice; results must not
  // depend on who runs them. Not nestable.
  void parallel_for(int64_t chunks, int64_t work,
                    function_ref<void(int64_t chunk, int worker)> body) const noexcept;

  // The same over [0, count) cut into fixed ranges of `grain`: body(begin, end).
  template <class Body>
  void parallel_ranges(int64_t count, int64_t grain, int64_t work, Body&& body) const noexcept {
    const int64_t chunks = grain > 0 ? (count + grain - 1) / grain : 0;
    parallel_for(chunks, work, [&](int64_t chunk, int) {
      body(chunk * grain, std::min(count, (chunk + 1) * grain));
    });
  }
};

// The context of the innermost ComputeScope of this thread; without one: no pool, kExact, no recorder.
const ComputeContext& current_compute() noexcept;

// Makes a context current on this thread until the scope ends. Scopes nest like blocks.
class ComputeScope {
 public:
  explicit ComputeScope(const ComputeContext& context) noexcept;
  ~ComputeScope();
  ComputeScope(const ComputeScope&) = delete;
  ComputeScope& operator=(const ComputeScope&) = delete;

 private:
  ComputeContext context_;
  const ComputeContext* outer_;
};

}  // namespace hearth
