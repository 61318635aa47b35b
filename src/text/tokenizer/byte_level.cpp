#include <array>

#include "text/tokenizer/pre_tokenizer.h"
#include "text/unicode.h"

namespace hearth::text {
namespace {

constexpr bool stands_for_itself(unsigned b) {
  return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || (b >= 174 && b <= 255);
}

constexpr std::array<char16_t, 256> kStandIn = [] {
  std::array<char16_t, 256> table{};
  unsigned next = 256;
  for (unsigned b = 0; b < 256; ++b) {
    table[b] = static_cast<char16_t>(stands_for_itself(b) ? b : next++);
  }
  return table;
}();

constexpr std::array<int16_t, 324> kByteOf = [] {
  std::array<int16_t, 324> table{};
  for (int16_t& entry : table) entry = -1;
  for (unsigned b = 0; b < 256; ++b) table[kStandIn[b]] = static_cast<int16_t>(b);
  return table;
}();

}  // namespace

char32_t byte_stand_in(unsigned char byte) { return kStandIn[byte]; }

int byte_of_stand_in(char32_t c) { return c < kByteOf.size() ? kByteOf[c] : -1; }

void append_stand_ins(std::string_view bytes, std::string& out) {
  for (const char c : bytes) append_utf8(out, byte_stand_in(static_cast<unsigned char>(c)));
}

}  // namespace hearth::text
