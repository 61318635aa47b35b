#include "text/tokenizer/pre_tokenizer.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/error_of.h"

namespace hearth::text {
namespace {

using Words = std::vector<std::string>;

Words run(const std::string& json, std::string_view text, bool at_start = true) {
  const PreTokenizer pre(Json::parse(json), "pre_tokenizer");
  Pieces pieces;
  StepBudget budget{1'000'000};
  Words words;
  pre.run(text, at_start, pieces, budget,
          [&](std::string_view all, std::span<const TextRange> ranges) {
            for (const TextRange r : ranges) {
              words.emplace_back(
                  all.substr(static_cast<size_t>(r.begin), static_cast<size_t>(r.end - r.begin)));
            }
          });
  return words;
}

std::string split(const char* behavior, const char* invert = "false",
                  const char* pattern = R"({"String":"-"})") {
  return std::string(R"({"type":"Split","pattern":)") + pattern + R"(,"behavior":")" + behavior +
         R"(","invert":)" + invert + "}";
}

TEST_CASE("a split keeps, drops or attaches what it finds") {
  const std::string text = "the-final--countdown";
  CHECK(run(split("Removed"), text) == Words{"the", "final", "countdown"});
  CHECK(run(split("Isolated"), text) == Words{"the", "-", "final", "-", "-", "countdown"});
  CHECK(run(split("MergedWithPrevious"), text) == Words{"the-", "final-", "-", "countdown"});
  CHECK(run(split("MergedWithNext"), text) == Words{"the", "-final", "-", "-countdown"});
  CHECK(run(split("Contiguous"), text) == Words{"the", "-", "final", "--", "countdown"});
  CHECK(run(split("Removed", "true"), text) == Words{"-", "-", "-"});
  CHECK(run(split("Isolated"), "---") == Words{"-", "-", "-"});
  CHECK(run(split("MergedWithNext"), "a-") == Words{"a", "-"});
  CHECK(run(split("Isolated", "false", R"x({"Regex":"(?=b)"})x"), "aabab") ==
        Words{"aa", "ba", "b"});
  CHECK(run(split("Removed"), "").empty());
}

TEST_CASE("an unknown regular expression goes through PCRE2 with Oniguruma's classes") {
  CHECK(run(split("Isolated", "false", R"({"Regex":"\\w+"})"), "a\u0301_1 \u203F!") ==
        Words{"a\u0301_1", " ", "\u203F", "!"});
  CHECK(run(split("Removed", "false", R"({"Regex":"\\s+"})"), "a\u180Eb\u2003c") ==
        Words{"a\u180Eb", "c"});
  CHECK(run(split("Removed", "true", R"({"Regex":"[a-c[x-z]]+"})"), "abzq") == Words{"abz"});
}

TEST_CASE("simple pre-tokenizers cut as the reference does") {
  CHECK(run(R"({"type":"Whitespace"})", "Hey man! ok_1") == Words{"Hey", "man", "!", "ok_1"});
  CHECK(run(R"({"type":"WhitespaceSplit"})", "Hey man!\n x") == Words{"Hey", "man!", "x"});
  CHECK(run(R"({"type":"BertPreTokenizer"})", "I'm a\u2014b $5") ==
        Words{"I", "'", "m", "a", "\u2014", "b", "$", "5"});
  CHECK(run(R"({"type":"Digits","individual_digits":false})", "a12\u00BDb") ==
        Words{"a", "12\u00BD", "b"});
  CHECK(run(R"({"type":"Digits","individual_digits":true})", "a12\u00BDb") ==
        Words{"a", "1", "2", "\u00BD", "b"});
  CHECK(run(R"({"type":"Punctuation"})", "a,.b") == Words{"a", ",", ".", "b"});
  CHECK(run(R"({"type":"Punctuation","behavior":"Contiguous"})", "a,.b") == Words{"a", ",.", "b"});
  CHECK(run(R"({"type":"CharDelimiterSplit","delimiter":"|"})", "a|b||c") == Words{"a", "b", "c"});
  CHECK(run(R"({"type":"UnicodeScripts"})", "\u3069\u3053\u3067\u751F. Yes") ==
        Words{"\u3069\u3053\u3067\u751F", ". ", "Yes"});
}

TEST_CASE("Metaspace marks spaces and prepends where told") {
  const auto meta = [](const char* scheme, const char* cut = "true") {
    return std::string(R"({"type":"Metaspace","replacement":"▁","prepend_scheme":")") + scheme +
           R"(","split":)" + cut + "}";
  };
  CHECK(run(meta("always"), "Hey  you") == Words{"▁Hey", "▁", "▁you"});
  CHECK(run(meta("never"), "Hey you") == Words{"Hey", "▁you"});
  CHECK(run(meta("first"), "Hey you", true) == Words{"▁Hey", "▁you"});
  CHECK(run(meta("first"), "Hey you", false) == Words{"Hey", "▁you"});
  CHECK(run(meta("always", "false"), "Hey you") == Words{"▁Hey▁you"});
  CHECK(run(meta("always"), " Hey") == Words{"▁Hey"});
  CHECK(run(R"({"type":"Metaspace","replacement":"▁","add_prefix_space":false})", "Hey") ==
        Words{"Hey"});
}

