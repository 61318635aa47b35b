// What the verbs need of a terminal: interruption, progress lines, safe messages.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/progress.h"

namespace hearth::cli {

// From the first call on, Ctrl-C sets a flag instead of ending the process; a second Ctrl-C before the flag was taken
// ends it at once with status 130.
void catch_interrupts();
// Was there a Ctrl-C since the last call?
bool take_interrupt();

// A message for the terminal: control characters that could move the cursor or colour the screen are shown as '?'.
std::string printable_message(std::string_view message);

// Writes results to stdout and flushes, so that a reader sees every piece at once. Throws kIo when the reader is gone.
void write_out(std::string_view text);
void write_line(std::string_view text);

// All of stdin, at most max_bytes. Throws kInvalidArgument beyond that.
std::string read_stdin(size_t max_bytes);

// Throws kInvalidArgument naming the first byte of `what` that is not UTF-8.
void require_utf8(std::string_view bytes, std::string_view what);

// A line on stderr that is redrawn at most ten times a second; nothing when stderr is not a terminal.
class ProgressLine final : public Progress {
 public:
  ProgressLine();
  ~ProgressLine() override;  // removes the line
  void report(std::string_view stage, int64_t done, int64_t total, std::string_view unit) override;

 private:
  bool is_terminal_;
  bool is_drawn_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

// Seconds since construction.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace hearth::cli
