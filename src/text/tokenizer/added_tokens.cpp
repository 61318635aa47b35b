#include "text/tokenizer/added_tokens.h"

#include <algorithm>

#include "base/error.h"
#include "text/tokenizer/char_class.h"
#include "text/unicode.h"

namespace hearth::text {
namespace {

constexpr size_t kMaxContentBytes = 1024;

bool is_char(std::string_view text, int64_t at, uint16_t mask) {
  return CharClasses::get().is(decode_utf8(text.data() + at).c, mask);
}

int64_t char_before(std::string_view text, int64_t at) {
  --at;
  while (at > 0 && (static_cast<unsigned char>(text[static_cast<size_t>(at)]) & 0xC0U) == 0x80)
    --at;
  return at;
}

// Whether the token at [begin, end) touches no word character outside.
bool stands_alone(std::string_view text, int64_t begin, int64_t end) {
  if (begin > 0 && is_char(text, char_before(text, begin), kWord)) return false;
  return end == static_cast<int64_t>(text.size()) || !is_char(text, end, kWord);
}

}  // namespace

bool is_control(const AddedToken& token) {
  if (token.special) return true;
  std::string_view s = token.content;
  if (s.size() < 3 || !s.starts_with('<') || !s.ends_with('>')) return false;
  if (s.starts_with("<|") || s.ends_with("|>") || s.starts_with("<\uFF5C") ||
      s.ends_with("\uFF5C>"))
    return true;
  s = s.substr(1, s.size() - 2);
  if (s.starts_with('/')) s.remove_prefix(1);
  constexpr std::array<std::string_view, 14> kTags = {
      "think",         "thinking",  "reasoning",  "answer",        "tool",
      "tools",         "tool_call", "tool_calls", "tool_response", "tool_result",
      "function_call", "arg_key",   "arg_value",  "functions"};
  return std::find(kTags.begin(), kTags.end(), s) != kTags.end();
}

void AddedTokens::Index::add(std::string_view content, size_t token) {
  if (content.empty()) return;
  trie.add(content, static_cast<int32_t>(token));
  begins[static_cast<unsigned char>(content.front())] = true;
  has_any = true;
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const Normalizer& normalizer,
                         std::string_view name)
    : tokens_(std::move(tokens)) {
  RegexScratch regex;
  StepBudget budget{1'000'000};
  std::string buffer;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const AddedToken& token = tokens_[i];
    require_data(token.content.size() <= kMaxContentBytes, name, ": added token ", token.id,
                 " is over 1 KiB long");
    by_id_.emplace(token.id, i);
    controls_.push_back(is_control(token));
    if (!token.normalized || controls_.back()) raw_.add(token.content, i);
    if (token.normalized) normalized_.add(normalizer.run(token.content, buffer, regex, budget), i);
  }
}

const AddedToken* AddedTokens::find(int32_t id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &tokens_[it->second];
}

template <class Allowed>
std::pair<int64_t, int32_t> AddedTokens::longest(std::string_view text, int64_t at,
                                                 const Index& index, Allowed allowed) const {
  std::pair<int64_t, int32_t> best{-1, -1};
  int32_t node = 0;
  for (int64_t i = at; i < static_cast<int64_t>(text.size()); ++i) {
    node = index.trie.next(node, static_cast<unsigned char>(text[static_cast<size_t>(i)]));
    if (node < 0) break;
    const int32_t token = index.trie.value(node);
    if (token >= 0 && allowed(static_cast<size_t>(token), TextRange{at, i + 1}))
      best = {i + 1, token};
  }
  return best;
}

template <class Allowed>
void AddedTokens::split(std::string_view text, const Index& index, Allowed allowed,
                        std::vector<Part>& parts) const {
  const auto size = static_cast<int64_t>(text.size());
  int64_t done = 0;
  for (int64_t at = 0; at < size;) {
    if (!index.begins[static_cast<unsigned char>(text[static_cast<size_t>(at)])]) {
      ++at;
      continue;
    }
    auto [end, number] = longest(text, at, index, allowed);
    if (end < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<size_t>(number)];
    if (token.single_word && !stands_alone(text, at, end)) {
      at = end;  // as the reference, which doesn't look into a match that it turns down
      continue;
    }
    int64_t begin = at;
    while (token.lstrip && begin > done && is_char(text, char_before(text, begin), kSpace)) {
      begin = char_before(text, begin);
    }
    while (token.rstrip && end < size && is_char(text, end, kSpace)) {
      end = decode_utf8(text.data() + end).next - text.data();
    }
    if (begin > done) parts.push_back({{done, begin}, -1});
    parts.push_back({{begin, end}, token.id});
    done = end;
    at = end;
  }
  if (done < size) parts.push_back({{done, size}, -1});
}

void AddedTokens::split_raw(std::string_view text, const ControlScope& scope,
                            std::vector<Part>& parts) const {
  if (!raw_.has_any) {
    if (!text.empty()) parts.push_back({{0, static_cast<int64_t>(text.size())}, -1});
    return;
  }
  size_t cursor = 0;  // ranges before it end before any later match
  split(
      text, raw_,
      [&](size_t token, TextRange where) {
        if (!controls_[token]) return true;
        switch (scope.kind) {
          case ControlScope::Kind::kNowhere:
            return false;
          case ControlScope::Kind::kEverywhere:
            return !tokens_[token].normalized;  // found later
          case ControlScope::Kind::kRanges:
            break;
        }
        while (cursor < scope.ranges.size() && scope.ranges[cursor].end <= where.begin) ++cursor;
        return cursor < scope.ranges.size() && scope.ranges[cursor].begin <= where.begin &&
               where.end <= scope.ranges[cursor].end;
      },
      parts);
}

void AddedTokens::split_normalized(std::string_view text, bool with_control,
                                   std::vector<Part>& parts) const {
  if (!normalized_.has_any) {
    if (!text.empty()) parts.push_back({{0, static_cast<int64_t>(text.size())}, -1});
    return;
  }
  split(
      text, normalized_, [&](size_t token, TextRange) { return with_control || !controls_[token]; },
      parts);
}

}  // namespace hearth::text
