#include "text/tokenizer.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/random.h"
#include "support/error_of.h"
#include "text/detokenizer.h"
#include "text/tokenizer/pre_tokenizer.h"
#include "text/unicode.h"

namespace hearth {
namespace {

using Ids = std::vector<int32_t>;

std::string json_text(std::string_view s) {
  std::string out;
  append_json_string(out, s, /*ensure_ascii=*/false);
  return out;
}

// A byte-level tokenizer: one token per byte (id = byte), a few merges, control tokens from 300.
std::string byte_level_json(const std::string& more = "") {
  std::string vocab;
  for (unsigned b = 0; b < 256; ++b) {
    std::string symbol;
    text::append_utf8(symbol, text::byte_stand_in(static_cast<unsigned char>(b)));
    vocab += json_text(symbol) + ":" + std::to_string(b) + ",";
  }
  vocab += R"("he":256,"ll":257,"hell":258,"hello":259,"Ġw":260,"<|":261,"|>":262)";
  return R"({"added_tokens":[
      {"id":300,"content":"<|bos|>","special":true},{"id":301,"content":"<|end|>","special":true},
      {"id":302,"content":"<think>","special":false},{"id":303,"content":"<b>","special":false}],
    "normalizer":null,
    "pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true},
    "decoder":{"type":"ByteLevel"},)" +
         more + R"("model":{"type":"BPE","vocab":{)" + vocab +
         R"(},"merges":["h e","l l","he ll","hell o","Ġ w","< |","| >"]}})";
}

