// Regular expressions out of tokenizer.json, run by PCRE2 under limits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::text {

// Steps that one encode() may spend in regular expressions beyond what ordinary text needs.
struct StepBudget {
  int64_t left;
};

// A compiled pattern, immutable and shared between threads. Patterns are written for Oniguruma (what Hugging Face's
// library uses); \w, \s and nested classes are translated, so that PCRE2 means the same characters.
class Regex {
 public:
  // Throws kCorruptData with PCRE2's message, kUnsupported for what PCRE2 can't express (class intersections).
  // `where` names file and field.
  Regex(std::string_view pattern, std::string_view where);
  // A pattern that matches exactly these bytes.
  static std::string escape(std::string_view literal);

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

// One thread's working memory for matching any Regex; costs nothing until it is used.
class RegexScratch {
 public:
  RegexScratch();
  ~RegexScratch();
  RegexScratch(RegexScratch&&) noexcept;
  RegexScratch& operator=(RegexScratch&&) noexcept;

  struct Match {
    int64_t begin;
    int64_t end;
  };
  // The first match in `text` (well-formed UTF-8) that begins at byte `from` or later. Looking around sees nothing
  // outside of `text`. Throws kResourceExhausted when the budget is spent.
  std::optional<Match> find(const Regex& regex, std::string_view text, int64_t from,
                            StepBudget& budget);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hearth::text
