// What a pre-tokenizer or normalizer looks for: a regular expression, a literal or a class of characters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"
#include "text/tokenizer/known_patterns.h"
#include "text/tokenizer/regex.h"

namespace hearth::text {

// One character with one of these classes; ASCII symbols count as punctuation where `ascii_punctuation`.
struct CharSet {
  uint16_t classes = 0;
  bool ascii_punctuation = false;
};

class Matcher {
 public:
  explicit Matcher(CharSet set) : what_(set) {}
  explicit Matcher(KnownPattern known) : what_(known) {}
  explicit Matcher(std::string literal) : what_(std::move(literal)) {}
  explicit Matcher(Regex regex) : what_(std::move(regex)) {}
  // {"String": ...} or {"Regex": ...}, as Split and Replace have it. Throws kCorruptData naming `where`.
  static Matcher parse(const Json& pattern, std::string_view where);

  // The first match beginning at `from` or later; an empty literal never matches.
  std::optional<TextRange> find(std::string_view text, int64_t from, RegexScratch& scratch,
                                StepBudget& budget) const;

  // kNone when it is not one of the known patterns.
  KnownPattern known() const {
    const auto* k = std::get_if<KnownPattern>(&what_);
    return k == nullptr ? KnownPattern::kNone : *k;
  }
  const std::string* literal() const { return std::get_if<std::string>(&what_); }

 private:
  std::variant<CharSet, KnownPattern, std::string, Regex> what_;
};

}  // namespace hearth::text
