// Messages for the person at the terminal, on stderr. Results never go here.
#pragma once

#include <cstdint>
#include <string_view>

namespace hearth {

enum class LogLevel : uint8_t { kQuiet, kWarning, kInfo, kDebug };

// Process-wide; set once by the command line. Default kInfo.
void set_log_level(LogLevel level);
LogLevel log_level();

// One line to stderr, "hearth: " or "hearth: warning: " before it. Any thread.
void log_warning(std::string_view message);
void log_info(std::string_view message);
void log_debug(std::string_view message);

}  // namespace hearth
