#include "text/jinja/parse_number.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "base/error.h"
#include "text/jinja/character.h"
#include "text/jinja/str.h"

namespace hearth::jinja {
namespace {

// ASCII form of a number: outer space gone, decimal digits of any script as 0-9, letters in lower case. Empty if it holds
// anything else.
std::string plain_form(std::string_view text) {
  std::string out;
  size_t end = 0;  // after the last character that is no space
  for (int64_t at = 0; at < static_cast<int64_t>(text.size());) {
    const int64_t bytes = char_bytes(text, at);
    const int32_t c = char_at(text, at, bytes);
    at += bytes;
    if (is_space(c)) {
      if (!out.empty()) out += ' ';
      continue;
    }
    const int32_t digit = decimal_value(c);
    if (digit < 0 && c >= 0x80) return "";
    out += digit >= 0             ? static_cast<char>('0' + digit)
           : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32)
                                  : static_cast<char>(c);
    end = out.size();
  }
  out.resize(end);
  return out.find(' ') == std::string::npos ? out : "";
}

// Removes underscores between digits; false if one stands elsewhere.
bool drop_underscores(std::string& text) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') continue;
    if (i == 0 || i + 1 >= text.size() || !is_digit(text[i - 1]) || !is_digit(text[i + 1]))
      return false;
  }
  std::erase(text, '_');
  return true;
}

}  // namespace

std::optional<int64_t> parse_int(std::string_view text, int64_t base) {
  if (base != 0 && (base < 2 || base > 36))
    fail(Code::kInvalidArgument, "int() base must be >= 2 and <= 36, or 0");
  std::string digits = plain_form(text);
  const bool is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) digits.erase(0, 1);
  int64_t used = base;
  constexpr std::pair<std::string_view, int64_t> kPrefixes[] = {{"0x", 16}, {"0o", 8}, {"0b", 2}};
  for (const auto& [prefix, meant] : kPrefixes) {
    if (!digits.starts_with(prefix) || (base != 0 && base != meant)) continue;
    digits.erase(0, 2);
    if (digits.starts_with('_')) digits.erase(0, 1);
    used = meant;
    break;
  }
  if (used == 0) {
    if (digits.size() > 1 && digits[0] == '0' &&
        digits.find_first_not_of("0_") != std::string::npos)
      return std::nullopt;
    used = 10;
  }
  if (digits.empty() || !drop_underscores(digits)) return std::nullopt;
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, static_cast<int>(used));
  if (end != digits.data() + digits.size()) return std::nullopt;
  const uint64_t limit = static_cast<uint64_t>(INT64_MAX) + (is_negative ? 1 : 0);
  if (error == std::errc::result_out_of_range || (error == std::errc() && value > limit)) {
    fail(Code::kInvalidArgument, "integer does not fit 64 bits");
  }
  if (error != std::errc()) return std::nullopt;
  return is_negative ? static_cast<int64_t>(uint64_t{0} - value) : static_cast<int64_t>(value);
}

std::optional<double> parse_float(std::string_view text) {
  std::string digits = plain_form(text);
  const bool is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) digits.erase(0, 1);
  const auto signed_value = [&](double v) { return is_negative ? -v : v; };
  if (digits == "inf" || digits == "infinity")
    return signed_value(std::numeric_limits<double>::infinity());
  if (digits == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (!drop_underscores(digits) || digits.find_first_not_of("0123456789.e+-") != std::string::npos)
    return std::nullopt;
  if (digits.empty() || digits.starts_with('-') || digits.starts_with('+')) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument)
    return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    const bool is_tiny = digits.find("e-") != std::string::npos || digits.starts_with("0.") ||
                         digits.starts_with('.');
    value = is_tiny ? 0.0 : std::numeric_limits<double>::infinity();
  }
  return signed_value(value);
}

}  // namespace hearth::jinja
