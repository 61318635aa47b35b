// The `decoder` of tokenizer.json: turns tokens back into text, one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "text/tokenizer/matcher.h"
#include "text/unicode.h"

namespace hearth::text {

// The steps; what each does to its tokens is told at Hugging Face's decoders of the same names. Deviations: broken
// UTF-8 in a run of byte tokens becomes U+FFFD per broken part (the reference: per byte, for the whole run), and added
// tokens are text to ByteLevel, never stand-ins of bytes.
struct ByteLevelDecode {};
struct ByteFallbackDecode {};
struct FuseDecode {};
struct ReplaceDecode {
  Matcher matcher;
  std::string content;
};
struct StripDecode {
  std::string content;
  int64_t start;
  int64_t stop;
};
struct MetaspaceDecode {
  std::string replacement;
  bool drops_first;
};
struct WordPieceDecode {
  std::string prefix;
  bool cleanup;
};
struct BpeDecode {
  std::string suffix;
};
struct CtcDecode {
  std::string pad;
  std::string word_delimiter;
  bool cleanup;
};
struct JoinDecode {};  // no decoder in the file: tokens with a space between
using DecodeStep =
    std::variant<ByteLevelDecode, ByteFallbackDecode, FuseDecode, ReplaceDecode, StripDecode,
                 MetaspaceDecode, WordPieceDecode, BpeDecode, CtcDecode, JoinDecode>;

// Immutable; shared between threads.
class Decoder {
 public:
  // `json` may be null. Throws kCorruptData or kUnsupported naming `where`.
  Decoder(const Json& json, std::string_view where);
  Decoder() : Decoder(Json(), "decoder") {}

  const std::vector<DecodeStep>& steps() const { return steps_; }
  // Whether step i sees one token made of all, in arbitrary cuts between characters.
  bool is_fused(size_t i) const { return fused_from_ < static_cast<int64_t>(i); }
  // What a token adds in the middle of a text, before bytes are joined to characters.
  std::string token_bytes(std::string_view token, bool is_added) const;

 private:
  void parse(const Json& json, const std::string& where);

  std::vector<DecodeStep> steps_;
  int64_t fused_from_ = INT64_MAX;
};

// One stream through a Decoder. Owned by one thread.
class DecoderState {
 public:
  explicit DecoderState(const Decoder& decoder)
      : decoder_(&decoder), states_(decoder.steps().size()) {}

  // Appends the text that is certain after this token; whole characters.
  void push(std::string_view token, bool is_added, std::string& out) {
    feed(0, token, is_added, out);
  }
  // Appends what was held back; then the state is as new.
  void finish(std::string& out);

 private:
  struct StepState {
    int64_t seen = 0;      // tokens
    int64_t stripped = 0;  // characters
    bool is_past_start = false;
    std::string held;
    Utf8Joiner joiner;
  };
  void feed(size_t i, std::string_view token, bool is_added, std::string& out);
  void run(const ByteLevelDecode&, size_t i, std::string_view token, bool is_added,
           std::string& out);
  void run(const ByteFallbackDecode&, size_t i, std::string_view token, bool is_added,
           std::string& out);
  void run(const FuseDecode&, size_t i, std::string_view token, bool is_added, std::string& out);
  void run(const ReplaceDecode&, size_t i, std::string_view token, bool is_added, std::string& out);
  void run(const StripDecode&, size_t i, std::string_view token, bool is_added, std::string& out);
  void run(const MetaspaceDecode&, size_t i, std::string_view token, bool is_added,
           std::string& out);
  void run(const WordPieceDecode&, size_t i, std::string_view token, bool is_added,
           std::string& out);
  void run(const BpeDecode&, size_t i, std::string_view token, bool is_added, std::string& out);
  void run(const CtcDecode&, size_t i, std::string_view token, bool is_added, std::string& out);
  void run(const JoinDecode&, size_t i, std::string_view token, bool is_added, std::string& out);
  // Forwards what step i still holds.
  void flush(size_t i, std::string& out);

  const Decoder* decoder_;
  std::vector<StepState> states_;
  RegexScratch regex_;
};

}  // namespace hearth::text
