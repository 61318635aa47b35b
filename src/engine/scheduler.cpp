#include "engine/scheduler.h"

#include <algorithm>

#include "base/error.h"

namespace hearth {

void Scheduler::add(int64_t row, int64_t pending_tokens, int64_t bytes) {
  HEARTH_CHECK(pending_tokens >= 1);
  waiting_.push_back({row, pending_tokens, bytes});
}

Scheduler::Row& Scheduler::running(int64_t row) {
  const auto found = std::ranges::find(running_, row, &Row::id);
  HEARTH_CHECK(found != running_.end(), "row ", row, " is not running");
  return *found;
}

StepPlan Scheduler::plan() {
  while (!waiting_.empty() && running_rows() < limits_.rows &&
         promised_bytes_ + waiting_.front().bytes <= limits_.bytes) {
    promised_bytes_ += waiting_.front().bytes;
    running_.push_back(waiting_.front());
    waiting_.pop_front();
  }
  StepPlan plan;
  int64_t left = limits_.tokens;
  for (const Row& r : running_) {
    if (r.pending != 1) continue;
    plan.entries.push_back({r.id, 1, true});
    --left;
  }
  bool is_first = true;
  for (const Row& r : running_) {
    if (r.pending == 1) continue;
    // At least one token of prefill a step, however many rows decode: nobody starves.
    const int64_t tokens = std::min(r.pending, std::max<int64_t>(left, is_first ? 1 : 0));
    if (tokens <= 0) break;
    plan.entries.push_back({r.id, tokens, tokens == r.pending});
    left -= tokens;
    is_first = false;
  }
  return plan;
}

void Scheduler::commit(const StepPlan& plan) {
  for (const StepPlan::Entry& e : plan.entries) running(e.row).pending -= e.tokens;
}

void Scheduler::drew_token(int64_t row) { running(row).pending += 1; }

void Scheduler::remove(int64_t row) {
  std::erase_if(waiting_, [&](const Row& r) { return r.id == row; });
  const auto found = std::ranges::find(running_, row, &Row::id);
  if (found == running_.end()) return;
  promised_bytes_ -= found->bytes;
  running_.erase(found);
}

}  // namespace hearth
