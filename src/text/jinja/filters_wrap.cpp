// wordwrap and striptags: too entangled to follow each byte, so their result is untrusted if any of the text was.
#include <algorithm>
#include <charconv>
#include <string>

#include "base/error.h"
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"
#include "text/jinja/printing.h"
#include "text/jinja/text_ops.h"

namespace hearth::jinja {
namespace {

using Chars = std::vector<int32_t>;  // code points

Chars chars_of(std::string_view text) {
  Chars out;
  for (int64_t at = 0; at < static_cast<int64_t>(text.size());) {
    const int64_t bytes = char_bytes(text, at);
    out.push_back(char_at(text, at, bytes));
    at += bytes;
  }
  return out;
}

// textwrap.TextWrapper of CPython, for one line without line ends.
class Wrapper {
 public:
  Wrapper(Budget& budget, int64_t width, bool breaks_words, bool breaks_hyphens)
      : budget_(budget),
        width_(width),
        breaks_words_(breaks_words),
        breaks_hyphens_(breaks_hyphens) {}

  std::vector<Chars> wrap(const Chars& line) {
    std::vector<Chars> chunks = cut(line);
    std::ranges::reverse(chunks);
    std::vector<Chars> lines;
    while (!chunks.empty()) {
      std::vector<Chars> current;
      int64_t length = 0;
      if (!lines.empty() && is_blank(chunks.back())) chunks.pop_back();
      while (!chunks.empty() && length + size(chunks.back()) <= width_) {
        budget_.step();
        length += size(chunks.back());
        current.push_back(std::move(chunks.back()));
        chunks.pop_back();
      }
      if (!chunks.empty() && size(chunks.back()) > width_) break_long(chunks, current, length);
      if (!current.empty() && is_blank(current.back())) current.pop_back();
      if (current.empty()) continue;
      Chars joined;
      for (const Chars& part : current) joined.insert(joined.end(), part.begin(), part.end());
      lines.push_back(std::move(joined));
    }
    return lines;
  }

 private:
  static int64_t size(const Chars& chars) { return static_cast<int64_t>(chars.size()); }
  static bool is_wrap_space(int32_t c) { return c == ' ' || (c >= 9 && c <= 13); }
  static bool is_blank(const Chars& chars) { return std::ranges::all_of(chars, is_space); }
  static bool is_letter(int32_t c) {
    return (is_alnum(c) || c == '_') && !is_decimal(c);
  }  // regex [^\d\W]
  static bool is_word(int32_t c) { return is_alnum(c) || c == '_'; }

  // Whether a word may be cut after the hyphen at `i`: letters on both sides.
  static bool is_soft_hyphen(const Chars& line, size_t i) {
    const auto at = [&](size_t j) { return j < line.size() ? line[j] : 0; };
    const bool before =
        (i >= 2 && is_letter(line[i - 1]) && is_letter(line[i - 2])) ||
        (i >= 3 && is_letter(line[i - 1]) && line[i - 2] == '-' && is_letter(line[i - 3]));
    const size_t next = i + 1;
    const bool after = is_letter(at(next)) && (is_letter(at(next + 1)) ||
                                               (at(next + 1) == '-' && is_letter(at(next + 2))));
    return before && after;
  }

  // Length of an em-dash ("--" or longer between words) at `i`, 0 if there is none.
  static size_t dash_at(const Chars& line, size_t i) {
    size_t end = i;
    while (end < line.size() && line[end] == '-') ++end;
    const bool follows =
        i > 0 && (is_word(line[i - 1]) ||
                  std::string_view("!\"'&.,?")
                          .find(static_cast<char>(line[i - 1] < 0x80 ? line[i - 1] : 0)) !=
                      std::string_view::npos);
    return end - i >= 2 && follows && end < line.size() && is_word(line[end]) ? end - i : 0;
  }

  std::vector<Chars> cut(const Chars& line) {
    std::vector<Chars> chunks;
    for (size_t begin = 0; begin < line.size();) {
      budget_.step();
      size_t end = begin + 1;
      const size_t dash = breaks_hyphens_ ? dash_at(line, begin) : 0;
      if (is_wrap_space(line[begin])) {
        while (end < line.size() && is_wrap_space(line[end])) ++end;
      } else if (dash > 0) {
        end = begin + dash;
      } else {
        while (end < line.size() && !is_wrap_space(line[end])) {
          if (breaks_hyphens_ && dash_at(line, end) > 0) break;
          if (breaks_hyphens_ && end > begin && line[end - 1] == '-' && end - 1 > begin &&
              is_soft_hyphen(line, end - 1))
            break;
          ++end;
        }
      }
      chunks.emplace_back(line.begin() + static_cast<int64_t>(begin),
                          line.begin() + static_cast<int64_t>(end));
      begin = end;
    }
    return chunks;
  }

