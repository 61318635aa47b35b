#include "text/unicode.h"

#include <doctest/doctest.h>

#include <iterator>
#include <string>

#include "base/random.h"

namespace hearth::text {
namespace {

TEST_CASE("well-formed UTF-8 is told from broken") {
  CHECK(is_valid_utf8(""));
  CHECK(is_valid_utf8("plain ascii, longer than eight bytes"));
  CHECK(is_valid_utf8("\u00e9\u4e2d\U0001F600"));
  CHECK(valid_utf8_prefix("abc\xFF") == 3);
  CHECK(valid_utf8_prefix("\xC0\x80") == 0);          // overlong
  CHECK(valid_utf8_prefix("\xED\xA0\x80") == 0);      // surrogate
  CHECK(valid_utf8_prefix("\xF4\x90\x80\x80") == 0);  // above U+10FFFF
  CHECK(valid_utf8_prefix("x\xE4\xB8") == 1);         // cut off
  CHECK(valid_utf8_prefix("\xF5\x80\x80\x80") == 0);
}

TEST_CASE("each maximal broken part becomes one U+FFFD") {
  const std::string r = "\uFFFD";
  CHECK(to_valid_utf8("a\xFF"
                      "b") == "a" + r + "b");
  CHECK(to_valid_utf8("\xE4\xB8") == r);
  CHECK(to_valid_utf8("\xE4\xB8"
                      "A") == r + "A");
  CHECK(to_valid_utf8("\xF0\x9F\x98"
                      "\xF0\x9F\x98\x80") == r + "\U0001F600");
  CHECK(to_valid_utf8("\xC0\xAF") == r + r);
  CHECK(to_valid_utf8("\xED\xA0\x80") == r + r + r);
  CHECK(to_valid_utf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41") ==
        r + r + r + r + "A");  // Unicode 15, table 3-8
}

TEST_CASE("characters survive encoding and decoding") {
  for (const char32_t c :
       {U'a', U'\u00e9', U'\u07ff', U'\u0800', U'\uffff', U'\U00010000', U'\U0010ffff'}) {
    std::string s;
    append_utf8(s, c);
    CHECK(is_valid_utf8(s));
    const Decoded d = decode_utf8(s.data());
    CHECK(d.c == c);
    CHECK(d.next == s.data() + s.size());
  }
}

TEST_CASE("joined pieces of any cut equal the whole repaired text") {
  SplitMix64 random(7);
  constexpr std::string_view kBytes = "ab\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80\xFF\x80\xED";
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (int64_t n = random.below(20); n > 0; --n)
      bytes += kBytes[static_cast<size_t>(random.below(std::ssize(kBytes)))];
    std::string joined;
    Utf8Joiner joiner;
    for (size_t at = 0; at < bytes.size();) {
      const auto n = static_cast<size_t>(1 + random.below(4));
      const std::string before = joined;
      joiner.push(std::string_view(bytes).substr(at, n), joined);
      CHECK(is_valid_utf8(joined));
      at += n;
    }
    joiner.finish(joined);
    CHECK(joined == to_valid_utf8(bytes));
  }
}

}  // namespace
}  // namespace hearth::text
