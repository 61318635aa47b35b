#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <sched.h>

#include "base/error.h"

namespace hearth {
namespace {

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// About 20 microseconds of pauses on current processors: longer than the gap between two ops of a step, shorter
// than a time slice that a neighbour would miss.
constexpr int kSpins = 600;

}  // namespace

// A call publishes {body, chunks} and then a new generation. Workers of an older generation can't touch the new
// body: a worker joins a generation by raising `active` while the generation is open, and the caller returns only
// when the generation is closed and `active` is back to zero.
struct ThreadPool::State {
  alignas(64) std::atomic<uint32_t> generation{0};
  alignas(64) std::atomic<int64_t> next{0};
  std::atomic<int64_t> chunks{0};
  alignas(64) std::atomic<int> active{0};
  std::atomic<bool> open{false};
  std::atomic<bool> stop{false};
  const function_ref<void(int64_t, int)>* body = nullptr;
  std::vector<std::jthread> workers;

  void run_chunks(int worker) {
    const int64_t count = chunks.load(std::memory_order_relaxed);
    for (;;) {
      const int64_t chunk = next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= count) return;
      (*body)(chunk, worker);
    }
  }

  void end_workers() {
    stop.store(true, std::memory_order_relaxed);
    generation.fetch_add(1, std::memory_order_release);
    generation.notify_all();
    workers.clear();
  }

  void work(int worker) {
    uint32_t seen = 0;
    for (;;) {
      uint32_t now = generation.load(std::memory_order_acquire);
      for (int spin = 0; now == seen && spin < kSpins; ++spin) {
        pause_briefly();
        now = generation.load(std::memory_order_acquire);
      }
      if (now == seen) {
        generation.wait(seen, std::memory_order_acquire);
        continue;
      }
      seen = now;
      if (stop.load(std::memory_order_relaxed)) return;
      active.fetch_add(1, std::memory_order_seq_cst);
      if (open.load(std::memory_order_seq_cst)) run_chunks(worker);
      if (active.fetch_sub(1, std::memory_order_seq_cst) == 1) active.notify_one();
    }
  }
};

ThreadPool::ThreadPool(int threads) : thread_count_(threads), state_(std::make_unique<State>()) {
  require(threads >= 1 && threads <= 1024, "a thread pool has 1 to 1024 threads, not ", threads);
  try {
    for (int i = 1; i < threads; ++i)
      state_->workers.emplace_back([state = state_.get(), i] { state->work(i); });
  } catch (const std::system_error& e) {
    const size_t started = state_->workers.size();
    state_->end_workers();  // they wait for work and would be joined for ever
    fail(Code::kResourceExhausted, "can't start ", threads, " threads (", e.what(), " after ",
         started + 1, "); ask for fewer with --threads");
  }
}

ThreadPool::~ThreadPool() { state_->end_workers(); }

void ThreadPool::parallel_for(int64_t chunks, function_ref<void(int64_t, int)> body) noexcept {
  State& s = *state_;
  if (thread_count_ == 1 || chunks <= 1) {
    for (int64_t i = 0; i < chunks; ++i) body(i, 0);
    return;
  }
  s.body = &body;
  s.chunks.store(chunks, std::memory_order_relaxed);
  s.next.store(0, std::memory_order_relaxed);
  s.open.store(true, std::memory_order_seq_cst);
  s.generation.fetch_add(1, std::memory_order_release);
  s.generation.notify_all();
  s.run_chunks(0);
  s.open.store(false, std::memory_order_seq_cst);
  // Whoever joined before the close still holds a chunk; whoever comes later sees `open` false and leaves.
  for (int spin = 0;; ++spin) {
    const int active = s.active.load(std::memory_order_seq_cst);
    if (active == 0) return;
    if (spin < kSpins)
      pause_briefly();
    else
      s.active.wait(active, std::memory_order_seq_cst);
  }
}

int ThreadPool::available_threads() {
  int count = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) count = CPU_COUNT(&set);
  std::ifstream quota_file(
      "/sys/fs/cgroup/cpu.max");  // "max 100000" or "150000 100000", microseconds
  std::string quota;
  double period = 0;
  if (quota_file >> quota >> period && quota != "max" && period > 0) {
    const double cpus = std::strtod(quota.c_str(), nullptr) / period;
    if (cpus > 0) count = std::min(count, static_cast<int>(std::ceil(cpus)));
  }
  return std::clamp(count, 1, 1024);
}

}  // namespace hearth
