// The `pre_tokenizer` of tokenizer.json: cuts a text into the words that the model sees.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/function_ref.h"
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
struct MetaspaceStep {  // spaces as `replacement`, and one in front
  enum class Prepend : uint8_t { kFirst, kNever, kAlways };
  std::string replacement;
  Prepend prepend;
};
struct PrefixSpaceStep {};  // a space in front of every piece that has none
struct StandInStep {};      // every byte as its stand-in character
// Pre-tokenizers of the file as what they consist of: ByteLevel is up to three of these, Metaspace up to two.
using PreTokenizerStep = std::variant<SplitStep, MetaspaceStep, PrefixSpaceStep, StandInStep>;

// Working memory of one thread: the text as the steps left it, and its pieces.
struct Pieces {
  std::string buffer;
  std::string_view text;  // the input, or `buffer`
  size_t input_bytes = 0;
  std::vector<TextRange> ranges;  // the text's pieces between steps that rewrite it
  std::vector<std::vector<TextRange>>
      levels;  // by step: a batch of its pieces on their way to the next
  RegexScratch regex;
};

// Immutable; shared between threads.
class PreTokenizer {
 public:
  PreTokenizer() = default;
  // `json` may be null: one piece, the whole text. Throws kCorruptData or kUnsupported naming `where`.
  PreTokenizer(const Json& json, std::string_view where);

  // Whether the last thing done is to write bytes as stand-ins. take_bytes() leaves that out, for a model that takes the
  // bytes themselves.
  bool ends_in_byte_level() const;
  void take_bytes();
  // The pattern whose matches are the pieces, when finding them is all there is to do; else kNone.
  KnownPattern single_pattern() const;
  bool is_empty() const { return steps_.empty(); }

  // Hands the pieces (none empty) to `consume` in order and in batches, so that a text of millions of them takes little
  // memory. `at_start`: `text` is the beginning of the whole input. What `consume` gets is valid during the call.
  using Consumer = function_ref<void(std::string_view text, std::span<const TextRange> pieces)>;
  void run(std::string_view text, bool at_start, Pieces& pieces, StepBudget& budget,
           Consumer consume) const;

 private:
  void parse(const Json& json, const std::string& where);
  void run_splits(size_t step, size_t end, std::span<const TextRange> ranges, Pieces& pieces,
                  StepBudget& budget, Consumer consume) const;

  std::vector<PreTokenizerStep> steps_;
};

// The stand-in character of each byte in byte-level vocabularies (GPT-2's table).
char32_t byte_stand_in(unsigned char byte);
// The byte that a stand-in stands for; -1 for other characters.
int byte_of_stand_in(char32_t c);
// Every byte of `bytes` as its stand-in.
void append_stand_ins(std::string_view bytes, std::string& out);

}  // namespace hearth::text
