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
    Entry{KnownPattern::kTekken,
          R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
          R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
          R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
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

struct Span {
  const char* begin;
  const char* end;  // = begin: none
};

// Each method finds the first match beginning at p or later, p <= end.
class Finder : ScannerBase {
 public:
  Span deep_seek(const char* p, const char* end) const {
    for (; p < end; p = at(p).next) {
      const char* const q = deep_seek_.next(p, end);
      if (q > p) return {p, q};
    }
    return {end, end};
  }

  // \p{class}{1,most}
  Span run_of(const char* p, const char* end, uint16_t mask, int most) const {
    const char* const b = run_without(p, end, mask);
    const char* e = b;
    for (int i = 0; i < most && e < end && (at(e).cls & mask) != 0; ++i) e = at(e).next;
    return {b, e};
  }

  // \s?\p{class}+
  Span spaced_run_of(const char* p, const char* end, uint16_t mask) const {
    const char* b = run_without(p, end, mask);
    const char* const e = run(b, end, mask);
    if (b < e && b > p && (at(char_before(b)).cls & kSpace) != 0) b = char_before(b);
    return {b, e};
  }

  template <class Predicate>
  Span run_where(const char* p, const char* end, Predicate holds, bool is_single) const {
    while (p < end && !holds(decode_utf8(p).c)) p = decode_utf8(p).next;
    const char* e = p;
    while (e < end && holds(decode_utf8(e).c)) {
      e = decode_utf8(e).next;
      if (is_single) break;
    }
    return {p, e};
  }

  Span words(const char* p, const char* end) const {
    const char* const b = run(p, end, kSpace);
    if (b == end) return {end, end};
    return {b, (at(b).cls & kWord) != 0 ? run(b, end, kWord) : run_without(b, end, kWord | kSpace)};
  }

 private:
  DeepSeekScanner deep_seek_;
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

namespace {

// Calls `use` with the pattern's way to find a match: Span find(p, end).
template <class Use>
void with_finder(KnownPattern known, Use use) {
  const auto covering = [&](const auto& scanner) {
    use([&scanner](const char* p, const char* end) {
      return Span{p, p < end ? scanner.next(p, end) : p};
    });
  };
  const Finder f;
  switch (known) {
    case KnownPattern::kGpt2:
      return covering(Gpt2Scanner());
    case KnownPattern::kCl100k:
      return covering(Cl100kScanner<kLetter, 3>());
    case KnownPattern::kQwen2:
      return covering(Cl100kScanner<kLetter, 1>());
    case KnownPattern::kQwen35:
      return covering(Cl100kScanner<kLetter | kMark, 1>());
    case KnownPattern::kO200k:
      return covering(O200kScanner<true, 3>());
    case KnownPattern::kTekken:
      return covering(O200kScanner<false, 1>());
    case KnownPattern::kDeepSeek:
      return use([&f](const char* p, const char* end) { return f.deep_seek(p, end); });
    case KnownPattern::kDigits3:
      return use([&f](const char* p, const char* end) { return f.run_of(p, end, kNumber, 3); });
    case KnownPattern::kDigit:
      return use([&f](const char* p, const char* end) { return f.run_of(p, end, kNumber, 1); });
    case KnownPattern::kCjkKana:
      return use([&f](const char* p, const char* end) {
        return f.run_where(p, end, is_cjk_or_kana, /*is_single=*/false);
      });
    case KnownPattern::kCjkOld:
      return use([&f](const char* p, const char* end) {
        return f.run_where(p, end, is_cjk_old, /*is_single=*/false);
      });
    case KnownPattern::kNewline:
      return use([&f](const char* p, const char* end) {
        return f.run_where(
            p, end, [](char32_t c) { return c == '\r' || c == '\n'; }, /*is_single=*/true);
      });
    case KnownPattern::kLetters:
      return use([&f](const char* p, const char* end) { return f.spaced_run_of(p, end, kLetter); });
    case KnownPattern::kPunctuations:
      return use(
          [&f](const char* p, const char* end) { return f.spaced_run_of(p, end, kPunctuation); });
    case KnownPattern::kWords:
      return use([&f](const char* p, const char* end) { return f.words(p, end); });
    case KnownPattern::kNone:
      break;
  }
  HEARTH_CHECK(false, "find_known without a pattern");
}

}  // namespace

std::optional<TextRange> find_known(KnownPattern known, std::string_view text, int64_t from) {
  std::optional<TextRange> found;
  const char* const begin = text.data();
  with_finder(known, [&](const auto& find) {
    const Span match = find(begin + from, begin + text.size());
    if (match.begin < match.end) found = TextRange{match.begin - begin, match.end - begin};
  });
  return found;
}

void isolate_known(KnownPattern known, std::string_view text, std::span<const TextRange> ranges,
                   std::vector<TextRange>& out, function_ref<void()> flush) {
  const char* const base = text.data();
  with_finder(known, [&](const auto& find) {
    for (const TextRange r : ranges) {
      const char* const end = base + r.end;
      const char* done = base + r.begin;
      while (done < end) {
        const Span match = find(done, end);
        if (match.begin == match.end) break;
        if (match.begin > done) out.push_back({done - base, match.begin - base});
        out.push_back({match.begin - base, match.end - base});
        done = match.end;
        if (out.size() >= kPieceBatch) flush();
      }
      if (done < end) out.push_back({done - base, r.end});
      if (out.size() >= kPieceBatch) flush();
    }
  });
}

}  // namespace hearth::text
