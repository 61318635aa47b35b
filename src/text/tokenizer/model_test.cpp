#include "text/tokenizer/model.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/error_of.h"
#include "text/tokenizer.h"

namespace hearth::text {
namespace {

using Ids = std::vector<int32_t>;

Ids encode(const std::string& model, std::string_view text, const std::string& more = "") {
  const Tokenizer t = Tokenizer::parse("{" + more + R"("model":)" + model + "}", "", "t");
  return t.encode(text, {.add_special = false});
}

TEST_CASE("Unigram finds the segmentation of the highest score") {
  const std::string model =
      R"({"type":"Unigram","unk_id":0,"vocab":[["<unk>",0.0],["a",0.0],["b",0.0],["c",0.0],
      ["d",0.0],["cd",1.0],["ab",2.0],["abc",5.0],["abcd",10.0]]})";
  CHECK(encode(model, "abcd") == Ids{8});
  CHECK(encode(model, "abc") == Ids{7});
  CHECK(encode(model, "cdab") == Ids{5, 6});
  CHECK(encode(model, "axyb") == Ids{1, 0, 2});  // unknown characters are one piece
  CHECK(encode(model, "\u4e2d") == Ids{0});
}

TEST_CASE("Unigram spells unknown characters in bytes where it can") {
  std::string vocab = R"(["<unk>",0.0],["a",-1.0])";
  std::string all = vocab;
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (size_t b = 0; b < 256; ++b) {
    all += std::string(R"(,["<0x)") + kHex[b >> 4] + kHex[b & 15U] + R"(>",-5.0])";
  }
  const std::string model = R"({"type":"Unigram","unk_id":0,"byte_fallback":true,"vocab":[)";
  CHECK(encode(model + all + "]}", "a\u00e9") == Ids{1, 2 + 0xC3, 2 + 0xA9});
  CHECK(encode(model + vocab + "]}", "a\u00e9") == Ids{1, 0});
}

TEST_CASE(
    "a control token's spelling in plain text is not the token, even where the vocabulary lists "
    "it") {
  const std::string model =
      R"({"type":"Unigram","unk_id":0,"vocab":[["<unk>",0.0],["</s>",0.0],["<",-9.0],["/",-9.0],
      ["s",-9.0],[">",-9.0]]})";
  const std::string added = R"("added_tokens":[{"id":1,"content":"</s>","special":true}],)";
  CHECK(encode(model, "</s>", added) == Ids{2, 3, 4, 5});
  const std::string words =
      R"({"type":"WordLevel","unk_token":"[U]","vocab":{"[U]":0,"[CLS]":1,"x":2}})";
  const std::string cls = R"("added_tokens":[{"id":1,"content":"[CLS]","special":true}],)";
  CHECK(encode(words, "[CLS]", cls) == Ids{0});
  const std::string bpe =
      R"({"type":"BPE","vocab":{"<":0,"s":1,">":2,"<s":3,"<s>":4},"merges":["< s","<s >"]})";
  CHECK(encode(bpe, "<s>") == Ids{4});
  CHECK(encode(bpe, "<s>", R"("added_tokens":[{"id":4,"content":"<s>","special":true}],)") ==
        Ids{3, 2});
}

TEST_CASE("WordPiece takes the longest piece first, or the whole word is unknown") {
  const std::string model =
      R"({"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",
      "max_input_chars_per_word":8,"vocab":{"[UNK]":0,"un":1,"##aff":2,"##able":3,"a":4,"##a":5,"una":6}})";
  CHECK(encode(model, "unaffable") == Ids{0});  // nine characters
  CHECK(encode(model, "unaff") == Ids{0});      // "una" leaves "ff", which nothing takes
  CHECK(encode(model, "unable") == Ids{0});
  CHECK(encode(model, "aaff") == Ids{4, 2});
  CHECK(encode(model, "aaa") == Ids{4, 5, 5});
  CHECK(encode(model, "\u4e2d") == Ids{0});
}

TEST_CASE("WordLevel knows whole words") {
  const std::string model =
      R"({"type":"WordLevel","unk_token":"<unk>","vocab":{"<unk>":0,"hey":1}})";
  CHECK(encode(model, "hey you", R"("pre_tokenizer":{"type":"WhitespaceSplit"},)") == Ids{1, 0});
}

