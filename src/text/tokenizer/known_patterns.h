// Pre-tokenizer regular expressions that have a hand-written matcher, recognised by their exact text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/function_ref.h"

namespace hearth::text {

enum class KnownPattern : uint8_t {
  kNone,
  // These match at every position, so that their matches cover the text.
  kGpt2,    // GPT-2, RoBERTa, StarCoder...; the one inside ByteLevel
  kCl100k,  // GPT-4, Llama 3
  kQwen2,   // the same with single digits: Qwen2, Qwen3
  kQwen35,  // the same with marks inside words
  kO200k,   // GPT-4o, gpt-oss, Llama 4
  kTekken,  // the same without contractions and with single digits: Mistral's newer ones
  // These leave gaps.
  kDeepSeek,      // the last of DeepSeek V3's three
  kDigits3,       // \p{N}{1,3}
  kDigit,         // \p{N}
  kCjkKana,       // DeepSeek V3's second
  kCjkOld,        // DeepSeek Coder's: ideographs, and all of U+0800 to U+4E00, and Hangul
  kNewline,       // [\r\n]
  kLetters,       // \s?\p{L}+
  kPunctuations,  // \s?\p{P}+
  kWords,         // \w+|[^\w\s]+, the Whitespace pre-tokenizer's
};

// kNone when the pattern is not one of them.
KnownPattern recognise(std::string_view pattern);
// The regular expression that a known pattern stands for.
std::string_view pattern_text(KnownPattern known);
// All known patterns but kNone.
std::span<const KnownPattern> known_patterns();
// Whether its matches leave no gap in any text.
constexpr bool covers_text(KnownPattern known) {
  return known >= KnownPattern::kGpt2 && known <= KnownPattern::kTekken;
}

struct TextRange {
  int64_t begin;
  int64_t end;
};

// The first match in `text` (well-formed UTF-8) beginning at `from` or later.
std::optional<TextRange> find_known(KnownPattern known, std::string_view text, int64_t from);

// Appends the pieces of `ranges` when each match is a piece and so is what lies between; calls `flush` whenever `out`
// has grown to kPieceBatch (it is to empty it), and not at the end.
constexpr size_t kPieceBatch = 4096;
void isolate_known(KnownPattern known, std::string_view text, std::span<const TextRange> ranges,
                   std::vector<TextRange>& out, function_ref<void()> flush);

}  // namespace hearth::text
