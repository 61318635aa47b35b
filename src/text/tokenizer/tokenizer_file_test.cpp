#include "text/tokenizer/tokenizer_file.h"

#include <doctest/doctest.h>

#include <string>

#include "support/error_of.h"
#include "text/tokenizer.h"

namespace hearth::text {
namespace {

std::string bpe(const std::string& vocab, const std::string& merges, const std::string& more = "") {
  return R"({"added_tokens":[],"normalizer":null,"pre_tokenizer":null,"post_processor":null,"decoder":null,
    "model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,)" +
         more + R"("vocab":)" + vocab + R"(,"merges":)" + merges + "}}";
}

doctest::String refusal(const std::string& json) {
  return test_support::message_of([&] { Tokenizer::parse(json, "", "file.json"); });
}

TEST_CASE("both forms of merges mean the same") {
  const TokenizerFile a = read_tokenizer_file(bpe(R"({"a":0,"b":1,"ab":2})", R"(["a b"])"), "t");
  const TokenizerFile b =
      read_tokenizer_file(bpe(R"({"a":0,"b":1,"ab":2})", R"([["a","b"]])"), "t");
  REQUIRE(a.model.merges.size() == 1);
  REQUIRE(b.model.merges.size() == 1);
  for (const auto& m : {a.model.merges[0], b.model.merges[0]}) {
    CHECK(m.left == 0);
    CHECK(m.right == 1);
    CHECK(m.product == 2);
  }
}

TEST_CASE("fields may come in any order") {
  const TokenizerFile f = read_tokenizer_file(
      R"({"model":{"merges":["a ##b"],"vocab":{"##b":1,"a":0,"ab":2},"continuing_subword_prefix":"##","type":"BPE"},
          "decoder":{"type":"Fuse"},"added_tokens":null})",
      "t");
  REQUIRE(f.model.merges.size() == 1);
  CHECK(f.model.merges[0].product == 2);
  CHECK(f.decoder.is_object());
}

TEST_CASE("a broken file is refused with its name and the field") {
  CHECK(refusal("") == doctest::Contains("corrupt_data: file.json"));
  CHECK(refusal("{") == doctest::Contains("file.json"));
  CHECK(refusal("[]") == doctest::Contains("file.json"));
  CHECK(refusal("{}") == doctest::Contains("file.json: model: is missing"));
  CHECK(refusal(R"({"model":5})") == doctest::Contains("file.json: model"));
  CHECK(refusal("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"\xFF\":0},\"merges\":[]}}") ==
        doctest::Contains("file.json"));
  CHECK(refusal(R"({"model":{"type":"Quantum","vocab":{}}})") ==
        doctest::Contains("unsupported: file.json: model.type is \"Quantum\"; supported are BPE"));
  CHECK(refusal(R"({"model":{"type":"BPE","merges":[]}})") ==
        doctest::Contains("model.vocab: is missing"));
  CHECK(refusal(R"({"model":{"type":"BPE","vocab":{}}})") ==
        doctest::Contains("model.merges: is missing"));
  CHECK(refusal(R"({"model":{"type":"BPE","vocab":[["a",0.0]],"merges":[]}})") ==
        doctest::Contains("model.vocab"));
  CHECK(refusal(R"({"model":{"type":"Unigram","vocab":[["a"]]}})") ==
        doctest::Contains("model.vocab"));
  CHECK(refusal(R"({"model":{"type":"Unigram","vocab":[["a",1.0]],"unk_id":7}})") ==
        doctest::Contains("model.unk_id"));
  CHECK(refusal(R"({"model":{"type":"WordLevel","vocab":{"a":0},"unk_token":"<unk>"}})") ==
        doctest::Contains("model.unk_token"));
  CHECK(refusal(bpe(R"({"a":0})", "[]", R"("dropout":0.1,)")) ==
        doctest::Contains("unsupported: file.json: model.dropout"));
  CHECK(refusal(
            R"({"pre_tokenizer":{"type":"Nope"},"model":{"type":"BPE","vocab":{},"merges":[]}})") ==
        doctest::Contains("file.json: pre_tokenizer"));
  CHECK(refusal(R"({"post_processor":{"type":"BertProcessing","sep":["x",9],"cls":["y",8]},
                    "model":{"type":"BPE","vocab":{"a":0},"merges":[]}})") ==
        doctest::Contains("file.json: post_processor"));
}

