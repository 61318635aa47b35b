// Progress of long work, for whoever watches (a terminal bar, a job's record, nobody).
#pragma once

#include <cstdint>
#include <string_view>

namespace hearth {

// Called from the working thread; implementations limit their own rate.
class Progress {
 public:
  virtual ~Progress() = default;
  // done and total in units of the stage ("bytes", "tokens"); total < 0 when unknown.
  virtual void report(std::string_view stage, int64_t done, int64_t total,
                      std::string_view unit) = 0;
};

}  // namespace hearth
