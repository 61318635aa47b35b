// Hand-written matchers for the pre-tokenizer patterns that most checkpoints share. Each `next(p, end)` returns the end
// of the match that its regular expression has at p (p < end, well-formed UTF-8, end = end of the text it may see), in
// time linear in what it reads. known_pattern_test.cpp holds them to PCRE2.
//
// Inline, because the encode loop is built around them.
#pragma once

#include "text/tokenizer/char_class.h"
#include "text/unicode.h"

namespace hearth::text {

class ScannerBase {
 public:
  ScannerBase() : classes_(CharClasses::get()), bytes_(classes_.bytes()) {}

 protected:
  struct Char {
    uint16_t cls;
    const char* next;
  };
  Char at(const char* p) const {
    const auto byte = static_cast<unsigned char>(*p);
    if (byte < 0x80) [[likely]]
      return {bytes_[byte], p + 1};
    const Decoded d = decode_utf8(p);
    return {classes_.of(d.c), d.next};
  }
  // The end of a run of characters with one of `mask`'s classes.
  const char* run(const char* p, const char* end, uint16_t mask) const {
    while (p < end) {
      const Char c = at(p);
      if ((c.cls & mask) == 0) break;
      p = c.next;
    }
    return p;
  }
  // The end of a run of characters with none of them.
  const char* run_without(const char* p, const char* end, uint16_t mask) const {
    while (p < end) {
      const Char c = at(p);
      if ((c.cls & mask) != 0) break;
      p = c.next;
    }
    return p;
  }
  static bool is_newline(char c) { return c == '\r' || c == '\n'; }
  static const char* newlines(const char* p, const char* end) {
    while (p < end && is_newline(*p)) ++p;
    return p;
  }
  static const char* char_before(const char* p) {
    --p;
    while ((static_cast<unsigned char>(*p) & 0xC0U) == 0x80) --p;
    return p;
  }
  // \s+(?!\S)|\s+ at p, where a space stands.
  const char* spaces(const char* p, const char* end) const {
    return give_back(p, run(p, end, kSpace), end);
  }
  // \s*[\r\n]+|\s+(?!\S)|\s+ at p, where a space stands.
  const char* spaces_or_lines(const char* p, const char* end) const {
    const char* const stop = run(p, end, kSpace);
    const char* last = stop;
    while (last > p && !is_newline(last[-1])) --last;
    if (last > p) return last;
    return give_back(p, stop, end);
  }
  // 's 't 're 've 'm 'll 'd, in small letters only, at p where an apostrophe stands; p when there is none.
  static const char* contraction(const char* p, const char* end) {
    if (end - p < 2) return p;
    const char a = p[1];
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return p + 2;
    return long_contraction(p, end, a, end - p > 2 ? p[2] : '\0');
  }
  // The same in either case; U+017F is a small s, too.
  static const char* any_case_contraction(const char* p, const char* end) {
    if (end - p < 2) return p;
    const char a = lower(p[1]);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return p + 2;
    if (end - p > 2 && p[1] == '\xC5' && p[2] == '\xBF') return p + 3;
    return long_contraction(p, end, a, end - p > 2 ? lower(p[2]) : '\0');
  }

