// Who computes what in the next step. Pure bookkeeping: no tensors, no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace hearth {

struct StepLimits {
  int64_t tokens =
      512;  // computed in one step, all rows together; decoding rows come first and always fit
  int64_t rows = 64;          // sequences running at once
  int64_t bytes = INT64_MAX;  // of pages promised to running rows
};

struct StepPlan {
  struct Entry {
    int64_t row;     // as given to add()
    int64_t tokens;  // to compute now, of those pending
    bool is_last;    // nothing is pending after them: the next token can be drawn
  };
  std::vector<Entry> entries;
};

// First come, first served: rows are admitted in order as long as their promised bytes fit, so a running row never
// finds the pool dry. Decoding rows (one pending token) run in every step; what is left of the token budget goes to
// prefill in order of arrival.
class Scheduler {
 public:
  explicit Scheduler(StepLimits limits) : limits_(limits) {}

  // `bytes` is the most that the row will ever hold.
  void add(int64_t row, int64_t pending_tokens, int64_t bytes);
  StepPlan plan();
  // The plan's tokens were computed.
  void commit(const StepPlan& plan);
  // The row drew a token, which is now pending.
  void drew_token(int64_t row);
  void remove(int64_t row);

  bool is_idle() const { return running_.empty() && waiting_.empty(); }
  int64_t running_rows() const { return static_cast<int64_t>(running_.size()); }
  int64_t waiting_rows() const { return static_cast<int64_t>(waiting_.size()); }
  int64_t promised_bytes() const { return promised_bytes_; }

 private:
  struct Row {
    int64_t id;
    int64_t pending;
    int64_t bytes;
  };
  Row& running(int64_t row);

  StepLimits limits_;
  std::deque<Row> waiting_;
  std::vector<Row> running_;  // in order of arrival
  int64_t promised_bytes_ = 0;
};

}  // namespace hearth
