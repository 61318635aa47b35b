// Fork-join over a fixed number of workers.
#pragma once

#include <cstdint>
#include <memory>

#include "base/function_ref.h"

namespace hearth {

// Owned by one thread: only its owner calls parallel_for, one call at a time, never from inside a body.
// Workers spin for a short while after a call, then park. Chunks are claimed from a counter, so a preempted worker
// delays the chunk it holds and nothing else.
class ThreadPool {
 public:
  // threads >= 1 counts the calling thread; 1 means no workers at all. Throws kInvalidArgument outside 1 to 1024,
  // kResourceExhausted when the system refuses to start that many.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int thread_count() const { return thread_count_; }

  // Runs body(chunk, worker) for every chunk in [0, chunks), worker in [0, thread_count()), and returns when all
  // are done. The body must not throw. Allocates nothing.
  void parallel_for(int64_t chunks, function_ref<void(int64_t chunk, int worker)> body) noexcept;

  // Threads that this process may use: affinity mask and cgroup CPU quota, at least 1.
  static int available_threads();

 private:
  struct State;
  int thread_count_;
  std::unique_ptr<State> state_;
};

}  // namespace hearth
