#include "cli/terminal.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <fmt/core.h>
#include <unistd.h>

#include "base/error.h"
#include "text/unicode.h"

namespace hearth::cli {
namespace {

std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_interrupt(int) {
  if (g_interrupted.exchange(true)) ::_exit(130);
}

std::string human(double value, std::string_view unit) {
  if (unit != "bytes") return fmt::format("{:.0f} {}", value, unit);
  if (value >= 1e9) return fmt::format("{:.2f} GB", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.1f} MB", value / 1e6);
  return fmt::format("{:.0f} kB", value / 1e3);
}

}  // namespace

void catch_interrupts() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  ::sigaction(SIGINT, &action, nullptr);
}

bool take_interrupt() { return g_interrupted.exchange(false); }

std::string printable_message(std::string_view message) {
  const std::string text = text::to_valid_utf8(message);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    const bool is_c0 = (byte < 0x20 && text[i] != '\n' && text[i] != '\t') || byte == 0x7F;
    // U+0080 to U+009F are controls as well: U+009B begins a sequence as ESC [ does.
    const bool is_c1 =
        byte == 0xC2 && i + 1 < text.size() && static_cast<uint8_t>(text[i + 1]) < 0xA0;
    if (is_c1) ++i;
    out += is_c0 || is_c1 ? '?' : text[i];
  }
  return out;
}

void write_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    fail(Code::kIo, "can't write to standard output: ", std::strerror(errno));
}

void write_line(std::string_view text) { write_out(std::string(text) + "\n"); }

std::string read_stdin(size_t max_bytes) {
  std::string text;
  char buffer[65536];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, stdin)) {
    text.append(buffer, n);
    require(text.size() <= max_bytes, "standard input holds more than ", max_bytes, " bytes");
  }
  return text;
}

void require_utf8(std::string_view bytes, std::string_view what) {
  const int64_t valid = text::valid_utf8_prefix(bytes);
  require(valid == static_cast<int64_t>(bytes.size()), what, " is not UTF-8 at byte ", valid,
          "; convert it, for example with iconv");
}

ProgressLine::ProgressLine()
    : is_terminal_(::isatty(STDERR_FILENO) == 1), start_(std::chrono::steady_clock::now()) {}

ProgressLine::~ProgressLine() {
  if (is_drawn_) fmt::print(stderr, "\r\x1b[K");
}

void ProgressLine::report(std::string_view stage, int64_t done, int64_t total,
                          std::string_view unit) {
  const auto now = std::chrono::steady_clock::now();
  if (!is_terminal_ || (is_drawn_ && now - last_ < std::chrono::milliseconds(100))) return;
  last_ = now;
  is_drawn_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string line = fmt::format("{} {}", stage, human(static_cast<double>(done), unit));
  if (total > 0) {
    line += fmt::format(" of {} ({:.0f} %)", human(static_cast<double>(total), unit),
                        100.0 * static_cast<double>(done) / static_cast<double>(total));
  }
  line += fmt::format(", {}/s", human(rate, unit));
  if (total > done && rate > 0)
    line += fmt::format(", {:.0f} s left", static_cast<double>(total - done) / rate);
  fmt::print(stderr, "\r\x1b[K{}", line);
  std::fflush(stderr);
}

}  // namespace hearth::cli
