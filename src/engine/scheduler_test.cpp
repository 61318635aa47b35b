#include "engine/scheduler.h"

#include <map>
#include <vector>

#include <doctest/doctest.h>

#include "base/random.h"

namespace hearth {
namespace {

TEST_CASE("scheduler: decoding rows run in every step beside a chunk of prefill") {
  Scheduler s({.tokens = 10, .rows = 4, .bytes = 100});
  s.add(1, 1, 10);
  s.add(2, 25, 10);
  StepPlan plan = s.plan();
  REQUIRE(plan.entries.size() == 2);
  CHECK(plan.entries[0].row == 1);
  CHECK(plan.entries[0].is_last);
  CHECK(plan.entries[1].tokens == 9);
  CHECK_FALSE(plan.entries[1].is_last);
}

TEST_CASE("scheduler: rows wait until their bytes fit, in order") {
  Scheduler s({.tokens = 10, .rows = 4, .bytes = 100});
  s.add(1, 1, 60);
  s.add(2, 1, 60);
  s.add(3, 1, 10);
  CHECK(s.plan().entries.size() == 1);
  CHECK(s.waiting_rows() == 2);
  s.remove(1);
  CHECK(s.plan().entries.size() == 2);
  CHECK(s.promised_bytes() == 70);
}

TEST_CASE("scheduler: over random arrivals every row finishes and no budget is overrun") {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SplitMix64 random(seed);
    const StepLimits limits{.tokens = 1 + random.below(40),
                            .rows = 1 + random.below(6),
                            .bytes = 50 + random.below(100)};
    Scheduler s(limits);
    std::map<int64_t, int64_t> to_draw;  // per live row
    int64_t next = 0;
    int64_t steps = 0;
    while (next < 30 || !s.is_idle()) {
      REQUIRE(++steps < 20000);
      if (next < 30 && random.below(3) == 0) {
        s.add(next, 1 + random.below(100), 1 + random.below(50));
        to_draw[next++] = random.below(20);
      }
      if (!to_draw.empty() && random.below(40) == 0) {
        s.remove(to_draw.begin()->first);
        to_draw.erase(to_draw.begin());
      }
      const StepPlan plan = s.plan();
      int64_t tokens = 0;
      for (const auto& e : plan.entries) tokens += e.tokens;
      CHECK(tokens <= std::max(limits.tokens, static_cast<int64_t>(plan.entries.size())));
      CHECK(s.running_rows() <= limits.rows);
      CHECK(s.promised_bytes() <= limits.bytes);
      s.commit(plan);
      for (const auto& e : plan.entries) {
        if (!e.is_last) continue;
        if (to_draw[e.row]-- > 0) {
          s.drew_token(e.row);
        } else {
          s.remove(e.row);
          to_draw.erase(e.row);
        }
      }
    }
    CHECK(s.promised_bytes() == 0);
  }
}

}  // namespace
}  // namespace hearth
