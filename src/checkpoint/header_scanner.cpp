#include "checkpoint/header_scanner.h"

#include "base/error.h"

namespace hearth {
namespace {

constexpr int kMaxDepth = 32;

void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80U) {
    out += static_cast<char>(c);
  } else if (c < 0x800U) {
    out += static_cast<char>(0xC0U | (c >> 6));
    out += static_cast<char>(0x80U | (c & 0x3FU));
  } else if (c < 0x10000U) {
    out += static_cast<char>(0xE0U | (c >> 12));
    out += static_cast<char>(0x80U | ((c >> 6) & 0x3FU));
    out += static_cast<char>(0x80U | (c & 0x3FU));
  } else {
    out += static_cast<char>(0xF0U | (c >> 18));
    out += static_cast<char>(0x80U | ((c >> 12) & 0x3FU));
    out += static_cast<char>(0x80U | ((c >> 6) & 0x3FU));
    out += static_cast<char>(0x80U | (c & 0x3FU));
  }
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

void HeaderScanner::fault(std::string_view message) const {
  fail(Code::kCorruptData, file_, ": header byte ", at_, ": ", message,
       "; the file is damaged or not safetensors, get it again");
}

void HeaderScanner::skip_space() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

bool HeaderScanner::next_is(char c) {
  skip_space();
  return at_ < text_.size() && text_[at_] == c;
}

bool HeaderScanner::consume(char c) {
  if (!next_is(c)) return false;
  ++at_;
  return true;
}

void HeaderScanner::expect(char c, std::string_view where) {
  if (!consume(c)) fault("not JSON: expected '" + std::string(1, c) + "' " + std::string(where));
}

uint32_t HeaderScanner::hex4() {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    uint32_t digit = 0;
    if (c >= '0' && c <= '9')
      digit = static_cast<uint32_t>(c - '0');
    else if (c >= 'a' && c <= 'f')
      digit = static_cast<uint32_t>(c - 'a') + 10U;
    else if (c >= 'A' && c <= 'F')
      digit = static_cast<uint32_t>(c - 'A') + 10U;
    else
      fault("not JSON: \\u needs four hexadecimal digits");
    value = value << 4 | digit;
    ++at_;
  }
  return value;
}

void HeaderScanner::escape(std::string& out) {
  const char c = at_ < text_.size() ? text_[at_++] : '\0';
  constexpr std::string_view kFrom = "\"\\/bfnrt";
  constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
  if (const size_t i = kFrom.find(c); c != '\0' && i != std::string_view::npos) {
    out += kTo[i];
    return;
  }
  if (c != 'u') fault("not JSON: unknown escape in a string");
  uint32_t code = hex4();
  if (code >= 0xD800U && code < 0xDC00U) {
    if (text_.substr(at_, 2) != "\\u") fault("not JSON: half a surrogate pair");
    at_ += 2;
    const uint32_t low = hex4();
    if (low < 0xDC00U || low > 0xDFFFU) fault("not JSON: half a surrogate pair");
    code = 0x10000U + ((code - 0xD800U) << 10) + (low - 0xDC00U);
  } else if (code >= 0xDC00U && code < 0xE000U) {
    fault("not JSON: half a surrogate pair");
  }
  append_utf8(out, code);
}

std::string HeaderScanner::string(std::string_view what) {
  if (!consume('"')) fault("expected a string for " + std::string(what));
  std::string out;
  while (true) {
    const size_t run = text_.find_first_of("\"\\", at_);
    if (run == std::string_view::npos) fault("not JSON: a string without end");
    const std::string_view plain = text_.substr(at_, run - at_);
    for (const char c : plain) {
      if (static_cast<unsigned char>(c) < 0x20U) fault("not JSON: a control character in a string");
    }
    out += plain;
    at_ = run + 1;
    if (text_[run] == '"') return out;
    escape(out);
  }
}

int64_t HeaderScanner::integer(std::string_view what) {
  skip_space();
  const size_t start = at_;
  int64_t value = 0;
  while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
    if (__builtin_mul_overflow(value, int64_t{10}, &value) ||
        __builtin_add_overflow(value, int64_t{text_[at_] - '0'}, &value)) {
      fault(std::string(what) + " is larger than any file");
    }
    ++at_;
  }
  const char next = at_ < text_.size() ? text_[at_] : '\0';
  if (at_ == start || next == '.' || next == 'e' || next == 'E')
    fault("expected a whole number, not negative, for " + std::string(what));
  return value;
}

void HeaderScanner::skip_value(int depth) {
  if (depth > kMaxDepth) fault("nested deeper than any safetensors header");
  if (next_is('"')) {
    string("a value");
    return;
  }
  for (const bool is_object : {true, false}) {
    const char close = is_object ? '}' : ']';
    if (!consume(is_object ? '{' : '[')) continue;
    if (consume(close)) return;
    do {
      if (is_object) {
        string("a key");
        expect(':', "after a key");
      }
      skip_value(depth + 1);
    } while (consume(','));
    expect(close, "at the end of a value");
    return;
  }
  const size_t start = at_;  // number, true, false or null
  while (at_ < text_.size() &&
         std::string_view("+-.0123456789abcdefghijklmnopqrstuvwxyzE").find(text_[at_]) !=
             std::string_view::npos)
    ++at_;
  if (at_ == start) fault("not JSON: expected a value");
}

void HeaderScanner::expect_end() {
  skip_space();
  if (at_ != text_.size()) fault("not JSON: text after the end of the header");
}

}  // namespace hearth
