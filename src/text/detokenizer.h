// Token ids to text, one id at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "text/tokenizer.h"

namespace hearth {

namespace text {
class DecoderState;  // text/tokenizer/decoder.h
}

// Turns ids into text as they arrive. Every piece is whole UTF-8 characters: bytes of an unfinished one wait for the
// next id, and bytes that can't become one are U+FFFD. The pieces of push() and finish() joined are exactly
// Tokenizer::decode() of the same ids.
//
// Owned by one thread; holds the tokenizer alive. Movable.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, SpecialTokens specials = SpecialTokens::kSkip);
  ~StreamDecoder();
  StreamDecoder(StreamDecoder&&) noexcept;
  StreamDecoder& operator=(StreamDecoder&&) noexcept;

  // The text that is certain now; often empty.
  std::string push(int32_t id);
  // What was still waiting. Afterwards the decoder is as new.
  std::string finish();

 private:
  Tokenizer tokenizer_;
  SpecialTokens specials_;
  std::unique_ptr<text::DecoderState> state_;
};

}  // namespace hearth
