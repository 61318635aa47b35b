#include "text/tokenizer/normal_forms.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "text/tokenizer/char_class.h"
#include "text/unicode.h"

namespace hearth::text {
namespace {

int combining_class(int32_t c) { return utf8proc_get_property(c)->combining_class; }

// utf8proc sorts marks by insertion, which is quadratic in a run of them; hence our own sort.
void sort_marks(std::vector<int32_t>& chars) {
  for (size_t i = 0; i < chars.size();) {
    if (combining_class(chars[i]) == 0) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < chars.size() && combining_class(chars[end]) != 0) ++end;
    if (end - i > 1) {
      std::stable_sort(
          chars.begin() + static_cast<int64_t>(i), chars.begin() + static_cast<int64_t>(end),
          [](int32_t a, int32_t b) { return combining_class(a) < combining_class(b); });
    }
    i = end;
  }
}

void append_normalized(std::string_view text, NormalForm form, std::vector<int32_t>& chars,
                       std::string& out) {
  const bool is_compatible = form == NormalForm::kNfkc || form == NormalForm::kNfkd;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE |
                                                      (is_compatible ? UTF8PROC_COMPAT : 0));
  chars.clear();
  std::array<utf8proc_int32_t, 64> buffer{};
  for (const char* p = text.data(); p < text.data() + text.size();) {
    const Decoded d = decode_utf8(p);
    p = d.next;
    int boundary = 0;
    const auto n =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(d.c), buffer.data(),
                                static_cast<utf8proc_ssize_t>(buffer.size()), options, &boundary);
    HEARTH_CHECK(n >= 0 && n <= static_cast<utf8proc_ssize_t>(buffer.size()));
    chars.insert(chars.end(), buffer.begin(), buffer.begin() + n);
  }
  sort_marks(chars);
  auto size = static_cast<utf8proc_ssize_t>(chars.size());
  if (form == NormalForm::kNfc || form == NormalForm::kNfkc) {
    size = utf8proc_normalize_utf32(
        chars.data(), size, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    HEARTH_CHECK(size >= 0);
  }
  for (utf8proc_ssize_t i = 0; i < size; ++i) {
    append_utf8(out, static_cast<char32_t>(chars[static_cast<size_t>(i)]));
  }
}

// Whether a character can be left alone when the one after it can, too.
bool is_inert(char32_t c, NormalForm form, const CharClasses& classes) {
  if (c < 0x80) return true;
  return form == NormalForm::kNfc && !classes.is(c, kNfcUnstable);
}

}  // namespace

bool is_surely_normal(std::string_view text, NormalForm form) {
  const CharClasses& classes = CharClasses::get();
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    uint64_t word = 0;
    if (end - p >= 8) {
      std::memcpy(&word, p, 8);
      if ((word & 0x8080808080808080ULL) == 0) {
        p += 8;
        continue;
      }
    }
    const Decoded d = decode_utf8(p);
    if (!is_inert(d.c, form, classes)) return false;
    p = d.next;
  }
  return true;
}

std::string to_normal_form(std::string_view text, NormalForm form) {
  const CharClasses& classes = CharClasses::get();
  std::string out;
  out.reserve(text.size());
  std::vector<int32_t> chars;
  const char* const end = text.data() + text.size();
  const char* done = text.data();    // everything before is in `out`
  const char* before = text.data();  // start of the character before p
  for (const char* p = text.data(); p < end;) {
    const Decoded d = decode_utf8(p);
    if (is_inert(d.c, form, classes)) {
      before = p;
      p = d.next;
      continue;
    }
    // The character before may combine with this one; the span ends before the next pair of inert characters'
    // border, that is, at the first inert character.
    const char* stop = d.next;
    while (stop < end) {
      const Decoded e = decode_utf8(stop);
      if (is_inert(e.c, form, classes)) break;
      stop = e.next;
    }
    out.append(done, before);
    append_normalized({before, static_cast<size_t>(stop - before)}, form, chars, out);
    done = stop;
    before = stop;
    p = stop;
  }
  out.append(done, end);
  return out;
}

}  // namespace hearth::text