TEST_CASE("BPE fuses unknown characters only when told, and drops them without an unknown token") {
  const auto model = [](const char* options) {
    return std::string(R"({"type":"BPE","vocab":{"<unk>":0,"a":1,"b":2},"merges":[],)") + options +
           "}";
  };
  CHECK(encode(model(R"("unk_token":"<unk>","fuse_unk":true)"), "axxb") == Ids{1, 0, 2});
  CHECK(encode(model(R"("unk_token":"<unk>","fuse_unk":false)"), "axxb") == Ids{1, 0, 0, 2});
  CHECK(encode(model(R"("unk_token":null)"), "axxb") == Ids{1, 2});
}

TEST_CASE("BPE decorates the inside and the end of words") {
  const std::string model =
      R"({"type":"BPE","continuing_subword_prefix":"##","end_of_word_suffix":"</w>",
      "vocab":{"a":0,"##b":1,"##b</w>":2,"a</w>":3,"ab</w>":4},"merges":["a ##b</w>"]})";
  CHECK(encode(model, "ab") == Ids{4});
  CHECK(encode(model, "a") == Ids{3});
  CHECK(encode(model, "abb") == Ids{0, 1, 2});
}

TEST_CASE("ignore_merges takes a whole word that the vocabulary has") {
  const std::string with =
      R"({"type":"BPE","ignore_merges":true,"vocab":{"a":0,"b":1,"ab":2},"merges":[]})";
  const std::string without =
      R"({"type":"BPE","ignore_merges":false,"vocab":{"a":0,"b":1,"ab":2},"merges":[]})";
  CHECK(encode(with, "ab") == Ids{2});
  CHECK(encode(without, "ab") == Ids{0, 1});
}

TEST_CASE("cutting long texts where no merge reaches across changes no id") {
  // "b▁" and "▁▁" merge across a mark, "a▁" does not.
  const std::string model =
      R"({"type":"BPE","vocab":{"a":0,"b":1,"▁":2,"▁a":3,"b▁":4,"▁▁":5,"b▁a":6},
      "merges":["b ▁","▁ a","▁ ▁","b▁ a"]})";
  CHECK(encode(model, "a▁a▁a") == Ids{0, 3, 3});
  CHECK(encode(model, "b▁a") == Ids{6});
  CHECK(encode(model, "a▁▁a") == Ids{0, 2, 3});
  CHECK(encode(model, "▁▁▁▁b▁▁") == Ids{5, 5, 4, 2});
}

TEST_CASE("added tokens may take the space beside them and may have to stand alone") {
  const std::string model = R"({"type":"BPE","vocab":{"a":0," ":1,"m":2},"merges":[]})";
  const auto added = [](const char* flags) {
    return std::string(R"("added_tokens":[{"id":9,"content":"[m]",)") + flags + "}],";
  };
  CHECK(encode(model, "a [m] a", added(R"("lstrip":true)")) == Ids{0, 9, 1, 0});
  CHECK(encode(model, "a [m] a", added(R"("rstrip":true)")) == Ids{0, 1, 9, 0});
  CHECK(encode(model, "a[m]a [m]", added(R"("single_word":true)")) == Ids{0, 2, 0, 1, 9});
  CHECK(encode(model, "a[m]a", added(R"("single_word":false)")) == Ids{0, 9, 0});
}

TEST_CASE("normalized added tokens are looked for after normalization, the others before") {
  const std::string model = R"({"type":"BPE","vocab":{"a":0,"x":1,"y":2},"merges":[]})";
  const std::string lower = R"("normalizer":{"type":"Lowercase"},)";
  CHECK(encode(model, "aXYa",
               lower + R"("added_tokens":[{"id":9,"content":"XY","normalized":true}],)") ==
        Ids{0, 9, 0});
  CHECK(encode(model, "axya",
               lower + R"("added_tokens":[{"id":9,"content":"XY","normalized":true}],)") ==
        Ids{0, 9, 0});
  CHECK(encode(model, "axya",
               lower + R"("added_tokens":[{"id":9,"content":"XY","normalized":false}],)") ==
        Ids{0, 1, 2, 0});
}

TEST_CASE("of two added tokens the longer wins at the same place") {
  const std::string model = R"({"type":"BPE","vocab":{"a":0},"merges":[]})";
  const std::string added =
      R"("added_tokens":[{"id":7,"content":"#"},{"id":8,"content":"##"},{"id":9,"content":"#a#"}],)";
  CHECK(encode(model, "###a#", added) == Ids{8, 9});
}

}  // namespace
}  // namespace hearth::text
