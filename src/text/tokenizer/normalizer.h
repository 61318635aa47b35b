// The `normalizer` of tokenizer.json: rewrites a text before it is cut.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "text/tokenizer/matcher.h"

namespace hearth::text {

// Immutable; shared between threads.
class Normalizer {
 public:
  Normalizer();
  // `json` may be null: nothing to do. Throws kCorruptData or kUnsupported naming `where`.
  Normalizer(const Json& json, std::string_view where);
  ~Normalizer();
  Normalizer(Normalizer&&) noexcept;
  Normalizer& operator=(Normalizer&&) noexcept;

  bool is_empty() const { return steps_.empty(); }

  // `text` is well-formed UTF-8, and so is the result, which lives in `buffer` (or is `text`).
  std::string_view run(std::string_view text, std::string& buffer, RegexScratch& scratch,
                       StepBudget& budget) const;

  struct Step;

 private:
  void parse(const Json& json, const std::string& where);

  std::vector<Step> steps_;
};

}  // namespace hearth::text
