#include "text/tokenizer/known_patterns.h"

#include <array>

#include "base/error.h"
#include "text/tokenizer/scanners.h"

namespace hearth::text {
namespace {

struct Entry {
  KnownPattern known;
  std::string_view text;
};

constexpr std::array kPatterns = {
    Entry{KnownPattern::kGpt2,
          R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
    Entry{KnownPattern::kCl100k,
          R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
          R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    Entry{KnownPattern::kQwen2, R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
                                R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    Entry{KnownPattern::kQwen35,
          R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|)"
          R"( ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    Entry{
        KnownPattern::kO200k,
        R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
        R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
        R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    Entry{KnownPattern::kDeepSeek, R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^)"
                                   "\r\n"
                                   R"(\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[)"
                                   "\r\n"
                                   R"(]*|\s*[)"
                                   "\r\n"
                                   R"(]+|\s+(?!\S)|\s+)"},
    Entry{KnownPattern::kDigits3, R"(\p{N}{1,3})"},
    Entry{KnownPattern::kDigit, R"(\p{N})"},
    Entry{KnownPattern::kCjkKana, "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"},
    Entry{KnownPattern::kCjkOld, "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"},
    Entry{KnownPattern::kNewline, "[\r\n]"},
    Entry{KnownPattern::kLetters, R"(\s?\p{L}+)"},
    Entry{KnownPattern::kPunctuations, R"(\s?\p{P}+)"},
    Entry{KnownPattern::kWords, R"(\w+|[^\w\s]+)"},
};

constexpr std::array kKnown = [] {
  std::array<KnownPattern, kPatterns.size()> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = kPatterns[i].known;
  return all;
}();

class Finder : ScannerBase {
 public:
  Finder(std::string_view text, int64_t from)
      : begin_(text.data()), from_(begin_ + from), end_(begin_ + text.size()) {}

  std::optional<TextRange> match(const char* b, const char* e) const {
    if (b == e) return std::nullopt;
    return TextRange{b - begin_, e - begin_};
  }

  template <class Scanner>
  std::optional<TextRange> covering(const Scanner& scanner) const {
    if (from_ == end_) return std::nullopt;
    return match(from_, scanner.next(from_, end_));
  }

  std::optional<TextRange> deep_seek() const {
    const DeepSeekScanner scanner;
    for (const char* p = from_; p < end_; p = at(p).next) {
      const char* const q = scanner.next(p, end_);
      if (q > p) return match(p, q);
    }
    return std::nullopt;
  }

  // \p{class}{1,most}
  std::optional<TextRange> run_of(uint16_t mask, int most) const {
    const char* const b = run_without(from_, end_, mask);
    const char* e = b;
    for (int i = 0; i < most && e < end_ && (at(e).cls & mask) != 0; ++i) e = at(e).next;
    return match(b, e);
  }

  // \s?\p{class}+
  std::optional<TextRange> spaced_run_of(uint16_t mask) const {
    const char* const b = run_without(from_, end_, mask);
    if (b == end_) return std::nullopt;
    const char* const e = run(b, end_, mask);
    if (b > from_ && (at(char_before(b)).cls & kSpace) != 0) return match(char_before(b), e);
    return match(b, e);
  }

  template <class Predicate>
  std::optional<TextRange> run_where(Predicate holds, bool is_single) const {
    const char* b = from_;
    while (b < end_ && !holds(decode_utf8(b).c)) b = decode_utf8(b).next;
    const char* e = b;
    while (e < end_ && holds(decode_utf8(e).c)) {
      e = decode_utf8(e).next;
      if (is_single) break;
    }
    return match(b, e);
  }

  std::optional<TextRange> words() const {
    const char* const b = run(from_, end_, kSpace);
    if (b == end_) return std::nullopt;
    return match(
        b, (at(b).cls & kWord) != 0 ? run(b, end_, kWord) : run_without(b, end_, kWord | kSpace));
  }

 private:
  const char* begin_;
  const char* from_;
  const char* end_;
};

bool is_cjk_or_kana(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FA5) || (c >= 0x3040 && c <= 0x30FF);
}

bool is_cjk_old(char32_t c) { return (c >= 0x0800 && c <= 0x9FA5) || (c >= 0xAC00 && c <= 0xD7FF); }

}  // namespace

KnownPattern recognise(std::string_view pattern) {
  for (const Entry& e : kPatterns) {
    if (e.text == pattern) return e.known;
  }
  return KnownPattern::kNone;
}

std::string_view pattern_text(KnownPattern known) {
  for (const Entry& e : kPatterns) {
    if (e.known == known) return e.text;
  }
  return {};
}

std::span<const KnownPattern> known_patterns() { return kKnown; }

std::optional<TextRange> find_known(KnownPattern known, std::string_view text, int64_t from) {
  const Finder f(text, from);
  switch (known) {
    case KnownPattern::kGpt2:
      return f.covering(Gpt2Scanner());
    case KnownPattern::kCl100k:
      return f.covering(Cl100kScanner<kLetter, 3>());
    case KnownPattern::kQwen2:
      return f.covering(Cl100kScanner<kLetter, 1>());
    case KnownPattern::kQwen35:
      return f.covering(Cl100kScanner<kLetter | kMark, 1>());
    case KnownPattern::kO200k:
      return f.covering(O200kScanner());
    case KnownPattern::kDeepSeek:
      return f.deep_seek();
    case KnownPattern::kDigits3:
      return f.run_of(kNumber, 3);
    case KnownPattern::kDigit:
      return f.run_of(kNumber, 1);
    case KnownPattern::kCjkKana:
      return f.run_where(is_cjk_or_kana, /*is_single=*/false);
    case KnownPattern::kCjkOld:
      return f.run_where(is_cjk_old, /*is_single=*/false);
    case KnownPattern::kNewline:
      return f.run_where([](char32_t c) { return c == '\r' || c == '\n'; }, /*is_single=*/true);
    case KnownPattern::kLetters:
      return f.spaced_run_of(kLetter);
    case KnownPattern::kPunctuations:
      return f.spaced_run_of(kPunctuation);
    case KnownPattern::kWords:
      return f.words();
    case KnownPattern::kNone:
      break;
  }
  HEARTH_CHECK(false, "find_known without a pattern");
  return std::nullopt;
}

}  // namespace hearth::text
