#include "text/tokenizer/normalizer.h"

#include <doctest/doctest.h>

#include <string>

#include "support/error_of.h"
#include "text/tokenizer/normal_forms.h"
#include "text/unicode.h"

namespace hearth::text {
namespace {

std::string run(const std::string& json, std::string_view text) {
  const Normalizer normalizer(Json::parse(json), "normalizer");
  RegexScratch scratch;
  StepBudget budget{1'000'000};
  std::string buffer;
  return std::string(normalizer.run(text, buffer, scratch, budget));
}

TEST_CASE("the four normal forms") {
  const std::string text =
      "A\u030A \uFB01 \uAC01 \u1100\u1161\u11A8 \u212B e\u0323\u0302 \u0958 1\u2075";
  CHECK(run(R"({"type":"NFC"})", text) ==
        "\u00C5 \uFB01 \uAC01 \uAC01 \u00C5 \u1EC7 \u0915\u093C 1\u2075");
  CHECK(run(R"({"type":"NFD"})", "\u00C5\uAC01\uFB01") == "A\u030A\u1100\u1161\u11A8\uFB01");
  CHECK(run(R"({"type":"NFKC"})", "\uFB01 \uFF21 \u2075 \u2460") == "fi A 5 1");
  CHECK(run(R"({"type":"NFKD"})", "\u00E9\uFB01") == "e\u0301fi");
}

TEST_CASE("marks are ordered by class, and a long run of them takes no quadratic time") {
  CHECK(to_normal_form("a\u0301\u0323", NormalForm::kNfd) == "a\u0323\u0301");
  CHECK(to_normal_form("a\u0301\u0323", NormalForm::kNfc) == "\u1EA1\u0301");
  std::string run_of_marks = "a";
  for (int i = 0; i < 400'000; ++i) run_of_marks += i % 2 == 0 ? "\u0301" : "\u0323";
  const std::string out = to_normal_form(run_of_marks, NormalForm::kNfc);
  CHECK(out.starts_with("\u1EA1\u0323"));
  CHECK(out.ends_with("\u0301"));
}

TEST_CASE("NFC leaves alone what is composed and changes only what is not") {
  CHECK(to_normal_form("", NormalForm::kNfc).empty());
  CHECK(to_normal_form("\u00E9\u0301x", NormalForm::kNfc) == "\u00E9\u0301x");
  CHECK(to_normal_form("x\u0301", NormalForm::kNfc) == "x\u0301");
  CHECK(to_normal_form("\u0301e\u0301", NormalForm::kNfc) == "\u0301\u00E9");
}

TEST_CASE("small steps do what their names say") {
  CHECK(run(R"({"type":"Lowercase"})", "ÀΣİß Ⅷ") == "àσi\u0307ß ⅷ");
  CHECK(run(R"({"type":"Strip","strip_left":true,"strip_right":false})", "\u00A0 a ") == "a ");
  CHECK(run(R"({"type":"Strip","strip_left":true,"strip_right":true})", " \n ") == "");
  CHECK(run(R"({"type":"StripAccents"})", "e\u0301x\u0903") == "ex");
  CHECK(run(R"({"type":"Prepend","prepend":"\u2581"})", "a") == "\u2581a");
  CHECK(run(R"({"type":"Prepend","prepend":"\u2581"})", "") == "");
  CHECK(run(R"({"type":"Replace","pattern":{"String":" "},"content":"\u2581"})", " a  b") ==
        "\u2581a\u2581\u2581b");
  CHECK(run(R"({"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "})", "a   b c") ==
        "a b c");
  CHECK(run(R"({"type":"Replace","pattern":{"Regex":"x*"},"content":"-"})", "abc") == "-a-b-c-");
  CHECK(run(R"({"type":"Nmt"})", "a\u0001\u200Bb\u007F\tc") == "a b c");
  CHECK(run(R"({"type":"ByteLevel"})", "a \u00e9") == "aĠÃ©");
  CHECK(
      run(R"({"type":"Sequence","normalizers":[{"type":"NFD"},{"type":"StripAccents"},{"type":"Lowercase"}]})",
          "ÉÀ") == "ea");
}

TEST_CASE("BertNormalizer cleans, spaces ideographs, strips accents and lowers") {
  const std::string all =
      R"({"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true})";
  CHECK(run(all, std::string("H\u00E9\u0000llo\t\uFFFD\u4E2D\u6587\u200B!", 22)) ==
        run(all, "Hello\t\u4E2D\u6587!"));
  CHECK(run(all, "A\u4E2Db") == "a \u4E2D b");
  const std::string cased =
      R"({"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":false,"strip_accents":null,"lowercase":false})";
  CHECK(run(cased, "\u00C9\u4E2D") == "\u00C9\u4E2D");
}

TEST_CASE("unknown and broken normalizers are refused by name") {
  CHECK(test_support::message_of([] { run(R"({"type":"Rot13"})", "a"); }) ==
        doctest::Contains("normalizer.type is \"Rot13\""));
  CHECK(
      test_support::message_of([] {
        run(R"({"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Replace","pattern":{"Regex":"("}}]})",
            "a");
      }) == doctest::Contains("normalizer.normalizers[1]"));
  CHECK(test_support::message_of([] {
          run(R"({"type":"Precompiled","precompiled_charsmap":"!"})", "a");
        }) == doctest::Contains("base64"));
  CHECK(test_support::message_of([] {
          run(R"({"type":"Precompiled","precompiled_charsmap":"/////w=="})", "a");
        }) == doctest::Contains("names a trie of"));
  // Each step sixty times the text: refused before memory is.
  CHECK(test_support::message_of([] {
          const std::string step = R"({"type":"Replace","pattern":{"String":"a"},"content":")" +
                                   std::string(60, 'a') + "\"}";
          std::string list = step;
          for (int i = 0; i < 9; ++i) list += "," + step;
          run(R"({"type":"Sequence","normalizers":[)" + list + "]}", "aaaaaaaa");
        }) == doctest::Contains("too long"));
}

}  // namespace
}  // namespace hearth::text
