#include "tensor/compute.h"

#include "base/thread_pool.h"

namespace hearth {
namespace {

// Below this many multiply-adds a fork costs more than it saves (a join is some microseconds).
constexpr int64_t kWorthAFork = 1 << 15;

constexpr ComputeContext kAlone{};
thread_local const ComputeContext* current = &kAlone;

}  // namespace

int ComputeContext::workers() const noexcept { return pool == nullptr ? 1 : pool->thread_count(); }

void ComputeContext::parallel_for(
    int64_t chunks, int64_t work,
    function_ref<void(int64_t chunk, int worker)> body) const noexcept {
  if (pool == nullptr || chunks <= 1 || work < kWorthAFork || pool->thread_count() == 1) {
    for (int64_t i = 0; i < chunks; ++i) body(i, 0);
    return;
  }
  pool->parallel_for(chunks, body);
}

const ComputeContext& current_compute() noexcept { return *current; }

ComputeScope::ComputeScope(const ComputeContext& context) noexcept
    : context_(context), outer_(current) {
  current = &context_;
}

ComputeScope::~ComputeScope() { current = outer_; }

}  // namespace hearth
