// Methods of str.
#include <algorithm>

#include "base/error.h"
#include "text/jinja/format.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/native.h"
#include "text/jinja/operators.h"
#include "text/jinja/text_ops.h"

namespace hearth::jinja {
namespace {

Value text(Str s) { return Value::string(std::move(s)); }

// A separator or set of characters; null for none, which means white space.
const Str* optional_text(const Bound& args, size_t i) {
  return args.has_value(i) ? &args.str(i) : nullptr;
}

template <Side side>
Value strip_side(Interpreter& in, const Value& self, Bound& args) {
  return text(strip(in.budget(), self.str(), optional_text(args, 0), side));
}

template <Side side>
Value split_side(Interpreter& in, const Value& self, Bound& args) {
  return Value::object(
      &split(in.heap(), self.str(), optional_text(args, 0), args.int_or(1, -1), side));
}

Value split_lines_method(Interpreter& in, const Value& self, Bound& args) {
  return Value::object(&split_lines(in.heap(), self.str(), args.bool_or(0, false)));
}

// The bytes that [start:end] of arguments `first` and `first + 1` select.
struct Window {
  int64_t begin, end;
  bool is_empty_match_possible;
};
Window window(const Str& s, const Bound& args, size_t first) {
  const int64_t length = s.chars();
  const auto bound = [&](size_t i, int64_t otherwise) {
    int64_t at = args.has_value(i) ? args.int_or(i, otherwise) : otherwise;
    if (at < 0) at = std::max<int64_t>(0, at < -length ? 0 : at + length);
    return at;
  };
  const int64_t start = bound(first, 0);
  const int64_t end = std::min(bound(first + 1, length), length);
  if (start > end) return {0, 0, false};
  return {s.offset_of_char(start), s.offset_of_char(end), true};
}

template <bool from_right>
int64_t find_in(Interpreter& in, const Value& self, const Bound& args) {
  const Str& s = self.str();
  const Str& what = args.str(0);
  const Window w = window(s, args, 1);
  if (!w.is_empty_match_possible) return -1;
  in.budget().step(s.size() / 256);
  const std::string_view part =
      s.view().substr(static_cast<size_t>(w.begin), static_cast<size_t>(w.end - w.begin));
  const int64_t at = from_right ? rfind_text(part, what.view()) : find_text(part, what.view());
  return at < 0 ? -1 : count_chars(s.view().substr(0, static_cast<size_t>(w.begin + at)));
}

template <bool from_right>
Value find_method(Interpreter& in, const Value& self, Bound& args) {
  return Value::integer(find_in<from_right>(in, self, args));
}

template <bool from_right>
Value index_method(Interpreter& in, const Value& self, Bound& args) {
  const int64_t at = find_in<from_right>(in, self, args);
  if (at < 0) fail(Code::kInvalidArgument, "substring not found");
  return Value::integer(at);
}

Value count_method(Interpreter& in, const Value& self, Bound& args) {
  const Str& s = self.str();
  const Str& what = args.str(0);
  const Window w = window(s, args, 1);
  if (!w.is_empty_match_possible) return Value::integer(0);
  const std::string_view part =
      s.view().substr(static_cast<size_t>(w.begin), static_cast<size_t>(w.end - w.begin));
  if (what.empty()) return Value::integer(count_chars(part) + 1);
  in.budget().step(s.size() / 256);
  int64_t count = 0;
  for (int64_t at = find_text(part, what.view()); at >= 0;
       at = find_text(part, what.view(), at + what.size()))
    ++count;
  return Value::integer(count);
}

template <bool at_start>
Value affix_method(Interpreter& in, const Value& self, Bound& args) {
  in.budget().step(self.str().size() / 512);
  const Str& s = self.str();
  const Window w = window(s, args, 1);
  const std::string_view part =
      s.view().substr(static_cast<size_t>(w.begin), static_cast<size_t>(w.end - w.begin));
  const auto matches = [&](const Value& affix) {
    if (!affix.is_string()) {
      if (affix.is_undefined()) refuse_undefined(affix);
      fail(Code::kInvalidArgument, at_start ? "startswith" : "endswith",
           " first arg must be str or a tuple of str, not ", type_name(affix));
    }
    return w.is_empty_match_possible &&
           (at_start ? part.starts_with(affix.text()) : part.ends_with(affix.text()));
  };
  if (args[0].is(Kind::kTuple))
    return Value::boolean(std::ranges::any_of(args[0].as<List>().items, matches));
  return Value::boolean(matches(args[0]));
}

Value replace_method(Interpreter& in, const Value& self, Bound& args) {
  return text(replace(in.budget(), self.str(), args.str(0), args.str(1), args.int_or(2, -1)));
}

template <Case to>
Value case_method(Interpreter& in, const Value& self, Bound&) {
  return text(to == Case::kLower ? lower_greek(in.budget(), self.str())
                                 : change_case(in.budget(), self.str(), to));
}

template <Str (*convert)(Budget&, const Str&)>
Value convert_method(Interpreter& in, const Value& self, Bound&) {
  return text(convert(in.budget(), self.str()));
}

template <Align align>
Value pad_method(Interpreter& in, const Value& self, Bound& args) {
  std::string_view fill = " ";
  if (args.has(1)) {
    if (args.str(1).chars() != 1)
      fail(Code::kInvalidArgument, "The fill character must be exactly one character long");
    fill = args.str(1).view();
  }
  return text(pad(in.budget(), self.str(), args.int_or(0, 0), align, fill));
}

Value zfill_method(Interpreter& in, const Value& self, Bound& args) {
  const Str& s = self.str();
  const int64_t missing = args.int_or(0, 0) - s.chars();
  if (missing <= 0) return self;
  const bool has_sign = s.view().starts_with('+') || s.view().starts_with('-');
  StrBuilder out(in.budget());
  out.append(s, 0, has_sign ? 1 : 0);
  out.append(repeat(in.budget(), Str(&in.budget(), "0", Origin::kTemplate), missing));
  out.append(s, has_sign ? 1 : 0, s.size());
  return text(out.take());
}

template <bool from_right>
Value partition_method(Interpreter& in, const Value& self, Bound& args) {
  const Str& s = self.str();
  const Str& separator = args.str(0);
  if (separator.empty()) fail(Code::kInvalidArgument, "empty separator");
  in.budget().step(s.size() / 256);
  const int64_t at =
      from_right ? rfind_text(s.view(), separator.view()) : find_text(s.view(), separator.view());
  List& out = in.heap().make<List>(Kind::kTuple);
  const auto push = [&](Str part) { in.heap().push(out, text(std::move(part))); };
  if (at < 0) {
    if (from_right) push(Str()), push(Str());
    push(s);
    if (!from_right) push(Str()), push(Str());
  } else {
    push(substr(in.budget(), s, 0, at));
    push(substr(in.budget(), s, at, at + separator.size()));
    push(substr(in.budget(), s, at + separator.size(), s.size()));
  }
  return Value::object(&out);
}

template <bool at_start>
Value remove_affix_method(Interpreter& in, const Value& self, Bound& args) {
  const Str& s = self.str();
  const Str& affix = args.str(0);
  const bool has = at_start ? s.view().starts_with(affix.view()) : s.view().ends_with(affix.view());
  if (!has) return self;
  return text(at_start ? substr(in.budget(), s, affix.size(), s.size())
                       : substr(in.budget(), s, 0, s.size() - affix.size()));
}

Value join_method(Interpreter& in, const Value& self, Bound& args) {
  const List& items = to_list(in.heap(), args[0]);
  for (size_t i = 0; i < items.items.size(); ++i) {
    if (items.items[i].is_string()) continue;
    fail(Code::kInvalidArgument, "sequence item ", i, ": expected str instance, ",
         type_name(items.items[i]), " found");
  }
  return text(join(in.heap(), self.str(), items));
}

Value format_method(Interpreter& in, const Value& self, Bound& args) {
  return text(format_braces(in, self.str(), args.rest(), args.named_rest()));
}

Value format_map_method(Interpreter& in, const Value& self, Bound& args) {
  if (!args[0].is(Kind::kDict))
    fail(Code::kInvalidArgument, "format_map() argument must be a mapping");
  std::vector<std::pair<Str, Value>> named;
  for (const auto& [key, value] : args[0].as<Dict>().entries) {
    if (key.is_string()) named.emplace_back(key.str(), value);
  }
  return text(format_braces(in, self.str(), {}, named));
}

template <bool (*is)(int32_t)>
Value every_char(Interpreter& in, const Value& self, Bound&) {
  const std::string_view s = self.text();
  in.budget().scan(self.str().size());
  for (int64_t at = 0; at < self.str().size();) {
    const int64_t bytes = char_bytes(s, at);
    if (!is(char_at(s, at, bytes))) return Value::boolean(false);
    at += bytes;
  }
  return Value::boolean(!s.empty());
}

Value isascii_method(Interpreter&, const Value& self, Bound&) {
  return Value::boolean(self.str().is_ascii());
}

Value isprintable_method(Interpreter& in, const Value& self, Bound& args) {
  return Value::boolean(self.str().empty() || every_char<is_printable>(in, self, args).as_bool());
}

Value isidentifier_method(Interpreter& in, const Value& self, Bound& args) {
  if (self.str().empty()) return Value::boolean(false);
  const int32_t first = char_at(self.text(), 0, char_bytes(self.text(), 0));
  return Value::boolean(is_identifier_start(first) &&
                        every_char<is_identifier_part>(in, self, args).as_bool());
}

Value istitle_method(Interpreter& in, const Value& self, Bound&) {
  bool follows_cased = false;
  bool has_cased = false;
  const std::string_view s = self.text();
  in.budget().scan(self.str().size());
  for (int64_t at = 0; at < self.str().size();) {
    const int64_t bytes = char_bytes(s, at);
    const int32_t c = char_at(s, at, bytes);
    at += bytes;
    const bool starts = is_upper(c) || is_title(c);
    if (starts && follows_cased) return Value::boolean(false);
    if (is_lower(c) && !follows_cased) return Value::boolean(false);
    follows_cased = starts || is_lower(c);
    has_cased |= follows_cased;
  }
  return Value::boolean(has_cased);
}

Value expandtabs_method(Interpreter& in, const Value& self, Bound& args) {
  const int64_t size = std::clamp<int64_t>(args.int_or(0, 8), 0, 10000);
  in.budget().scan(2 * self.str().size());
  StrBuilder out(in.budget());
  int64_t column = 0;
  for (int64_t at = 0; at < self.str().size();) {
    const int64_t bytes = char_bytes(self.text(), at);
    const char c = self.text()[static_cast<size_t>(at)];
    if (c == '\t') {
      const int64_t spaces = size == 0 ? 0 : size - column % size;
      out.append_template(std::string(static_cast<size_t>(spaces), ' '));
      column += spaces;
    } else {
      out.append(self.str(), at, at + bytes);
      column = c == '\n' || c == '\r' ? 0 : column + 1;
    }
    at += bytes;
  }
  return text(out.take());
}

Value encode_method(Interpreter&, const Value&, Bound&) {
  fail(Code::kUnsupported, "encode() is not supported: templates have no bytes");
}

template <bool upper>
Value is_case_method(Interpreter& in, const Value& self, Bound&) {
  in.budget().scan(self.str().size());
  return Value::boolean(upper ? is_upper_text(self.text()) : is_lower_text(self.text()));
}

constexpr Native kMethods[] = {
    {"capitalize", "/", 0, convert_method<capitalize>},
    {"casefold", "/", 0, case_method<Case::kLower>},
    {"center", "/ width fillchar", 1, pad_method<Align::kCenter>},
    {"count", "/ sub start end", 1, count_method},
    {"encode", "encoding errors", 0, encode_method},
    {"endswith", "/ suffix start end", 1, affix_method<false>},
    {"expandtabs", "tabsize", 0, expandtabs_method},
    {"find", "/ sub start end", 1, find_method<false>},
    {"format", "* **", 0, format_method},
    {"format_map", "/ mapping", 1, format_map_method},
    {"index", "/ sub start end", 1, index_method<false>},
    {"isalnum", "/", 0, every_char<is_alnum>},
    {"isalpha", "/", 0, every_char<is_alpha>},
    {"isascii", "/", 0, isascii_method},
    {"isdecimal", "/", 0, every_char<is_decimal>},
    {"isdigit", "/", 0, every_char<is_digit>},
    {"isidentifier", "/", 0, isidentifier_method},
    {"islower", "/", 0, is_case_method<false>},
    {"isnumeric", "/", 0, every_char<is_numeric>},
    {"isprintable", "/", 0, isprintable_method},
    {"isspace", "/", 0, every_char<is_space>},
    {"istitle", "/", 0, istitle_method},
    {"isupper", "/", 0, is_case_method<true>},
    {"join", "/ iterable", 1, join_method},
    {"ljust", "/ width fillchar", 1, pad_method<Align::kLeft>},
    {"lower", "/", 0, case_method<Case::kLower>},
    {"lstrip", "/ chars", 0, strip_side<Side::kLeft>},
    {"partition", "/ sep", 1, partition_method<false>},
    {"removeprefix", "/ prefix", 1, remove_affix_method<true>},
    {"removesuffix", "/ suffix", 1, remove_affix_method<false>},
    {"replace", "/ old new count", 2, replace_method},
    {"rfind", "/ sub start end", 1, find_method<true>},
    {"rindex", "/ sub start end", 1, index_method<true>},
    {"rjust", "/ width fillchar", 1, pad_method<Align::kRight>},
    {"rpartition", "/ sep", 1, partition_method<true>},
    {"rsplit", "sep maxsplit", 0, split_side<Side::kRight>},
    {"rstrip", "/ chars", 0, strip_side<Side::kRight>},
    {"split", "sep maxsplit", 0, split_side<Side::kLeft>},
    {"splitlines", "keepends", 0, split_lines_method},
    {"startswith", "/ prefix start end", 1, affix_method<true>},
    {"strip", "/ chars", 0, strip_side<Side::kBoth>},
    {"swapcase", "/", 0, convert_method<swap_case>},
    {"title", "/", 0, convert_method<title>},
    {"upper", "/", 0, case_method<Case::kUpper>},
    {"zfill", "/ width", 1, zfill_method},
};

}  // namespace

const Native* find_string_method(std::string_view name) {
  const auto* const found = std::ranges::lower_bound(kMethods, name, {}, &Native::name);
  return found != std::end(kMethods) && found->name == name ? found : nullptr;
}

}  // namespace hearth::jinja
