#include "text/tokenizer/decoder_text.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "text/tokenizer/pre_tokenizer.h"

namespace hearth::text {
namespace {

constexpr int64_t kDecodeSteps = 1'000'000;

}  // namespace

std::string bytes_of_stand_ins(std::string_view token) {
  std::string bytes;
  for (const char* p = token.data(); p < token.data() + token.size();) {
    const Decoded d = decode_utf8(p);
    const int byte = byte_of_stand_in(d.c);
    if (byte < 0) return std::string(token);
    bytes.push_back(static_cast<char>(byte));
    p = d.next;
  }
  return bytes;
}

std::string replace_all(std::string_view text, std::string_view what, std::string_view with) {
  if (what.empty()) return std::string(text);
  std::string out;
  size_t done = 0;
  for (size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, done)) {
    out.append(text, done, at - done).append(with);
    done = at + what.size();
  }
  out.append(text, done);
  return out;
}

std::string replace_all(const ReplaceDecode& step, std::string_view token, RegexScratch& scratch) {
  if (const std::string* literal = step.matcher.literal())
    return replace_all(token, *literal, step.content);
  StepBudget budget{kDecodeSteps};
  std::string out;
  int64_t done = 0;
  for (int64_t from = 0; from <= static_cast<int64_t>(token.size());) {
    const auto found = step.matcher.find(token, from, scratch, budget);
    if (!found || found->end <= found->begin) break;
    out.append(token, static_cast<size_t>(done), static_cast<size_t>(found->begin - done))
        .append(step.content);
    done = from = found->end;
  }
  out.append(token, static_cast<size_t>(done));
  return out;
}

std::string_view strip_token(const StripDecode& step, std::string_view token) {
  for (int64_t i = 0; i < step.start && token.starts_with(step.content); ++i)
    token.remove_prefix(step.content.size());
  for (int64_t i = 0; i < step.stop && token.ends_with(step.content); ++i)
    token.remove_suffix(step.content.size());
  return token;
}

std::string decode_metaspace(const MetaspaceDecode& step, std::string_view token, bool is_first) {
  return replace_all(token, step.replacement, is_first && step.drops_first ? "" : " ");
}

std::string decode_word_piece(const WordPieceDecode& step, std::string_view token, bool is_first) {
  std::string text;
  if (is_first) {
    text = token;
  } else if (!step.prefix.empty() && token.starts_with(step.prefix)) {
    text = token.substr(step.prefix.size());
  } else {
    text = " ";
    text.append(token);
  }
  return step.cleanup ? clean_up(std::move(text)) : text;
}

std::string clean_up(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kRules = {{
      {" .", "."},
      {" ?", "?"},
      {" !", "!"},
      {" ,", ","},
      {" ' ", "'"},
      {" n't", "n't"},
      {" 'm", "'m"},
      {" do not", " don't"},
      {" 's", "'s"},
      {" 've", "'ve"},
      {" 're", "'re"},
  }};
  for (const auto& [what, with] : kRules) text = replace_all(text, what, with);
  return text;
}

}  // namespace hearth::text
