// UTF-8 and the properties of characters that tokenizers ask for (Unicode 15, from utf8proc).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::text {

constexpr char32_t kReplacement = 0xFFFD;

// Length in bytes of the longest prefix that is well-formed UTF-8 (no surrogates, nothing above U+10FFFF).
int64_t valid_utf8_prefix(std::string_view text);
inline bool is_valid_utf8(std::string_view text) {
  return valid_utf8_prefix(text) == static_cast<int64_t>(text.size());
}

// Well-formed copy: each maximal broken part (Unicode 15, section 3.9, as the WHATWG decoder) becomes U+FFFD.
std::string to_valid_utf8(std::string_view text);

// Appends the UTF-8 form; `c` must not be a surrogate.
void append_utf8(std::string& out, char32_t c);

// The character at `p` in well-formed text, p < end. `next` is the byte after it.
struct Decoded {
  char32_t c;
  const char* next;
};
inline Decoded decode_utf8(const char* p) {
  const auto b = [p](int i) { return static_cast<char32_t>(static_cast<unsigned char>(p[i])); };
  const char32_t lead = b(0);
  if (lead < 0x80) return {lead, p + 1};
  if (lead < 0xE0) return {((lead & 0x1FU) << 6) | (b(1) & 0x3FU), p + 2};
  if (lead < 0xF0) return {((lead & 0x0FU) << 12) | ((b(1) & 0x3FU) << 6) | (b(2) & 0x3FU), p + 3};
  return {((lead & 0x07U) << 18) | ((b(1) & 0x3FU) << 12) | ((b(2) & 0x3FU) << 6) | (b(3) & 0x3FU),
          p + 4};
}

// UTF-8 that arrives in arbitrary cuts. push() appends whole characters to `out` and keeps an unfinished one back;
// what can't become a character is U+FFFD. All pieces joined equal to_valid_utf8() of all bytes joined.
class Utf8Joiner {
 public:
  void push(std::string_view bytes, std::string& out);
  void finish(std::string& out);
  bool is_waiting() const { return !held_.empty(); }

 private:
  std::string held_;  // at most 3 bytes, a proper prefix of a character
};

}  // namespace hearth::text
