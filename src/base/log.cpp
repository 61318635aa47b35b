#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <string>

#include <fmt/core.h>

namespace hearth {
namespace {

std::atomic<LogLevel> g_level{LogLevel::kInfo};

void write_line(LogLevel level, std::string_view prefix, std::string_view message) {
  if (level > g_level.load(std::memory_order_relaxed)) return;
  const std::string line = fmt::format("{}{}\n", prefix, message);
  // Not fmt::print, which throws when stderr is closed or full: a lost message must not lose the result.
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
}

}  // namespace

void set_log_level(LogLevel level) { g_level.store(level, std::memory_order_relaxed); }
LogLevel log_level() { return g_level.load(std::memory_order_relaxed); }
void log_warning(std::string_view message) {
  write_line(LogLevel::kWarning, "hearth: warning: ", message);
}
void log_info(std::string_view message) { write_line(LogLevel::kInfo, "hearth: ", message); }
void log_debug(std::string_view message) { write_line(LogLevel::kDebug, "hearth: ", message); }

}  // namespace hearth
