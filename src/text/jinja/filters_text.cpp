// Filters on text. What is no string is turned into one first, as Jinja2 does.
#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "text/jinja/filters.h"
#include "text/jinja/format.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"
#include "text/jinja/printing.h"
#include "text/jinja/text_ops.h"

namespace hearth::jinja {
namespace {

Value text(Str s) { return Value::string(std::move(s)); }

Value upper_filter(Interpreter& in, const Value& value, Bound&) {
  return text(change_case(in.budget(), to_text(in.heap(), value), Case::kUpper));
}

Value lower_filter(Interpreter& in, const Value& value, Bound&) {
  return text(lower_greek(in.budget(), to_text(in.heap(), value)));
}

Value capitalize_filter(Interpreter& in, const Value& value, Bound&) {
  return text(capitalize(in.budget(), to_text(in.heap(), value)));
}

// Words begin after white space and any of - ( { [ <.
Value title_filter(Interpreter& in, const Value& value, Bound&) {
  const Str s = to_text(in.heap(), value);
  in.budget().scan(2 * s.size());
  StrBuilder out(in.budget());
  const auto separates = [&](int64_t at, int64_t bytes) {
    const int32_t c = char_at(s.view(), at, bytes);
    return is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<';
  };
  for (int64_t at = 0; at < s.size();) {
    const int64_t first = char_bytes(s.view(), at);
    const bool is_separator = separates(at, first);
    int64_t end = at + first;
    while (end < s.size()) {
      const int64_t bytes = char_bytes(s.view(), end);
      if (separates(end, bytes) != is_separator) break;
      end += bytes;
    }
    out.append(change_case(in.budget(), substr(in.budget(), s, at, at + first), Case::kUpper));
    out.append(lower_greek(in.budget(), substr(in.budget(), s, at + first, end)));
    at = end;
  }
  return text(out.take());
}

Value string_filter(Interpreter& in, const Value& value, Bound&) {
  return text(to_text(in.heap(), value));
}

Value trim_filter(Interpreter& in, const Value& value, Bound& args) {
  return text(strip(in.budget(), to_text(in.heap(), value),
                    args.has_value(0) ? &args.str(0) : nullptr, Side::kBoth));
}

Value replace_filter(Interpreter& in, const Value& value, Bound& args) {
  const int64_t count = args.has_value(2) ? args.int_or(2, -1) : -1;
  return text(replace(in.budget(), to_text(in.heap(), value), to_text(in.heap(), args[0]),
                      to_text(in.heap(), args[1]), count));
}

Value center_filter(Interpreter& in, const Value& value, Bound& args) {
  return text(pad(in.budget(), to_text(in.heap(), value), args.int_or(0, 80), Align::kCenter, " "));
}

Value format_filter(Interpreter& in, const Value& value, Bound& args) {
  Heap& heap = in.heap();
  if (!args.rest().empty() && !args.named_rest().empty()) {
    fail(Code::kInvalidArgument, "can't handle positional and keyword arguments at the same time");
  }
  if (!args.named_rest().empty()) {
    Dict& named = heap.make<Dict>();
    for (auto& [name, item] : args.named_rest())
      heap.set(named, Value::string(name), std::move(item));
    return text(format_percent(heap, to_text(heap, value), Value::object(&named)));
  }
  List& items = heap.make<List>(Kind::kTuple);
  for (Value& item : args.rest()) heap.push(items, std::move(item));
  return text(format_percent(heap, to_text(heap, value), Value::object(&items)));
}

Value indent_filter(Interpreter& in, const Value& value, Bound& args) {
  constexpr int64_t kMaxIndent = 1000;
  if (value.is_undefined()) refuse_undefined(value);
  if (!value.is_string())
    fail(Code::kInvalidArgument, "unsupported operand type(s) for +=: '", type_name(value),
         "' and 'str'");
  Budget& budget = in.budget();
  Str indent;
  if (args.has(0) && args[0].is_string()) {
    indent = args[0].str();
  } else {
    const int64_t width = args.int_or(0, 4);
    if (width > kMaxIndent)
      fail(Code::kInvalidArgument, "indent() takes a width of at most ", kMaxIndent);
    indent = Str(&budget, std::string(static_cast<size_t>(std::max<int64_t>(width, 0)), ' '),
                 Origin::kTemplate);
  }
  StrBuilder with_end(budget);  // so that a line end at the end of the text is kept
  with_end.append(value.str());
  with_end.append_template("\n");
  const auto& lines = split_lines(in.heap(), with_end.take(), false).items;
  StrBuilder out(budget);
  if (args.bool_or(1, false)) out.append(indent);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.append_template("\n");
    if (i > 0 && (args.bool_or(2, false) || !lines[i].str().empty())) out.append(indent);
    out.append(lines[i].str());
  }
  return text(out.take());
}

Value truncate_filter(Interpreter& in, const Value& value, Bound& args) {
  const int64_t length = args.int_or(0, 255);
  const Str end = args.has(2) ? args.str(2) : Str(&in.budget(), "...", Origin::kTemplate);
  const int64_t leeway = args.has_value(3) ? args.int_or(3, 5) : 5;
  if (length < end.chars())
    fail(Code::kInvalidArgument, "expected length >= ", end.chars(), ", got ", length);
  if (leeway < 0) fail(Code::kInvalidArgument, "expected leeway >= 0, got ", leeway);
  const int64_t size = length_of(value);
  if (size >= 0 && (size <= length || size - length <= leeway)) return value;
  if (!value.is_string())
    fail(Code::kInvalidArgument, "object of type '", type_name(value), "' can't be truncated");
  const Str& s = value.str();
  int64_t cut = s.offset_of_char(length - end.chars());
  if (!args.bool_or(1, false)) {
    const int64_t space = rfind_text(s.view().substr(0, static_cast<size_t>(cut)), " ");
    if (space >= 0) cut = space;
  }
  StrBuilder out(in.budget());
  out.append(s, 0, cut);
  out.append(end);
  return text(out.take());
}

Value wordcount_filter(Interpreter& in, const Value& value, Bound&) {
  const Str s = to_text(in.heap(), value);
  in.budget().scan(s.size());
  int64_t count = 0;
  bool in_word = false;
  for (int64_t at = 0; at < s.size();) {
    const int64_t bytes = char_bytes(s.view(), at);
    const int32_t c = char_at(s.view(), at, bytes);
    const bool is_word = is_alnum(c) || c == '_';
    if (is_word && !in_word) ++count;
    in_word = is_word;
    at += bytes;
  }
  return Value::integer(count);
}

Str escaped(Interpreter& in, const Value& value) {
  if (value.is_string() && value.str().is_markup()) return value.str();
  return escape_html(in.budget(), to_text(in.heap(), value));
}

Value escape_filter(Interpreter& in, const Value& value, Bound&) {
  return text(escaped(in, value));
}

Value forceescape_filter(Interpreter& in, const Value& value, Bound&) {
  return text(escape_html(in.budget(), to_text(in.heap(), value)));
}

Value safe_filter(Interpreter& in, const Value& value, Bound&) {
  StrBuilder out(in.budget());
  append_text(in.heap(), out, value);
  return text(out.take(StrBuilder::Form::kMarkup));
}

Value xmlattr_filter(Interpreter& in, const Value& value, Bound& args) {
  if (value.is_undefined()) refuse_undefined(value);
  if (!value.is(Kind::kDict))
    fail(Code::kInvalidArgument, "'", type_name(value), "' object has no attribute 'items'");
  StrBuilder out(in.budget());
  for (const auto& [key, item] : value.as<Dict>().entries) {
    if (item.is_none() || item.is_undefined()) continue;
    if (!key.is_string())
      fail(Code::kInvalidArgument, "expected string or bytes-like object, got '", type_name(key),
           "'");
    if (key.text().find_first_of(" \t\n\r\f\v/>=") != std::string_view::npos) {
      fail(Code::kInvalidArgument,
           "Invalid character in attribute name: ", plain_repr(in.heap(), key));
    }
    if (out.size() > 0 || args.bool_or(0, true)) out.append_template(" ");
    out.append(escaped(in, key));
    out.append_template("=\"");
    out.append(escaped(in, item));
    out.append_template("\"");
  }
  return text(out.take());
}

void append_quoted(Budget& budget, StrBuilder& out, const Str& s, bool is_query) {
  budget.scan(2 * s.size());
  constexpr std::string_view kSafe =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~";
  for (int64_t at = 0; at < s.size(); ++at) {
    const char c = s.view()[static_cast<size_t>(at)];
    if (kSafe.find(c) != std::string_view::npos || (c == '/' && !is_query)) {
      out.append(s, at, at + 1);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    const std::string code = c == ' ' && is_query ? "+"
                                                  : std::string{'%', "0123456789ABCDEF"[byte >> 4U],
                                                                "0123456789ABCDEF"[byte & 15U]};
    out.append(code, is_untrusted(s, at, at + 1) ? Origin::kRequest : Origin::kTemplate);
  }
}

Value urlencode_filter(Interpreter& in, const Value& value, Bound&) {
  Heap& heap = in.heap();
  StrBuilder out(in.budget());
  const bool is_walkable = value.is_sequence() || value.is(Kind::kDict) ||
                           value.is(Kind::kDictView) || value.is(Kind::kIterator) ||
                           value.is(Kind::kRange) || value.is_undefined();
  if (!is_walkable) {
    append_quoted(in.budget(), out, to_text(heap, value), false);
    return text(out.take());
  }
  const Value pairs =
      value.is(Kind::kDict)
          ? Value::object(&heap.make<DictView>(&value.as<Dict>(), DictView::Part::kItems))
          : value;
  for (const Value& pair : to_list(heap, pairs).items) {
    const List& two = to_list(heap, pair);
    if (two.items.size() != 2) fail(Code::kInvalidArgument, "urlencode needs pairs");
    if (out.size() > 0) out.append_template("&");
    append_quoted(in.budget(), out, to_text(heap, two.items[0]), true);
    out.append_template("=");
    append_quoted(in.budget(), out, to_text(heap, two.items[1]), true);
  }
  return text(out.take());
}

constexpr Native kFilters[] = {
    {"capitalize", "/", 0, capitalize_filter},
    {"center", "width", 0, center_filter},
    {"e", "/", 0, escape_filter},
    {"escape", "/", 0, escape_filter},
    {"forceescape", "/", 0, forceescape_filter},
    {"format", "* **", 0, format_filter},
    {"indent", "width first blank", 0, indent_filter},
    {"lower", "/", 0, lower_filter},
    {"replace", "old new count", 2, replace_filter},
    {"safe", "/", 0, safe_filter},
    {"string", "/", 0, string_filter},
    {"title", "/", 0, title_filter},
    {"trim", "chars", 0, trim_filter},
    {"truncate", "length killwords end leeway", 0, truncate_filter},
    {"upper", "/", 0, upper_filter},
    {"urlencode", "/", 0, urlencode_filter},
    {"wordcount", "/", 0, wordcount_filter},
    {"xmlattr", "autospace", 0, xmlattr_filter},
};

}  // namespace

std::span<const Native> text_filters() { return kFilters; }

}  // namespace hearth::jinja
