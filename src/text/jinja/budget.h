// What one rendering of a template may cost. A template is a program from a stranger: it may loop for ever, double a
// string forty times or call itself without end. Every such way ends with kResourceExhausted, quickly.
#pragma once

#include <cstdint>
#include <utility>

#include "base/error.h"

namespace hearth::jinja {

struct Limits {
  int64_t max_steps = 10'000'000;  // nodes evaluated, items visited, and one per 128 bytes written
  int64_t max_output_bytes = int64_t{64} << 20;  // the rendered text
  int64_t max_live_bytes = int64_t{64} << 20;    // strings and containers alive at once
  int32_t max_depth = 1000;                      // nested evaluations, macro calls among them
  int64_t max_range = 100'000;                   // items of range(), as in Jinja2's sandbox
};

// Counts one rendering. Owned by one thread: the one that renders.
class Budget {
 public:
  explicit Budget(const Limits& limits) : limits_(limits) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  const Limits& limits() const { return limits_; }

  void step(int64_t count = 1) {
    steps_ += count;
    if (steps_ > limits_.max_steps) [[unlikely]] {
      fail(Code::kResourceExhausted, "template stopped after ", limits_.max_steps,
           " steps: it loops for ever or does far too much work");
    }
  }

  // For work that goes through text byte by byte and leaves nothing behind.
  void scan(int64_t bytes) { step(bytes / 32); }

  // Promises memory before it is used; throws without counting when it does not fit.
  void grow(int64_t bytes) {
    unpaid_bytes_ += bytes;
    if (unpaid_bytes_ >= kBytesPerStep)
      step(std::exchange(unpaid_bytes_, unpaid_bytes_ % kBytesPerStep) / kBytesPerStep);
    if (bytes > limits_.max_live_bytes - live_bytes_) [[unlikely]] {
      fail(Code::kResourceExhausted, "template stopped: it needs more than ",
           limits_.max_live_bytes, " bytes of memory");
    }
    live_bytes_ += bytes;
  }
  void shrink(int64_t bytes) noexcept { live_bytes_ -= bytes; }

  int64_t steps() const { return steps_; }
  int64_t live_bytes() const { return live_bytes_; }

 private:
  friend class DepthGuard;
  static constexpr int64_t kBytesPerStep = 128;
  const Limits limits_;
  int64_t steps_ = 0;
  int64_t live_bytes_ = 0;
  int64_t unpaid_bytes_ = 0;  // grown but not yet counted as steps
  int32_t depth_ = 0;
};

// One level of recursion: evaluation, comparison, printing of nested values.
class DepthGuard {
 public:
  explicit DepthGuard(Budget& budget) : budget_(budget) {
    if (budget_.depth_ >= budget_.limits_.max_depth) [[unlikely]] {
      fail(Code::kResourceExhausted, "template stopped: more than ", budget_.limits_.max_depth,
           " levels of nested evaluation; does a macro call itself without end?");
    }
    ++budget_.depth_;
  }
  ~DepthGuard() { --budget_.depth_; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  Budget& budget_;
};

}  // namespace hearth::jinja
