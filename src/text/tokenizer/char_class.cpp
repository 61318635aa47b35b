#include "text/tokenizer/char_class.h"

#include <utf8proc.h>

#include <algorithm>

namespace hearth::text {
namespace {

bool is_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

// Other_Alphabetic beyond marks: circled and squared letters.
bool is_alphabetic_symbol(char32_t c) {
  return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
         (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
}

bool is_nfc_unstable(char32_t c, const utf8proc_property_t& p) {
  if (p.combining_class != 0) return true;
  // Second half of a composition: the table's upper index range, and Hangul vowels and finals.
  if (p.comb_index != UINT16_MAX && (p.comb_index & 0x8000U) != 0) return true;
  if ((c >= 0x1161 && c <= 0x1175) || (c >= 0x11A8 && c <= 0x11C2)) return true;
  if (p.decomp_seqindex == UINT16_MAX || p.decomp_type != 0) return false;
  if (c >= 0xAC00 && c <= 0xD7A3) return false;
  // Canonical decompositions that don't come back: singletons and composition exclusions.
  std::array<utf8proc_int32_t, 32> buffer{};
  int boundary = 0;
  const auto n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), buffer.data(), 32,
                                         UTF8PROC_DECOMPOSE, &boundary);
  if (n <= 0 || n > 32) return true;
  const auto m = utf8proc_normalize_utf32(
      buffer.data(), n, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  return !(m == 1 && buffer[0] == static_cast<utf8proc_int32_t>(c));
}

uint16_t category_bits(utf8proc_category_t category) {
  switch (category) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
      return kLetter | kUpper | kWord;
    case UTF8PROC_CATEGORY_LL:
      return kLetter | kLower | kWord;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return kLetter | kUpper | kLower | kWord;
    case UTF8PROC_CATEGORY_MN:
      return kMark | kNonspacing | kUpper | kLower | kWord;
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return kMark | kUpper | kLower | kWord;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
      return kNumber | kWord;
    case UTF8PROC_CATEGORY_NO:
      return kNumber;
    case UTF8PROC_CATEGORY_PC:
      return kPunctuation | kWord;
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return kPunctuation;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
      return kSymbol;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return 0;
    default:
      return kOther;
  }
}

uint16_t classify(char32_t c) {
  const utf8proc_property_t& p = *utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
  uint16_t bits = category_bits(static_cast<utf8proc_category_t>(p.category));
  if (is_white_space(c)) bits |= kSpace;
  if (is_alphabetic_symbol(c) || c == 0x200C || c == 0x200D) bits |= kWord;
  if (is_nfc_unstable(c, p)) bits |= kNfcUnstable;
  return bits;
}

}  // namespace

CharClasses::CharClasses() : page_of_(0x1100) {
  std::vector<uint16_t> page(256);
  for (char32_t high = 0; high < 0x1100; ++high) {
    // Planes 4 to 13 and the private planes are uniform: nothing is assigned there but noncharacters.
    const bool is_uniform = high > 0x400 && high != 0xE00 && high != 0xE01;
    if (is_uniform) {
      page_of_[high] = page_of_[0x400];
      continue;
    }
    for (char32_t low = 0; low < 256; ++low) page[low] = classify((high << 8) | low);
    size_t known = 0;
    while (
        known * 256 < pages_.size() &&
        !std::equal(page.begin(), page.end(), pages_.begin() + static_cast<int64_t>(known * 256))) {
      ++known;
    }
    if (known * 256 == pages_.size()) pages_.insert(pages_.end(), page.begin(), page.end());
    page_of_[high] = static_cast<uint16_t>(known);
  }
  std::copy_n(pages_.begin(), 128, ascii_.begin());
  std::copy_n(pages_.begin(), 128, bytes_.begin());
}

const CharClasses& CharClasses::get() {
  static const CharClasses table;
  return table;
}

}  // namespace hearth::text