TEST_CASE("ByteLevel cuts with GPT-2's pattern and writes bytes as stand-ins") {
  CHECK(run(R"({"type":"ByteLevel","add_prefix_space":true,"use_regex":true})", "Hello my\n") ==
        Words{"ĠHello", "Ġmy", "Ċ"});
  CHECK(run(R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false})", "a \u00e9") ==
        Words{"aĠÃ©"});
  // Falcon's order: later steps see the stand-ins.
  CHECK(run(R"({"type":"Sequence","pretokenizers":[{"type":"ByteLevel","add_prefix_space":false},
               {"type":"Digits","individual_digits":false}]})",
            "a1 12") == Words{"a", "1", "Ġ", "12"});
  for (int b = 0; b < 256; ++b)
    CHECK(byte_of_stand_in(byte_stand_in(static_cast<unsigned char>(b))) == b);
  CHECK(byte_of_stand_in(U'\u4e2d') == -1);
}

TEST_CASE("the patterns of well-known checkpoints run in the fused loop") {
  const auto sequence = [](KnownPattern known, const char* behavior, const char* invert) {
    Json pattern = Json::object();
    pattern.set("Regex", Json(pattern_text(known)));
    PreTokenizer pre(
        Json::parse(R"({"type":"Sequence","pretokenizers":[)" +
                    split(behavior, invert, pattern.dump().c_str()) +
                    R"(,{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]})"),
        "pre_tokenizer");
    pre.take_bytes();
    return pre.single_pattern();
  };
  CHECK(sequence(KnownPattern::kCl100k, "Isolated", "false") == KnownPattern::kCl100k);
  CHECK(sequence(KnownPattern::kQwen2, "Isolated", "false") == KnownPattern::kQwen2);
  CHECK(sequence(KnownPattern::kO200k, "Removed", "true") == KnownPattern::kO200k);
  CHECK(sequence(KnownPattern::kO200k, "Removed", "false") == KnownPattern::kNone);
  CHECK(sequence(KnownPattern::kDigits3, "Isolated", "false") == KnownPattern::kNone);
}

TEST_CASE("batches of pieces join to the same as one piece at a time") {
  std::string text;
  Words want;
  for (int i = 0; i < 20'000; ++i) {
    text += i % 3 == 0 ? "ab1 " : "-2c\n";
    const Words part = i % 3 == 0 ? Words{"ab", "1", " "} : Words{"-", "2", "c", "\n"};
    want.insert(want.end(), part.begin(), part.end());
  }
  CHECK(run(R"({"type":"Sequence","pretokenizers":[
      {"type":"Split","pattern":{"Regex":"[\\r\\n]"},"behavior":"Isolated","invert":false},
      {"type":"Split","pattern":{"String":" "},"behavior":"Isolated","invert":false},
      {"type":"Split","pattern":{"Regex":"\\s?\\p{L}+"},"behavior":"Isolated","invert":false},
      {"type":"Punctuation"},{"type":"Digits","individual_digits":true}]})",
            text) == want);
}

TEST_CASE("a hostile regular expression ends in an error") {
  const std::string text(400, 'a');
  CHECK(test_support::message_of([&] {
          run(split("Isolated", "false", R"({"Regex":"(?:a|aa)+[bc]"})"), text);
        }) == doctest::Contains("resource_exhausted: pre_tokenizer"));
  CHECK(test_support::message_of([] {
          run(split("Isolated", "false", R"({"Regex":"["})"), "a");
        }) == doctest::Contains("corrupt_data: pre_tokenizer"));
  CHECK(test_support::message_of([] {
          run(split("Isolated", "false", R"({"Regex":"[a&&[^b]]"})"), "a");
        }) == doctest::Contains("unsupported: pre_tokenizer"));
  CHECK(test_support::message_of([] { run(split("Sideways"), "a"); }) ==
        doctest::Contains("behavior"));
  CHECK(test_support::message_of([] { run(R"({"type":"Nope"})", "a"); }) ==
        doctest::Contains("\"Nope\""));
}

TEST_CASE("pre-tokenizers that multiply the text are stopped") {
  std::string list = R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false})";
  for (int i = 0; i < 40; ++i)
    list += R"(,{"type":"ByteLevel","add_prefix_space":false,"use_regex":false})";
  CHECK(test_support::message_of([&] {
          run(R"({"type":"Sequence","pretokenizers":[)" + list + "]}", "\u4e2d\u4e2d\u4e2d");
        }) == doctest::Contains("too long"));
}

}  // namespace
}  // namespace hearth::text
