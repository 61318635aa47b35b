// The `pre_tokenizer` of tokenizer.json: cuts a text into the words that the model sees.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "text/tokenizer/matcher.h"

namespace hearth::text {

enum class SplitBehavior : uint8_t {
  kRemoved,
  kIsolated,
  kMergedWithPrevious,
  kMergedWithNext,
  kContiguous
};

struct SplitStep {
  Matcher matcher;
  SplitBehavior behavior;
  bool invert;
};
struct MetaspaceStep {
  enum class Prepend : uint8_t { kFirst, kNever, kAlways };
  std::string replacement;
  Prepend prepend;
  bool split;
};
struct ByteLevelStep {
  bool add_prefix_space;
  bool use_regex;
  bool
      map_bytes;  // write each byte as its stand-in character; off where the model takes bytes as they are
};
using PreTokenizerStep = std::variant<SplitStep, MetaspaceStep, ByteLevelStep>;

// Working memory of one thread: the text as the steps left it, and its pieces.
struct Pieces {
  std::string buffer;
  std::string_view text;  // the input, or `buffer`
  size_t input_bytes = 0;
  std::vector<TextRange> ranges;
  std::vector<TextRange> spare;
  RegexScratch regex;
};

// Immutable; shared between threads.
class PreTokenizer {
 public:
  PreTokenizer() = default;
  // `json` may be null: one piece, the whole text. Throws kCorruptData or kUnsupported naming `where`.
  PreTokenizer(const Json& json, std::string_view where);

  // Whether the model gets the text's bytes as they are and must read them as byte-level stand-ins: the last step is
  // ByteLevel, and take_bytes() was called.
  bool ends_in_byte_level() const;
  void take_bytes();
  // The pattern whose matches are the pieces, when that is all there is to do; else kNone.
  KnownPattern single_pattern() const { return single_; }
  bool is_empty() const { return steps_.empty(); }

  // Fills pieces.text and pieces.ranges (none empty). `at_start`: `text` is the beginning of the whole input.
  void run(std::string_view text, bool at_start, Pieces& pieces, StepBudget& budget) const;

 private:
  void parse(const Json& json, const std::string& where);
  void find_single();

  std::vector<PreTokenizerStep> steps_;
  KnownPattern single_ = KnownPattern::kNone;
};

// The stand-in character of each byte in byte-level vocabularies (GPT-2's table).
char32_t byte_stand_in(unsigned char byte);
// The byte that a stand-in stands for; -1 for other characters.
int byte_of_stand_in(char32_t c);
// Every byte of `bytes` as its stand-in.
void append_stand_ins(std::string_view bytes, std::string& out);

}  // namespace hearth::text
