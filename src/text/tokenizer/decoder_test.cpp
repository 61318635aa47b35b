#include "text/tokenizer/decoder.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/error_of.h"

namespace hearth::text {
namespace {

std::string run(const std::string& json, const std::vector<std::string>& tokens) {
  const Decoder decoder(Json::parse(json), "decoder");
  DecoderState state(decoder);
  std::string out;
  for (int round = 0; round < 2; ++round) {  // a finished state is as new
    out.clear();
    for (const std::string& token : tokens) state.push(token, false, out);
    state.finish(out);
  }
  return out;
}

constexpr const char* kLlama = R"({"type":"Sequence","decoders":[
  {"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"},
  {"type":"Strip","content":" ","start":1,"stop":0}]})";

TEST_CASE("the Llama chain restores bytes and strips one leading space") {
  CHECK(run(kLlama, {"▁Hello", "▁", "▁w", "<0xC3>", "<0xA9>", "!"}) == "Hello  w\u00e9!");
  CHECK(run(kLlama, {"▁▁a"}) == " a");
  CHECK(run(kLlama, {"<0x20>", "a"}) == "a");
  CHECK(run(kLlama, {"a", "<0xF0>", "<0x9F>", "b"}) == "a\uFFFDb");
  CHECK(run(kLlama, {"a", "<0xE4>"}) == "a\uFFFD");
  CHECK(run(kLlama, {}).empty());
}

TEST_CASE("an unfinished character waits and nothing else does") {
  const Decoder decoder(Json::parse(kLlama), "decoder");
  DecoderState state(decoder);
  std::string out;
  state.push("▁a", false, out);
  CHECK(out == "a");
  state.push("<0xE4>", false, out);
  state.push("<0xB8>", false, out);
  CHECK(out == "a");
  state.push("<0xAD>", false, out);
  CHECK(out == "a\u4e2d");
}

TEST_CASE("ByteLevel joins bytes over tokens, and added tokens are text to it") {
  const Decoder decoder(Json::parse(R"({"type":"ByteLevel"})"), "decoder");
  DecoderState state(decoder);
  std::string out;
  state.push("Ã", false, out);
  CHECK(out.empty());
  state.push("©Ġ", false, out);
  CHECK(out == "\u00e9 ");
  state.push("õ", true, out);
  CHECK(out == "\u00e9 õ");
  state.push("õ", false, out);  // the byte F5, which begins nothing
  state.finish(out);
  CHECK(out == "\u00e9 õ\uFFFD");
}

TEST_CASE("decoders of other models") {
  CHECK(run(R"({"type":"WordPiece","prefix":"##","cleanup":true})",
            {"hello", "##world", "!", "i", "'m", "do", "n't"}) == "helloworld! i'm don't");
  CHECK(run(R"({"type":"WordPiece","prefix":"##","cleanup":false})", {"a", "##b", "."}) == "ab .");
  CHECK(run(R"({"type":"Metaspace","replacement":"▁","prepend_scheme":"always"})",
            {"▁Hey", "▁you"}) == "Hey you");
  CHECK(run(R"({"type":"Metaspace","replacement":"▁","prepend_scheme":"never"})",
            {"▁Hey", "▁you"}) == " Hey you");
  CHECK(run(R"({"type":"BPEDecoder","suffix":"</w>"})", {"my</w>", "fri", "end</w>"}) ==
        "my friend");
  CHECK(run(R"({"type":"CTC","pad_token":"<pad>","word_delimiter_token":"|","cleanup":true})",
            {"<pad>", "h", "h", "<pad>", "i", "|", "<pad>", "y", "o", "<pad>", "o"}) == "hi yoo");
  CHECK(run("null", {"a", "b"}) == "a b");
  CHECK(run(R"({"type":"Strip","content":"_","start":1,"stop":1})", {"__a_", "_b"}) == "_ab");
}

TEST_CASE("steps after a fuse see one text, however it is cut") {
  const std::string replace = R"({"type":"Sequence","decoders":[{"type":"Fuse"},
      {"type":"Replace","pattern":{"String":"aa"},"content":"X"}]})";
  CHECK(run(replace, {"a", "a", "a", "a"}) == "XX");
  CHECK(run(replace, {"ba", "ab", "a"}) == "bXba");
  const std::string strip = R"({"type":"Sequence","decoders":[{"type":"Fuse"},
      {"type":"Strip","content":" ","start":2,"stop":1}]})";
  CHECK(run(strip, {" ", " ", " a ", " "}) == " a ");
  const std::string regex = R"({"type":"Sequence","decoders":[{"type":"Fuse"},
      {"type":"Replace","pattern":{"Regex":"[0-9]+"},"content":"N"}]})";
  CHECK(run(regex, {"a1", "2", "b3"}) == "aNbN");
}

TEST_CASE("unknown decoders are refused by name") {
  CHECK(test_support::message_of([] { run(R"({"type":"Morse"})", {}); }) ==
        doctest::Contains("decoder.type is \"Morse\""));
  CHECK(test_support::message_of([] {
          run(R"({"type":"Strip","content":"","start":1,"stop":0})", {});
        }) == doctest::Contains("decoder.content"));
}

}  // namespace
}  // namespace hearth::text
