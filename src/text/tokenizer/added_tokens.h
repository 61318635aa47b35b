// Added tokens: texts that become one token before anything else looks at them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/tokenizer/known_patterns.h"
#include "text/tokenizer/normalizer.h"
#include "text/tokenizer/tokenizer_file.h"
#include "text/tokenizer/trie.h"

namespace hearth::text {

// Whether the token steers the model rather than being text: `special`, spelled <|...|> or <｜...｜>, or a tag of
// reasoning or tool calls.
bool is_control(const AddedToken& token);

// Where control tokens are recognised in the text that is being searched.
struct ControlScope {
  enum class Kind : uint8_t { kNowhere, kEverywhere, kRanges };
  Kind kind = Kind::kNowhere;
  std::span<const TextRange> ranges =
      {};  // kRanges: ascending, disjoint; a token must lie in one of them
};

// Immutable; shared between threads.
class AddedTokens {
 public:
  AddedTokens() = default;
  // Ids are already the final ones; contents may not be over 1 KiB (kCorruptData naming `name`).
  AddedTokens(std::vector<AddedToken> tokens, const Normalizer& normalizer, std::string_view name);

  const AddedToken* find(int32_t id) const;
  const std::vector<AddedToken>& all() const { return tokens_; }

  struct Part {
    TextRange range;
    int32_t id;  // -1: text between tokens
  };
  // Cuts raw text at the tokens that are matched before normalization; appends to `parts`.
  void split_raw(std::string_view text, const ControlScope& scope, std::vector<Part>& parts) const;
  // Cuts normalized text at the tokens that are matched after it. Without any, one part.
  void split_normalized(std::string_view text, bool with_control, std::vector<Part>& parts) const;
  bool has_normalized() const { return normalized_.has_any; }

 private:
  struct Index {
    Trie trie;
    std::array<bool, 256> begins{};
    bool has_any = false;
    void add(std::string_view content, size_t token);
  };
  template <class Allowed>
  void split(std::string_view text, const Index& index, Allowed allowed,
             std::vector<Part>& parts) const;
  template <class Allowed>
  std::pair<int64_t, int32_t> longest(std::string_view text, int64_t at, const Index& index,
                                      Allowed allowed) const;

  std::vector<AddedToken> tokens_;
  std::vector<bool> controls_;  // by index in tokens_
  std::unordered_map<int32_t, size_t> by_id_;
  Index
      raw_;  // also the control tokens of `normalized_`, for scopes of ranges, which normalizing would lose
  Index normalized_;
};

}  // namespace hearth::text