  void break_long(std::vector<Chars>& chunks, std::vector<Chars>& current, int64_t length) const {
    Chars& chunk = chunks.back();
    if (breaks_words_) {
      const int64_t space = width_ < 1 ? 1 : width_ - length;
      int64_t end = space;
      if (breaks_hyphens_ && size(chunk) > space) {
        int64_t hyphen = space - 1;
        while (hyphen > 0 && chunk[static_cast<size_t>(hyphen)] != '-') --hyphen;
        const bool has_other = hyphen > 0 && std::any_of(chunk.begin(), chunk.begin() + hyphen,
                                                         [](int32_t c) { return c != '-'; });
        if (has_other) end = hyphen + 1;
      }
      current.emplace_back(chunk.begin(), chunk.begin() + end);
      chunk.erase(chunk.begin(), chunk.begin() + end);
    } else if (current.empty()) {
      current.push_back(std::move(chunk));
      chunks.pop_back();
    }
  }

  Budget& budget_;
  int64_t width_;
  bool breaks_words_;
  bool breaks_hyphens_;
};

Value wordwrap_filter(Interpreter& in, const Value& value, Bound& args) {
  if (value.is_undefined()) refuse_undefined(value);
  if (!value.is_string())
    fail(Code::kInvalidArgument, "wordwrap needs a string, not ", type_name(value));
  const int64_t width = args.int_or(0, 79);
  Wrapper wrapper(in.budget(), width, args.bool_or(1, true), args.bool_or(3, true));
  const std::string separator = args.has_value(2) ? std::string(args.str(2).view()) : "\n";
  std::string out;
  bool is_first = true;
  const auto& lines = split_lines(in.heap(), value.str(), false).items;
  in.budget().step(value.str().size());
  for (const Value& line : lines) {
    if (width <= 0) fail(Code::kInvalidArgument, "invalid width ", width, " (must be > 0)");
    if (!std::exchange(is_first, false)) out += separator;
    bool is_first_part = true;
    for (const Chars& part : wrapper.wrap(chars_of(line.text()))) {
      if (!std::exchange(is_first_part, false)) out += separator;
      in.budget().step(1 + static_cast<int64_t>(separator.size()) / 16);
      for (const int32_t c : part) append_utf8(out, c);
    }
  }
  const Str sources[] = {value.str(), args.has_value(2) ? args.str(2) : Str()};
  return Value::string(derived(in.budget(), std::move(out), sources));
}

// Text without what lies between `open` and `close`; an unclosed rest stays.
std::string drop_between(std::string_view text, std::string_view open, std::string_view close) {
  std::string out;
  while (true) {
    const size_t begin = text.find(open);
    const size_t end = begin == std::string_view::npos ? begin : text.find(close, begin);
    if (end == std::string_view::npos) break;
    out += text.substr(0, begin);
    text.remove_prefix(end + close.size());
  }
  return out += text;
}

std::string resolve_entities(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kNamed[] = {
      {"amp;", "&"},   {"lt;", "<"},   {"gt;", ">"},
      {"quot;", "\""}, {"apos;", "'"}, {"nbsp;", "\xC2\xA0"}};
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at + 1);
    const auto* const named =
        std::ranges::find_if(kNamed, [&](const auto& n) { return rest.starts_with(n.first); });
    if (text[at] != '&') {
      out += text[at++];
    } else if (named != std::end(kNamed)) {
      out += named->second;
      at += 1 + named->first.size();
    } else {
      const bool is_hex = rest.starts_with("#x") || rest.starts_with("#X");
      const std::string_view digits = rest.substr(std::min<size_t>(is_hex ? 2 : 1, rest.size()));
      int32_t code_point = 0;
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + std::min<size_t>(digits.size(), 8),
                          code_point, is_hex ? 16 : 10);
      const bool is_number = rest.starts_with('#') && error == std::errc() &&
                             end < digits.data() + digits.size() && *end == ';';
      if (!is_number) {
        out += text[at++];
        continue;
      }
      append_utf8(out, code_point);
      at = static_cast<size_t>(end + 1 - text.data());
    }
  }
  return out;
}

Value striptags_filter(Interpreter& in, const Value& value, Bound&) {
  Budget& budget = in.budget();
  const Str s = to_text(in.heap(), value);
  budget.step(s.size() / 16);
  const std::string plain = drop_between(drop_between(s.view(), "<!--", "-->"), "<", ">");
  std::string joined;
  for (const Value& word :
       split(in.heap(), Str(&budget, plain, Origin::kTemplate), nullptr, -1, Side::kLeft).items) {
    if (!joined.empty()) joined += ' ';
    joined += word.text();
  }
  return Value::string(derived(budget, resolve_entities(joined), std::span(&s, 1)));
}

constexpr Native kFilters[] = {
    {"striptags", "/", 0, striptags_filter},
    {"wordwrap", "width break_long_words wrapstring break_on_hyphens", 0, wordwrap_filter},
};

}  // namespace

std::span<const Native> wrap_filters() { return kFilters; }

}  // namespace hearth::jinja