TEST_CASE("ids that are negative, repeated, fractional or too large are refused") {
  CHECK(refusal(bpe(R"({"a":-1})", "[]")) == doctest::Contains("\"a\" has id -1"));
  CHECK(refusal(bpe(R"({"a":2147483647})", "[]")) == doctest::Contains("\"a\" has id 2147483647"));
  CHECK(refusal(bpe(R"({"a":99999999999999999999})", "[]")) ==
        doctest::Contains("file.json: model.vocab"));
  CHECK(refusal(bpe(R"({"a":1.5})", "[]")) == doctest::Contains("not an integer"));
  CHECK(refusal(bpe(R"({"a":0,"b":0})", "[]")) ==
        doctest::Contains("id 0 belongs to two tokens, \"a\" and \"b\""));
  CHECK(refusal(bpe(R"({"a":0,"a":1})", "[]")) == doctest::Contains("\"a\" has two ids"));
  CHECK(
      refusal(
          R"({"added_tokens":[{"id":0,"content":"x"}],"model":{"type":"BPE","vocab":{"a":0},"merges":[]}})") ==
      doctest::Contains("added_tokens: id 0 of \"x\""));
  CHECK(
      refusal(
          R"({"added_tokens":[{"id":-3,"content":"x"}],"model":{"type":"BPE","vocab":{"a":0},"merges":[]}})") ==
      doctest::Contains("added_tokens"));
}

TEST_CASE("an id far beyond the others costs no memory") {
  const Tokenizer t = Tokenizer::parse(bpe(R"({"a":0,"b":2147483646})", "[]"), "", "t");
  CHECK(t.vocab_size() == 2147483647);
  CHECK(t.encode("ab", {.add_special = false}) == std::vector<int32_t>{0, 2147483646});
  CHECK(t.decode(std::vector<int32_t>{2147483646, 0, 77, -5, INT32_MIN}) == "b a");
}

TEST_CASE("merges must name tokens of the vocabulary") {
  CHECK(refusal(bpe(R"({"a":0})", R"(["a b"])")) ==
        doctest::Contains("model.merges: number 0 (\"a\", \"b\") needs the token \"b\""));
  CHECK(refusal(bpe(R"({"a":0,"b":1})", R"(["a b"])")) ==
        doctest::Contains("needs the token \"ab\""));
  CHECK(refusal(bpe(R"({"a":0})", R"(["a"])")) == doctest::Contains("model.merges"));
  CHECK(refusal(bpe(R"({"a":0})", R"(["a  a"])")) == doctest::Contains("model.merges"));
  CHECK(refusal(bpe(R"({"a":0})", R"([["a"]])")) == doctest::Contains("model.merges"));
  CHECK(refusal(bpe(R"({"a":0})", R"([["a","a","a"]])")) == doctest::Contains("model.merges"));
  CHECK(refusal(bpe(R"({"a":0,"":1})", R"([["a",""]])")) == doctest::Contains("model.merges"));
  CHECK(refusal(bpe(R"({"a":0})", "[7]")) == doctest::Contains("model.merges"));
}

TEST_CASE("deep nesting ends in an error") {
  std::string deep(100'000, '[');
  CHECK(refusal(deep) == doctest::Contains("file.json"));
  std::string nested;
  for (int i = 0; i < 50'000; ++i) nested += R"({"type":"Sequence","normalizers":[)";
  CHECK(refusal(R"({"normalizer":)" + nested) == doctest::Contains("file.json"));
  std::string closed = R"({"normalizer":)";
  for (int i = 0; i < 5'000; ++i) closed += R"({"type":"Sequence","normalizers":[)";
  for (int i = 0; i < 5'000; ++i) closed += "]}";
  CHECK(refusal(closed + R"(,"model":{"type":"BPE","vocab":{"a":0},"merges":[]}})") ==
        doctest::Contains("file.json"));
}

TEST_CASE("every prefix of a file is refused or read, never worse") {
  const std::string whole = bpe(R"({"a":0,"b":1,"ab":2})", R"(["a b"])");
  for (size_t n = 0; n < whole.size(); ++n) {
    CHECK(
        test_support::error_of([&] { Tokenizer::parse(whole.substr(0, n), "", "t"); }).has_value());
  }
}

}  // namespace
}  // namespace hearth::text
