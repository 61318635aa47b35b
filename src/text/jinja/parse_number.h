// Numbers in text, as Python's int() and float() read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hearth::jinja {

// Null if the text is no integer; kInvalidArgument if it is one beyond 64 bits. Base 0 goes by the prefix, else 2 to 36.
std::optional<int64_t> parse_int(std::string_view text, int64_t base);

std::optional<double> parse_float(std::string_view text);

}  // namespace hearth::jinja
