#include "text/tokenizer/matcher.h"

#include "base/error.h"
#include "text/tokenizer/char_class.h"
#include "text/unicode.h"

namespace hearth::text {
namespace {

std::optional<TextRange> find_char(const CharSet& set, std::string_view text, int64_t from) {
  const CharClasses& classes = CharClasses::get();
  const char* const end = text.data() + text.size();
  for (const char* p = text.data() + from; p < end;) {
    const Decoded d = decode_utf8(p);
    if (classes.is(d.c, set.classes) || (set.ascii_punctuation && is_ascii_punctuation(d.c))) {
      return TextRange{p - text.data(), d.next - text.data()};
    }
    p = d.next;
  }
  return std::nullopt;
}

std::optional<TextRange> find_literal(std::string_view literal, std::string_view text,
                                      int64_t from) {
  if (literal.empty()) return std::nullopt;
  const size_t at = text.find(literal, static_cast<size_t>(from));
  if (at == std::string_view::npos) return std::nullopt;
  return TextRange{static_cast<int64_t>(at), static_cast<int64_t>(at + literal.size())};
}

}  // namespace

Matcher Matcher::parse(const Json& pattern, std::string_view where) {
  if (const Json* literal = pattern.find("String"); literal != nullptr && literal->is_string()) {
    return Matcher(literal->as_string());
  }
  const Json* regex = pattern.find("Regex");
  require_data(regex != nullptr && regex->is_string(), where,
               ": pattern must be {\"String\": ...} or {\"Regex\": ...}");
  const KnownPattern known = recognise(regex->as_string());
  if (known != KnownPattern::kNone) return Matcher(known);
  return Matcher(Regex(regex->as_string(), where));
}

std::optional<TextRange> Matcher::find(std::string_view text, int64_t from, RegexScratch& scratch,
                                       StepBudget& budget) const {
  if (const auto* known = std::get_if<KnownPattern>(&what_)) return find_known(*known, text, from);
  if (const auto* set = std::get_if<CharSet>(&what_)) return find_char(*set, text, from);
  if (const auto* literal = std::get_if<std::string>(&what_))
    return find_literal(*literal, text, from);
  const auto match = scratch.find(std::get<Regex>(what_), text, from, budget);
  if (!match) return std::nullopt;
  return TextRange{match->begin, match->end};
}

}  // namespace hearth::text
