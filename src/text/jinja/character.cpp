#include "text/jinja/character.h"

#include <utf8proc.h>
#include <algorithm>

#include "text/jinja/case_table.h"
#include "text/jinja/str.h"

namespace hearth::jinja {
namespace {

utf8proc_category_t category(int32_t c) {
  return c < 0 || c > 0x10FFFF ? UTF8PROC_CATEGORY_CN : utf8proc_category(c);
}

bool is_mark(int32_t c) {
  const auto k = category(c);
  return k == UTF8PROC_CATEGORY_MN || k == UTF8PROC_CATEGORY_MC;
}

const LongCase* long_case(int32_t c) {
  const auto* const found = std::ranges::lower_bound(kLongCases, c, {}, &LongCase::code_point);
  return found != std::end(kLongCases) && found->code_point == c ? found : nullptr;
}

}  // namespace

bool is_space(int32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_line_end(int32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

bool is_alpha(int32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const auto k = category(c);
  return k == UTF8PROC_CATEGORY_LU || k == UTF8PROC_CATEGORY_LL || k == UTF8PROC_CATEGORY_LT ||
         k == UTF8PROC_CATEGORY_LM || k == UTF8PROC_CATEGORY_LO;
}

bool is_decimal(int32_t c) {
  return c < 0x80 ? c >= '0' && c <= '9' : category(c) == UTF8PROC_CATEGORY_ND;
}

bool is_digit(int32_t c) {
  if (is_decimal(c)) return true;
  return c == 0xB2 || c == 0xB3 || c == 0xB9 || c == 0x2070 || (c >= 0x2074 && c <= 0x2079) ||
         (c >= 0x2080 && c <= 0x2089) || (c >= 0x2460 && c <= 0x2468) ||
         (c >= 0x2474 && c <= 0x247C) || (c >= 0x2488 && c <= 0x2490) ||
         (c >= 0x2776 && c <= 0x277E);
}

bool is_numeric(int32_t c) {
  const auto k = category(c);
  return k == UTF8PROC_CATEGORY_ND || k == UTF8PROC_CATEGORY_NL || k == UTF8PROC_CATEGORY_NO;
}

bool is_alnum(int32_t c) { return is_alpha(c) || is_numeric(c); }

bool is_upper(int32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z';
  return category(c) == UTF8PROC_CATEGORY_LU || (c >= 0x2160 && c <= 0x216F) ||
         (c >= 0x24B6 && c <= 0x24CF) || (c >= 0x1F130 && c <= 0x1F149) ||
         (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
}

bool is_lower(int32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z';
  return category(c) == UTF8PROC_CATEGORY_LL || c == 0xAA || c == 0xBA ||
         (c >= 0x02B0 && c <= 0x02B8) || c == 0x02C0 || c == 0x02C1 ||
         (c >= 0x02E0 && c <= 0x02E4) || c == 0x0345 || c == 0x037A ||
         (c >= 0x1D2C && c <= 0x1D6A) || c == 0x1D78 || (c >= 0x1D9B && c <= 0x1DBF) ||
         c == 0x2071 || c == 0x207F || (c >= 0x2090 && c <= 0x209C) ||
         (c >= 0x2170 && c <= 0x217F) || (c >= 0x24D0 && c <= 0x24E9) || c == 0x2C7C ||
         c == 0x2C7D || c == 0xA69C || c == 0xA69D || c == 0xA770 || c == 0xA7F8 || c == 0xA7F9 ||
         (c >= 0xAB5C && c <= 0xAB5F);
}

bool is_title(int32_t c) { return c >= 0x80 && category(c) == UTF8PROC_CATEGORY_LT; }

bool is_printable(int32_t c) {
  if (c < 0x80) return c >= 0x20 && c < 0x7F;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

bool is_identifier_start(int32_t c) {
  return c == '_' || is_alpha(c) || (c >= 0x80 && category(c) == UTF8PROC_CATEGORY_NL);
}

bool is_identifier_part(int32_t c) {
  return is_identifier_start(c) || is_decimal(c) ||
         (c >= 0x80 && (is_mark(c) || category(c) == UTF8PROC_CATEGORY_PC));
}

int32_t decimal_value(int32_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c < 0x80 || !is_decimal(c)) return -1;
  // Decimal digits come in runs of ten: count back to the zero.
  int32_t value = 0;
  while (value < 9 && is_decimal(c - value - 1)) ++value;
  if (c >= 0x1D7CE && c <= 0x1D7FF) return (c - 0x1D7CE) % 10;  // five runs side by side
  return value;
}

void append_case(std::string& out, int32_t c, Case to) {
  if (c < 0x80) {
    const bool is_letter = is_alpha(c);
    if (!is_letter) return out.push_back(static_cast<char>(c));
    return out.push_back(static_cast<char>(to == Case::kLower ? c | 0x20 : c & ~0x20));
  }
  if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return append_utf8(out, c);
  if (to == Case::kLower) {
    if (c == 0x130) return out.append("i\xCC\x87"), void();
    return append_utf8(out, utf8proc_tolower(c));
  }
  if (const LongCase* found = long_case(c)) {
    out.append(to == Case::kUpper ? found->upper : found->title);
    return;
  }
  append_utf8(out, to == Case::kUpper ? utf8proc_toupper(c) : utf8proc_totitle(c));
}

}  // namespace hearth::jinja
