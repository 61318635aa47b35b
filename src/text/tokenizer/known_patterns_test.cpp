// Hand-written matchers against the regular expressions that they stand for.
#include "text/tokenizer/known_patterns.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "text/tokenizer/regex.h"
#include "text/unicode.h"

namespace hearth::text {
namespace {

// Characters of every class that the patterns tell apart, the common ones several times.
const std::vector<char32_t>& alphabet() {
  static const std::vector<char32_t> chars = {
      U'a',      U'b',          U's',      U't',      U'r',      U'e',          U'v',
      U'm',      U'l',          U'd',      U'A',      U'S',      U'T',          U'L',
      U'D',      U'\'',         U'\'',     U' ',      U' ',      U' ',          U'\n',
      U'\r',     U'\t',         U'\v',     U'\u00a0', U'\u2003', U'\u3000',     U'\u0085',
      U'\u2028', U'0',          U'7',      U'9',      U'\u00bd', U'\u0663',     U'\u2167',
      U'\u2460', U'.',          U',',      U'-',      U'/',      U'_',          U'(',
      U'#',      U'$',          U'+',      U'\u00ab', U'\u2014', U'\u3002',     U'\u20ac',
      U'\u2192', U'\U0001F600', U'\u0301', U'\u0903', U'\u20dd', U'\u00e9',     U'\u00c9',
      U'\u01c5', U'\u02b0',     U'\u4e2d', U'\u9fa5', U'\u3042', U'\u30ab',     U'\uac00',
      U'\u0e01', U'\u0e31',     U'\u017f', U'\u212a', U'\u0000', U'\u0007',     U'\u200b',
      U'\u200d', U'\ufeff',     U'\u00ad', U'\u180e', U'\ue000', U'\U000e0001', U'\ufffd',
      U'\u203f'};
  return chars;
}

std::string random_text(SplitMix64& random) {
  std::string text;
  const auto& chars = alphabet();
  const int64_t narrow = 1 + random.below(static_cast<int64_t>(chars.size()));
  for (int64_t n = random.below(24); n > 0; --n) {
    const int64_t i = random.below(3) == 0 ? random.below(static_cast<int64_t>(chars.size()))
                                           : random.below(narrow);
    append_utf8(text, chars[static_cast<size_t>(i)]);
  }
  return text;
}

TEST_CASE("every known pattern is recognised by its own text and by no other") {
  for (const KnownPattern known : known_patterns()) CHECK(recognise(pattern_text(known)) == known);
  CHECK(recognise("") == KnownPattern::kNone);
  CHECK(recognise(R"(\p{N}{1,4})") == KnownPattern::kNone);
}

TEST_CASE("hand-written matchers find what PCRE2 finds") {
  RegexScratch scratch;
  for (const KnownPattern known : known_patterns()) {
    CAPTURE(std::string(pattern_text(known)));
    const Regex regex(pattern_text(known), "test");
    SplitMix64 random(static_cast<uint64_t>(known) + 100);
    for (int round = 0; round < 6000; ++round) {
      const std::string text = random_text(random);
      CAPTURE(text);
      int64_t from = 0;
      while (true) {
        StepBudget budget{1'000'000};
        const auto want = scratch.find(regex, text, from, budget);
        const auto got = find_known(known, text, from);
        REQUIRE(got.has_value() == want.has_value());
        if (!got) break;
        REQUIRE(got->begin == want->begin);
        REQUIRE(got->end == want->end);
        from = got->end;
      }
    }
  }
}

TEST_CASE("patterns that cover a text leave no gap") {
  SplitMix64 random(5);
  for (const KnownPattern known : known_patterns()) {
    if (!covers_text(known)) continue;
    for (int round = 0; round < 500; ++round) {
      const std::string text = random_text(random);
      int64_t at = 0;
      while (at < static_cast<int64_t>(text.size())) {
        const auto found = find_known(known, text, at);
        REQUIRE(found);
        REQUIRE(found->begin == at);
        REQUIRE(found->end > at);
        at = found->end;
      }
    }
  }
}

}  // namespace
}  // namespace hearth::text