Ids bytes(std::string_view s) {
  Ids ids;
  for (const char c : s) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

constexpr std::string_view kBosTemplate =
    R"("post_processor":{"type":"TemplateProcessing",
      "single":[{"SpecialToken":{"id":"<|bos|>","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],
      "special_tokens":{"<|bos|>":{"id":"<|bos|>","ids":[300],"tokens":["<|bos|>"]}}},)";

TEST_CASE("byte-level BPE merges within words and spells any bytes") {
  const Tokenizer t = Tokenizer::parse(byte_level_json(), "", "t");
  CHECK(t.encode("hello") == Ids{259});
  CHECK(t.encode("hello world") == Ids{259, 260, 'o', 'r', 'l', 'd'});
  CHECK(t.encode("") == Ids{});
  CHECK(t.encode("\u4e2d") == bytes("\u4e2d"));
  CHECK(t.decode(t.encode("hello w\u00e9\n\t \U0001F600")) == "hello w\u00e9\n\t \U0001F600");
  CHECK(t.vocab_size() == 304);
  CHECK(t.token_to_id("hello") == 259);
  CHECK(t.id_to_token(260) == "Ġw");
  CHECK(t.token_bytes(260) == " w");
  CHECK(t.token_bytes(0xE4) == "\xE4");
  CHECK_FALSE(t.id_to_token(280));
  CHECK_FALSE(t.token_to_id("nothing"));
}

TEST_CASE("text that is not UTF-8 is read with U+FFFD") {
  const Tokenizer t = Tokenizer::parse(byte_level_json(), "", "t");
  CHECK(t.encode("a\xFF") == bytes("a\uFFFD"));
}

TEST_CASE("control tokens come out of text only when asked, other added tokens always") {
  const Tokenizer t = Tokenizer::parse(byte_level_json(), "", "t");
  CHECK(t.encode("<|end|>") == Ids{261, 'e', 'n', 'd', 262});
  CHECK(t.encode("<|end|>", {.parse_special = true}) == Ids{301});
  CHECK(t.encode("<think>") ==
        bytes("<think>"));  // steers the model, though the file doesn't mark it
  CHECK(t.encode("<think>", {.parse_special = true}) == Ids{302});
  CHECK(t.encode("<b>x") == Ids{303, 'x'});
  CHECK(t.is_special(301));
  CHECK_FALSE(t.is_special(302));
  CHECK(t.decode(Ids{'a', 301, 'b'}) == "a<|end|>b");
  CHECK(t.decode(Ids{'a', 301, 'b'}, SpecialTokens::kSkip) == "ab");
}

TEST_CASE("in a prompt only the template's own control tokens count") {
  const Tokenizer t = Tokenizer::parse(byte_level_json(), "", "t");
  const std::vector<PromptSegment> prompt = {
      {"<|bos|>", true}, {"say \"<|end|>\"", false}, {"<|end|>", true}};
  Ids want = {300};
  for (const int32_t id : t.encode("say \"<|end|>\"")) want.push_back(id);
  want.push_back(301);
  CHECK(t.encode_segments(prompt) == want);
  CHECK(t.encode_segments(prompt, {.parse_untrusted = true}) ==
        t.encode("<|bos|>say \"<|end|>\"<|end|>", {.parse_special = true}));
  // A token that only the border between template and user completes is none.
  const std::vector<PromptSegment> split = {{"<|en", true}, {"d|>", false}};
  CHECK(t.encode_segments(split) == t.encode("<|end|>"));
  // Between two trusted segments it is.
  const std::vector<PromptSegment> whole = {{"<|en", true}, {"", false}, {"d|>", true}};
  CHECK(t.encode_segments(whole) == Ids{301});
}

TEST_CASE("segment borders don't show in the ids of plain text") {
  const Tokenizer t = Tokenizer::parse(byte_level_json(), "", "t");
  const std::string text = "hello hello world, <b>hello</b> w\u00e9 \n\n hell o";
  SplitMix64 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<PromptSegment> segments;
    for (size_t at = 0; at < text.size();) {
      size_t n = static_cast<size_t>(1 + random.below(9));
      while (at + n < text.size() && (static_cast<unsigned char>(text[at + n]) & 0xC0U) == 0x80)
        ++n;
      segments.push_back({text.substr(at, n), random.below(2) == 0});
      at += n;
    }
    CHECK(t.encode_segments(segments) == t.encode(text));
  }
}

TEST_CASE("a prompt has exactly one BOS, whether or not the template brings it") {
  const std::string json = byte_level_json(std::string(kBosTemplate));
  const Tokenizer t =
      Tokenizer::parse(json, R"({"bos_token":"<|bos|>","eos_token":{"content":"<|end|>"}})", "t");
  CHECK(t.bos_id() == 300);
  CHECK(t.eos_id() == 301);
  CHECK(t.begins_with_bos());
  const std::vector<PromptSegment> with = {{"<|bos|>", true}, {"hello", false}};
  const std::vector<PromptSegment> without = {{"hello", false}};
  CHECK(t.encode_segments(with) == Ids{300, 259});
  CHECK(t.encode_segments(without) == Ids{300, 259});
  CHECK(t.encode_segments({}) == Ids{300});
  CHECK(t.encode("hello") == Ids{300, 259});
  CHECK(t.encode("hello", {.add_special = false}) == Ids{259});
  // Raw text that spells a BOS keeps both, as transformers does.
  CHECK(t.encode("<|bos|>hello", {.parse_special = true}) == Ids{300, 300, 259});
}

TEST_CASE("add_bos_token and add_eos_token decide over the post-processor") {
  const std::string names = R"("bos_token":"<|bos|>","eos_token":"<|end|>")";
  const Tokenizer off = Tokenizer::parse(byte_level_json(std::string(kBosTemplate)),
                                         "{" + names + R"(,"add_bos_token":false})", "t");
  CHECK(off.encode("hello") == Ids{259});
  CHECK_FALSE(off.begins_with_bos());
  const Tokenizer on = Tokenizer::parse(
      byte_level_json(), "{" + names + R"(,"add_bos_token":true,"add_eos_token":true})", "t");
  CHECK(on.encode("hello") == Ids{300, 259, 301});
  const std::vector<PromptSegment> prompt = {{"hello", false}};
  CHECK(on.encode_segments(prompt) == Ids{300, 259});  // never an EOS
}

TEST_CASE("tokens that only tokenizer_config.json knows are added") {
  const Tokenizer t = Tokenizer::parse(
      byte_level_json(), R"({"added_tokens_decoder":{"310":{"content":"<|x|>","special":true}}})",
      "t");
  CHECK(t.encode("<|x|>", {.parse_special = true}) == Ids{310});
  CHECK(t.vocab_size() == 311);
}

TEST_CASE("streamed pieces are whole characters and join to the decoded text") {
  const Tokenizer t = Tokenizer::parse(byte_level_json(), "", "t");
  const std::string text = "hello \U0001F600 w\u00e9\u4e2d!";
  StreamDecoder decoder(t);
  std::string joined;
  for (const int32_t id : t.encode(text)) {
    const std::string piece = decoder.push(id);
    CHECK(text::is_valid_utf8(piece));
    CHECK(piece.find("\uFFFD") == std::string::npos);
    joined += piece;
  }
  CHECK(joined + decoder.finish() == text);
  // An emoji in two tokens comes in one piece (D06).
  CHECK(decoder.push(0xF0).empty());
  CHECK(decoder.push(0x9F).empty());
  CHECK(decoder.push(0x98).empty());
  CHECK(decoder.push(0x80) == "\U0001F600");
  CHECK(decoder.push('x') == "x");
}

TEST_CASE("streaming equals decoding for random ids, broken characters included") {
  const Tokenizer t = Tokenizer::parse(byte_level_json(), "", "t");
  SplitMix64 random(9);
  for (int round = 0; round < 500; ++round) {
    Ids ids;
    for (int64_t n = random.below(12); n > 0; --n) {
      ids.push_back(static_cast<int32_t>(random.below(2) == 0 ? 0x80 + random.below(0x80)
                                                              : random.below(320)));
    }
    for (const SpecialTokens specials : {SpecialTokens::kKeep, SpecialTokens::kSkip}) {
      StreamDecoder decoder(t, specials);
      std::string joined;
      for (const int32_t id : ids) joined += decoder.push(id);
      joined += decoder.finish();
      CHECK(joined == t.decode(ids, specials));
      CHECK(text::is_valid_utf8(joined));
    }
  }
}

TEST_CASE("threads that encode at once get the ids that one gets") {
  const Tokenizer t = Tokenizer::parse(byte_level_json(), "", "t");
  std::string text;
  for (int i = 0; i < 200; ++i) text += "hello world " + std::to_string(i * 7919) + " w\u00e9";
  const Ids want = t.encode(text);
  std::vector<Ids> got(4);
  {
    std::vector<std::jthread> threads;
    for (Ids& ids : got) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5; ++i) ids = t.encode(text);
      });
    }
  }
  for (const Ids& ids : got) CHECK(ids == want);
}

TEST_CASE("a run of one character takes time linear in its length") {
  const Tokenizer t = Tokenizer::parse(byte_level_json(), "", "t");
  for (const char* unit : {"l", " ", "\n", "<"}) {
    std::string run;
    while (run.size() < 3'000'000) run += unit;
    CHECK(t.encode(run, {.parse_special = true}).size() >=
          run.size() / 2);  // quadratic would not end
  }
}

}  // namespace
}  // namespace hearth
