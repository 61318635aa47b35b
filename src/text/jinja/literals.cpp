#include "text/jinja/literals.h"

#include <charconv>
#include <limits>

#include "text/jinja/str.h"

namespace hearth::jinja {
namespace {

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

// Half of a UTF-16 pair is no character.
int32_t without_surrogates(int32_t code_point) {
  return code_point >= 0xD800 && code_point <= 0xDFFF ? 0xFFFD : code_point;
}

}  // namespace

Token LiteralReader::refuse(int64_t at, std::string_view what) {
  if (error_.empty()) {
    error_ = what;
    error_at_ = at;
  }
  return {};
}

// Digits with single underscores between them.
void LiteralReader::read_digits(int base, std::string& out) {
  const auto is_digit = [&](char c) { return digit_value(c) < base; };
  while (is_digit(peek()) || (peek() == '_' && is_digit(peek(1)))) {
    if (peek() != '_') out.push_back(peek());
    ++at_;
  }
}

Token LiteralReader::read_number(bool is_index) {
  std::string digits;
  constexpr std::string_view kPrefixes = "xXoObB";
  if (peek() == '0' && peek(1) != '\0' && kPrefixes.find(peek(1)) != std::string_view::npos) {
    const size_t kind = kPrefixes.find(peek(1)) / 2;
    const int base = kind == 0 ? 16 : kind == 1 ? 8 : 2;
    at_ += peek(2) == '_' ? 3 : 2;
    read_digits(base, digits);
    return integer(digits, base);
  }
  read_digits(10, digits);
  if (!is_index && read_fraction_and_exponent(digits)) return real(digits);
  if (digits.size() > 1 && digits[0] == '0' && digits.find_first_not_of('0') != std::string::npos) {
    return refuse(start_, "an integer may not begin with 0");
  }
  return integer(digits, 10);
}

bool LiteralReader::read_fraction_and_exponent(std::string& digits) {
  bool is_float = false;
  if (peek() == '.' && digit_value(peek(1)) < 10) {
    is_float = true;
    digits.push_back('.');
    ++at_;
    read_digits(10, digits);
  }
  const bool has_sign = peek(1) == '+' || peek(1) == '-';
  if ((peek() == 'e' || peek() == 'E') && digit_value(peek(has_sign ? 2 : 1)) < 10) {
    is_float = true;
    digits.push_back('e');
    if (peek(1) == '-') digits.push_back('-');
    at_ += has_sign ? 2 : 1;
    read_digits(10, digits);
  }
  return is_float;
}

Token LiteralReader::integer(const std::string& digits, int base) {
  Token token{.kind = TokenKind::kInteger, .at = {}, .text = digits};
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, token.integer, base);
  if (error == std::errc::result_out_of_range)
    return refuse(start_, "integer does not fit 64 bits");
  if (error != std::errc() || stop != end) return refuse(start_, "bad number");
  return token;
}

Token LiteralReader::real(const std::string& digits) {
  Token token{.kind = TokenKind::kFloat, .at = {}, .text = digits};
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, token.real);
  if (error == std::errc::result_out_of_range) {
    const bool is_tiny = digits.find("e-") != std::string::npos || digits.starts_with("0.");
    token.real = is_tiny ? 0.0 : std::numeric_limits<double>::infinity();
  } else if (error != std::errc() || stop != end) {
    return refuse(start_, "bad number");
  }
  return token;
}

Token LiteralReader::read_string() {
  Token token{.kind = TokenKind::kString, .at = {}, .text = {}};
  const char quote = peek();
  ++at_;
  while (error_.empty()) {
    if (is_at_end()) return refuse(start_, "string is not closed");
    const char c = peek();
    ++at_;
    if (c == quote) break;
    if (c == '\\') {
      read_escape(token.text);
    } else {
      token.text.push_back(c);
    }
  }
  return token;
}

// The backslash is behind us.
void LiteralReader::read_escape(std::string& out) {
  if (is_at_end()) return;  // the caller finds the string unclosed
  const char c = peek();
  ++at_;
  constexpr std::string_view kFrom = "\\'\"abfnrtv";
  constexpr std::string_view kTo = "\\'\"\a\b\f\n\r\t\v";
  if (const size_t i = kFrom.find(c); i != std::string_view::npos) {
    out.push_back(kTo[i]);
  } else if (c == 'x') {
    append_utf8(out, read_code_point(2, 2, 16));
  } else if (c == 'u') {
    append_utf8(out, without_surrogates(read_code_point(4, 4, 16)));
  } else if (c == 'U') {
    append_utf8(out, without_surrogates(read_code_point(8, 8, 16)));
  } else if (c >= '0' && c <= '7') {
    --at_;
    append_utf8(out, read_code_point(1, 3, 8));
  } else if (c == 'N') {
    refuse(at_ - 2, "escapes by character name (\\N{...}) are not supported");
  } else if (c != '\n') {  // a backslash before a line end joins the lines; others stay as they are
    out.push_back('\\');
    out.push_back(c);
  }
}

int32_t LiteralReader::read_code_point(size_t least, size_t most, int base) {
  const int64_t begin = at_;
  uint32_t value = 0;
  size_t count = 0;
  while (count < most && digit_value(peek()) < base) {
    value = value * static_cast<uint32_t>(base) + static_cast<uint32_t>(digit_value(peek()));
    ++count;
    ++at_;
  }
  if (count < least) refuse(begin, "bad escape in a string");
  if (value > 0x10FFFF) refuse(begin, "escape beyond the last Unicode character");
  return static_cast<int32_t>(value & 0x1FFFFF);
}

}  // namespace hearth::jinja
