#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "base/json.h"

namespace hearth {
namespace {

// Length of the UTF-8 sequence at the start of s and its code point; length 0 when it isn't valid UTF-8.
struct Decoded {
  size_t length;
  uint32_t code_point;
};

Decoded decode_utf8(std::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(s[i]); };
  const auto tail = [&](size_t i) { return i < s.size() && (byte(i) & 0xC0U) == 0x80U; };
  const uint32_t b = byte(0);
  if (b < 0x80U) return {1, b};
  if (b >= 0xC2U && b <= 0xDFU && tail(1)) return {2, ((b & 0x1FU) << 6) | (byte(1) & 0x3FU)};
  if (b >= 0xE0U && b <= 0xEFU && tail(1) && tail(2)) {
    const uint32_t c = ((b & 0xFU) << 12) | ((byte(1) & 0x3FU) << 6) | (byte(2) & 0x3FU);
    if (c >= 0x800U && (c < 0xD800U || c > 0xDFFFU)) return {3, c};
  }
  if (b >= 0xF0U && b <= 0xF4U && tail(1) && tail(2) && tail(3)) {
    const uint32_t c =
        ((b & 7U) << 18) | ((byte(1) & 0x3FU) << 12) | ((byte(2) & 0x3FU) << 6) | (byte(3) & 0x3FU);
    if (c >= 0x10000U && c <= 0x10FFFFU) return {4, c};
  }
  return {0, 0xFFFDU};
}

void append_escape(std::string& out, uint32_t code_point) {
  if (code_point < 0x10000U) {
    out += fmt::format("\\u{:04x}", code_point);
    return;
  }
  const uint32_t v = code_point - 0x10000U;
  out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800U + (v >> 10), 0xDC00U + (v & 0x3FFU));
}

void new_line(std::string& out, int indent, int depth) {
  out += '\n';
  out.append(static_cast<size_t>(indent) * static_cast<size_t>(depth), ' ');
}

void write(std::string& out, const Json& j, const JsonStyle& style, int depth);

template <class Range, class WriteOne>
void write_list(std::string& out, const Range& range, char open, char close, const JsonStyle& style,
                int depth, WriteOne write_one) {
  out += open;
  bool first = true;
  for (const auto& item : range) {
    if (!first) out += style.indent < 0 && style.spaces ? ", " : ",";
    first = false;
    if (style.indent >= 0) new_line(out, style.indent, depth + 1);
    write_one(item);
  }
  if (style.indent >= 0 && !first) new_line(out, style.indent, depth);
  out += close;
}

void write(std::string& out, const Json& j, const JsonStyle& style, int depth) {
  if (j.is_null())
    out += "null";
  else if (j.is_bool())
    out += j.as_bool() ? "true" : "false";
  else if (j.is_int())
    out += fmt::format("{}", j.as_int());
  else if (j.is_double())
    out += format_double(j.as_double());
  else if (j.is_string())
    append_json_string(out, j.as_string(), style.ensure_ascii);
  else if (j.is_array()) {
    write_list(out, j.as_array(), '[', ']', style, depth,
               [&](const Json& item) { write(out, item, style, depth + 1); });
  } else {
    std::vector<const Json::Object::Member*> members;
    for (const auto& m : j.as_object()) members.push_back(&m);
    if (style.sort_keys)
      std::ranges::sort(members, [](const auto* a, const auto* b) { return a->first < b->first; });
    write_list(out, members, '{', '}', style, depth, [&](const Json::Object::Member* m) {
      append_json_string(out, m->first, style.ensure_ascii);
      out += style.indent >= 0 || style.spaces ? ": " : ":";
      write(out, m->second, style, depth + 1);
    });
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text, bool ensure_ascii) {
  out += '"';
  while (!text.empty()) {
    const auto [length, c] = decode_utf8(text);
    if (length == 0) {
      out += ensure_ascii ? "\\ufffd" : "\xEF\xBF\xBD";
      text.remove_prefix(1);
      continue;
    }
    if (c == '"')
      out += "\\\"";
    else if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\b')
      out += "\\b";
    else if (c == '\f')
      out += "\\f";
    else if (c < 0x20U || (ensure_ascii && c > 0x7EU))
      append_escape(out, c);
    else
      out += text.substr(0, length);
    text.remove_prefix(length);
  }
  out += '"';
}

std::string format_double(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  if (value == 0) return std::signbit(value) ? "-0.0" : "0.0";
  char buffer[64];
  const auto scientific =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<size_t>(scientific.ptr - buffer));
  // "e+05" or "e-05": from_chars takes no plus sign.
  const char* digits = buffer + text.find('e') + (text.contains("e+") ? 2 : 1);
  int exponent = 0;
  std::from_chars(digits, scientific.ptr, exponent);
  if (exponent < -4 || exponent >= 16) return std::string(text);
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  std::string out(buffer, static_cast<size_t>(fixed.ptr - buffer));
  if (out.find('.') == std::string::npos) out += ".0";
  return out;
}

std::string Json::dump(const JsonStyle& style) const {
  std::string out;
  write(out, *this, style, 0);
  return out;
}

}  // namespace hearth