 private:
  // A run of spaces before something else leaves its last character to it, if it has another.
  static const char* give_back(const char* p, const char* stop, const char* end) {
    if (stop == end) return stop;
    const char* const last = char_before(stop);
    return last > p ? last : stop;
  }
  static char lower(char c) { return static_cast<char>(c | 0x20); }
  static const char* long_contraction(const char* p, const char* end, char a, char b) {
    if (end - p < 3) return p;
    const bool is_one = (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l');
    return is_one ? p + 3 : p;
  }

  const CharClasses& classes_;
  const uint16_t* bytes_;
};

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
class Gpt2Scanner : ScannerBase {
 public:
  const char* next(const char* p, const char* end) const {
    if (*p == '\'') {
      const char* const q = contraction(p, end);
      if (q > p) return q;
    }
    const char* const body = (*p == ' ' && end - p > 1) ? p + 1 : p;
    const Char c = at(body);
    if ((c.cls & kLetter) != 0) return run(c.next, end, kLetter);
    if ((c.cls & kNumber) != 0) return run(c.next, end, kNumber);
    if ((c.cls & kSpace) == 0) return run_without(c.next, end, kSpace | kLetter | kNumber);
    return spaces(p, end);
  }
};

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?W+|\p{N}{1,D}| ?[^\sW\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
// with W = \p{L}, or [\p{L}\p{M}].
template <uint16_t kWordMask, int kMaxDigits>
class Cl100kScanner : ScannerBase {
 public:
  const char* next(const char* p, const char* end) const {
    if (*p == '\'') {
      const char* const q = any_case_contraction(p, end);
      if (q > p) return q;
    }
    const Char c = at(p);
    if ((c.cls & kWordMask) != 0) return run(c.next, end, kWordMask);
    if ((c.cls & kNumber) != 0) {
      const char* q = c.next;
      for (int i = 1; i < kMaxDigits && q < end; ++i) {
        const Char d = at(q);
        if ((d.cls & kNumber) == 0) break;
        q = d.next;
      }
      return q;
    }
    if (!is_newline(*p) && c.next < end) {
      const Char d = at(c.next);
      if ((d.cls & kWordMask) != 0) return run(d.next, end, kWordMask);
      if (*p == ' ' && (d.cls & (kSpace | kWordMask | kNumber)) == 0) return symbols(d.next, end);
    }
    if ((c.cls & kSpace) == 0) return symbols(c.next, end);
    return spaces_or_lines(p, end);
  }

 private:
  const char* symbols(const char* p, const char* end) const {
    return newlines(run_without(p, end, kSpace | kWordMask | kNumber), end);
  }
};

// o200k (GPT-4o, gpt-oss) and Mistral's Tekken: words split where a small letter is followed by a capital; see known_patterns.cpp.
template <bool kContractions, int kMaxDigits>
class O200kScanner : ScannerBase {
 public:
  const char* next(const char* p, const char* end) const {
    const Char c = at(p);
    const bool is_prefix = !is_newline(*p) && (c.cls & (kLetter | kNumber)) == 0;
    if (is_prefix && c.next < end) {
      const char* const q = word(c.next, end);
      if (q > c.next) {
        // [U]*[W]+ without the prefix comes before [U]+[W]* with it; a mark can begin either.
        if ((c.cls & kMark) != 0 && !has_lower(c.next, q)) return suffix(c.next, end);
        return suffix(q, end);
      }
    }
    if ((c.cls & (kUpper | kLower)) != 0) return suffix(word(p, end), end);
    if ((c.cls & kNumber) != 0) {
      const char* q = c.next;
      for (int i = 1; i < kMaxDigits && q < end; ++i) {
        const Char d = at(q);
        if ((d.cls & kNumber) == 0) break;
        q = d.next;
      }
      return q;
    }
    if (*p == ' ' && c.next < end) {
      const Char d = at(c.next);
      if ((d.cls & (kSpace | kLetter | kNumber)) == 0) return symbols(d.next, end);
    }
    if ((c.cls & kSpace) == 0) return symbols(c.next, end);
    return spaces_or_lines(p, end);
  }

 private:
  // [U]*[W]+ at p, or else [U]+[W]*; p when neither matches.
  const char* word(const char* p, const char* end) const {
    const char* q = p;
    const char* after_lower = p;  // end of the last character of the run that is in W as well
    while (q < end) {
      const Char c = at(q);
      if ((c.cls & kUpper) == 0) break;
      q = c.next;
      if ((c.cls & kLower) != 0) after_lower = q;
    }
    const char* const stop = run(q, end, kLower);
    if (stop > q) return stop;
    return after_lower > p ? after_lower : q;
  }
  bool has_lower(const char* p, const char* end) const {
    while (p < end) {
      const Char c = at(p);
      if ((c.cls & kLower) != 0) return true;
      p = c.next;
    }
    return false;
  }
  static const char* suffix(const char* p, const char* end) {
    return kContractions && p < end && *p == '\'' ? any_case_contraction(p, end) : p;
  }
  const char* symbols(const char* p, const char* end) const {
    const char* q = run_without(p, end, kSpace | kLetter | kNumber);
    while (q < end && (is_newline(*q) || *q == '/')) ++q;
    return q;
  }
};

// The last pattern of DeepSeek V3; characters that no branch takes (digits, controls) are a piece of their own: see
// known_patterns.cpp. next() returns p there.
class DeepSeekScanner : ScannerBase {
 public:
  const char* next(const char* p, const char* end) const {
    const auto byte = static_cast<unsigned char>(*p);
    if (is_ascii_punctuation(byte) && end - p > 1 && is_ascii_letter(p[1])) {
      const char* q = p + 2;
      while (q < end && is_ascii_letter(*q)) ++q;
      return q;
    }
    const Char c = at(p);
    if ((c.cls & (kLetter | kMark)) != 0) return run(c.next, end, kLetter | kMark);
    if (!is_newline(*p) && (c.cls & (kPunctuation | kSymbol)) == 0 && c.next < end) {
      const Char d = at(c.next);
      if ((d.cls & (kLetter | kMark)) != 0) return run(d.next, end, kLetter | kMark);
      if (*p == ' ' && (d.cls & (kPunctuation | kSymbol)) != 0) return symbols(d.next, end);
    }
    if ((c.cls & (kPunctuation | kSymbol)) != 0) return symbols(c.next, end);
    if ((c.cls & kSpace) != 0) return spaces_or_lines(p, end);
    return p;
  }

 private:
  static bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  const char* symbols(const char* p, const char* end) const {
    return newlines(run(p, end, kPunctuation | kSymbol), end);
  }
};

}  // namespace hearth::text
