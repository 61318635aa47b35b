// Classes of characters, as Rust's char methods and Oniguruma's \p{...} have them (Unicode 15).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hearth::text {

// Bits of a character's class. A character has several.
enum CharClass : uint16_t {
  kLetter = 1 << 0,       // L
  kMark = 1 << 1,         // M
  kNumber = 1 << 2,       // N: Nd, Nl and No, so that ½ counts (Rust's is_numeric)
  kSpace = 1 << 3,        // White_Space
  kPunctuation = 1 << 4,  // P
  kSymbol = 1 << 5,       // S
  kUpper = 1 << 6,        // Lu Lt Lm Lo M: what o200k lets a capitalised word begin with
  kLower = 1 << 7,        // Ll Lm Lo M: what o200k lets a word go on with
  kNonspacing = 1 << 8,   // Mn
  kOther = 1 << 9,        // C: control, format, unassigned, private
  kWord = 1 << 10,        // \w of Rust's regex: Alphabetic, M, Nd, Pc, Join_Control
  kNfcUnstable = 1 << 11  // may change under NFC, or change what stands before it
};

// Shared immutable table; built once, on first use (about a millisecond).
class CharClasses {
 public:
  static const CharClasses& get();

  uint16_t of(char32_t c) const {
    if (c < 128) return ascii_[c];
    return pages_[(size_t{page_of_[c >> 8]} << 8) | (c & 0xFFU)];
  }
  bool is(char32_t c, uint16_t mask) const { return (of(c) & mask) != 0; }
  // The class of an ASCII byte; 0 for other bytes.
  const uint16_t* bytes() const { return bytes_.data(); }

 private:
  CharClasses();

  std::array<uint16_t, 128> ascii_{};
  std::array<uint16_t, 256> bytes_{};
  std::vector<uint16_t> page_of_;  // 0x1100 pages of 256 characters
  std::vector<uint16_t> pages_;
};

// ASCII punctuation in Rust's sense: symbols such as $ and + included.
constexpr bool is_ascii_punctuation(char32_t c) {
  return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
         (c >= 123 && c <= 126);
}

}  // namespace hearth::text
