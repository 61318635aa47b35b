#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "text/jinja/format.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"
#include "text/jinja/printing.h"
#include "text/jinja/text_ops.h"

namespace hearth::jinja {
namespace {

constexpr int64_t kMaxWidth = 1'000'000;
constexpr int64_t kMaxPrecision = 400;

struct Spec {
  std::string fill = " ";
  char align = '\0';  // '<', '>', '^', '=' or none
  char sign = '\0';
  bool is_alternate = false;
  bool has_zero = false;
  int64_t width = 0;
  char grouping = '\0';  // ',' or '_'
  int64_t precision = -1;
  char type = '\0';
};

bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

int64_t read_number(std::string_view text, size_t& at, int64_t limit) {
  int64_t number = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
    number = number * 10 + (text[at++] - '0');
    if (number > limit) fail(Code::kInvalidArgument, "format width too large");
  }
  return number;
}

Spec parse_spec(std::string_view text) {
  Spec spec;
  size_t at = 0;
  const auto first = text.empty() ? size_t{0} : static_cast<size_t>(char_bytes(text, 0));
  if (first > 0 && first < text.size() && is_align(text[first])) {
    spec.fill = std::string(text.substr(0, first));
    spec.align = text[first];
    at = first + 1;
  } else if (!text.empty() && is_align(text[0])) {
    spec.align = text[0];
    at = 1;
  }
  const auto peek = [&] { return at < text.size() ? text[at] : '\0'; };
  if (peek() == '+' || peek() == '-' || peek() == ' ') spec.sign = text[at++];
  if (peek() == '#') spec.is_alternate = true, ++at;
  if (peek() == '0') {
    spec.has_zero = true;
    if (spec.align == '\0') spec.fill = "0";
    ++at;
  }
  spec.width = read_number(text, at, kMaxWidth);
  if (peek() == ',' || peek() == '_') spec.grouping = text[at++];
  if (peek() == '.') {
    ++at;
    const size_t before = at;
    spec.precision = read_number(text, at, kMaxWidth);
    if (at == before) fail(Code::kInvalidArgument, "Format specifier missing precision");
  }
  if (at < text.size()) spec.type = text[at++];
  if (at != text.size()) fail(Code::kInvalidArgument, "Invalid format specifier '", text, "'");
  return spec;
}

std::string group_digits(const std::string& digits, char separator, size_t size) {
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % size == 0) out += separator;
    out += digits[i];
  }
  return out;
}

Str fill_to_width(Budget& budget, const Spec& spec, const Str& text, char default_align) {
  const char align = spec.align != '\0' ? spec.align : default_align;
  const int64_t missing = spec.width - text.chars();
  if (missing <= 0) return text;
  const Str fill(&budget, spec.fill, Origin::kTemplate);
  const int64_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  StrBuilder out(budget);
  out.append(repeat(budget, fill, left));
  out.append(text);
  out.append(repeat(budget, fill, missing - left));
  return out.take();
}

Str finish_number(Budget& budget, const Spec& spec, bool is_negative, const std::string& prefix,
                  std::string digits) {
  const std::string sign = is_negative                             ? "-"
                           : spec.sign == '-' || spec.sign == '\0' ? ""
                                                                   : std::string(1, spec.sign);
  if (spec.grouping != '\0') {
    const size_t whole =
        std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
    digits =
        group_digits(
            digits.substr(0, whole), spec.grouping,
            prefix.empty() && spec.type != 'x' && spec.type != 'b' && spec.type != 'o' ? 3 : 4) +
        digits.substr(whole);
  }
  const auto used = static_cast<int64_t>(sign.size() + prefix.size() + digits.size());
  const bool fills_inside = spec.align == '=' || (spec.has_zero && spec.align == '\0');
  if (fills_inside && used < spec.width) {
    std::string fill;
    for (int64_t i = used; i < spec.width; ++i) fill += spec.fill;
    return Str(&budget, sign + prefix + fill + digits, Origin::kTemplate);
  }
  return fill_to_width(budget, spec, Str(&budget, sign + prefix + digits, Origin::kTemplate), '>');
}

Str format_integer(Budget& budget, const Spec& spec, int64_t number) {
  if (spec.precision >= 0)
    fail(Code::kInvalidArgument, "Precision not allowed in integer format specifier");
  if (spec.type == 'c') {
    std::string one;
    append_utf8(one, static_cast<int32_t>(std::clamp<int64_t>(number, 0, 0x10FFFF)));
    return fill_to_width(budget, spec, Str(&budget, one, Origin::kTemplate), '<');
  }
  const int base = spec.type == 'b'                       ? 2
                   : spec.type == 'o'                     ? 8
                   : spec.type == 'x' || spec.type == 'X' ? 16
                                                          : 10;
  std::string digits = integer_digits(
      number < 0 ? uint64_t{0} - static_cast<uint64_t>(number) : static_cast<uint64_t>(number),
      base);
  std::string prefix;
  if (spec.is_alternate && base != 10)
    prefix = base == 2 ? "0b" : base == 8 ? "0o" : spec.type == 'x' ? "0x" : "0X";
  if (spec.type == 'X')
    std::ranges::transform(digits, digits.begin(),
                           [](char c) { return c >= 'a' ? static_cast<char>(c - 32) : c; });
  return finish_number(budget, spec, number < 0, prefix, std::move(digits));
}

Str format_float(Budget& budget, const Spec& spec, double number) {
  if (spec.precision > kMaxPrecision) fail(Code::kInvalidArgument, "precision too large");
  const bool is_negative = std::signbit(number) && !std::isnan(number);
  const double magnitude = std::abs(number);
  const int precision = spec.precision < 0 ? 6 : static_cast<int>(spec.precision);
  std::string digits;
  if (spec.type == '\0' && spec.precision < 0) {
    digits = float_repr(magnitude);
  } else if (spec.type == '%') {
    digits = float_digits(magnitude * 100.0, 'f', precision, spec.is_alternate) + "%";
  } else if (spec.type == '\0') {  // like 'g', with at least one digit past the point
    digits = float_digits(magnitude, 'g', std::max(precision, 1), spec.is_alternate);
    if (std::isfinite(magnitude) && digits.find_first_of(".e") == std::string::npos) digits += ".0";
  } else {
    const char style = spec.type == 'n'  ? 'g'
                       : spec.type < 'a' ? static_cast<char>(spec.type + 32)
                                         : spec.type;
    digits = float_digits(magnitude, style, style == 'g' ? std::max(precision, 1) : precision,
                          spec.is_alternate);
    if (spec.type < 'a')
      std::ranges::transform(digits, digits.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
      });
  }
  return finish_number(budget, spec, is_negative, "", std::move(digits));
}

class BraceFormatter {
 public:
  BraceFormatter(Interpreter& interpreter, const std::vector<Value>& positional,
                 const std::vector<std::pair<Str, Value>>& named)
      : interpreter_(interpreter), positional_(positional), named_(named) {}

  Str run(const Str& pattern, int depth) {
    if (depth > 2) fail(Code::kInvalidArgument, "Max string recursion exceeded");
    StrBuilder out(interpreter_.budget());
    const std::string_view text = pattern.view();
    const auto at = [&](int64_t i) {
      return i < pattern.size() ? text[static_cast<size_t>(i)] : '\0';
    };
    int64_t i = 0;
    while (i < pattern.size()) {
      int64_t end = i;
      while (end < pattern.size() && at(end) != '{' && at(end) != '}') ++end;
      out.append(pattern, i, end);
      i = end;
      if (i >= pattern.size()) break;
      if (at(i) == at(i + 1)) {
        out.append(pattern, i, i + 1);
        i += 2;
        continue;
      }
      if (at(i) == '}') fail(Code::kInvalidArgument, "Single '}' encountered in format string");
      int64_t close = i + 1;
      for (int open = 1; close < pattern.size(); ++close) {
        open += at(close) == '{' ? 1 : at(close) == '}' ? -1 : 0;
        if (open == 0) break;
      }
      if (close >= pattern.size())
        fail(Code::kInvalidArgument, "Single '{' encountered in format string");
      out.append(format_field(substr(interpreter_.budget(), pattern, i + 1, close), depth));
      i = close + 1;
    }
    return out.take();
  }

 private:
  Str format_field(const Str& field, int depth) {
    Heap& heap = interpreter_.heap();
    const std::string_view text = field.view();
    size_t name_end = 0;
    for (bool in_brackets = false; name_end < text.size(); ++name_end) {
      if (text[name_end] == '[') in_brackets = true;
      if (text[name_end] == ']') in_brackets = false;
      if (!in_brackets && (text[name_end] == '!' || text[name_end] == ':')) break;
    }
    Value value = look_up(text.substr(0, name_end));
    size_t at = name_end;
    if (at < text.size() && text[at] == '!') {
      if (at + 1 >= text.size())
        fail(Code::kInvalidArgument, "end of string while looking for conversion specifier");
      const char conversion = text[at + 1];
      if (conversion != 's' && conversion != 'r' && conversion != 'a') {
        fail(Code::kInvalidArgument, "Unknown conversion specifier '", conversion, "'");
      }
      StrBuilder converted(heap.budget());
      if (conversion == 's') {
        append_text(heap, converted, value);
      } else {
        append_repr(heap, converted, value);
      }
      value = Value::string(converted.take());
      at += 2;
      if (at < text.size() && text[at] != ':')
        fail(Code::kInvalidArgument, "expected ':' after conversion specifier");
    }
    Str spec;
    if (at < text.size())
      spec =
          run(substr(heap.budget(), field, static_cast<int64_t>(at) + 1, field.size()), depth + 1);
    return format_value(heap, value, spec.view());
  }

  Value look_up(std::string_view name) {
    const size_t first_end = std::min(name.find_first_of(".["), name.size());
    const std::string_view first = name.substr(0, first_end);
    Value value;
    const bool is_number = first.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_number) {
      size_t at = 0;
      const Numbering used = first.empty() ? Numbering::kAutomatic : Numbering::kManual;
      if (numbering_ != Numbering::kNone && numbering_ != used) {
        fail(Code::kInvalidArgument, "cannot mix automatic and manual field numbering");
      }
      numbering_ = used;
      const auto index =
          static_cast<size_t>(first.empty() ? next_++ : read_number(first, at, kMaxWidth));
      if (index >= positional_.size())
        fail(Code::kInvalidArgument, "Replacement index ", index,
             " out of range for positional args tuple");
      value = positional_[index];
    } else {
      const auto found =
          std::ranges::find_if(named_, [&](const auto& n) { return n.first.view() == first; });
      if (found == named_.end()) fail(Code::kInvalidArgument, "no argument named '", first, "'");
      value = found->second;
    }
    for (size_t at = first_end; at < name.size();) {
      const bool is_attribute = name[at] == '.';
      const size_t end = std::min(
          is_attribute ? name.find_first_of(".[", at + 1) : name.find(']', at), name.size());
      const std::string_view key = name.substr(at + 1, end - at - 1);
      const bool is_index =
          !key.empty() && key.find_first_not_of("0123456789") == std::string_view::npos;
      size_t digit = 0;
      const Str key_text(&interpreter_.budget(), std::string(key), Origin::kTemplate);
      if (is_attribute) {
        value = interpreter_.get_attribute(value, key_text);
      } else {
        value = interpreter_.get_item(value,
                                      is_index ? Value::integer(read_number(key, digit, kMaxWidth))
                                               : Value::string(key_text));
      }
      at = is_attribute ? end : end + 1;
    }
    return value;
  }

  Interpreter& interpreter_;
  const std::vector<Value>& positional_;
  const std::vector<std::pair<Str, Value>>& named_;
  enum class Numbering : uint8_t { kNone, kAutomatic, kManual };
  Numbering numbering_ = Numbering::kNone;
  int64_t next_ = 0;
};

}  // namespace

Str format_value(Heap& heap, const Value& value, std::string_view specification) {
  if (specification.empty()) return to_text(heap, value);
  const Spec spec = parse_spec(specification);
  constexpr std::string_view kFloatTypes = "eEfFgGn%";
  const bool wants_float =
      spec.type != '\0' && kFloatTypes.find(spec.type) != std::string_view::npos;
  if (value.is_string() || !value.is_number()) {
    if (!value.is_string())
      fail(Code::kInvalidArgument, "unsupported format string passed to ", type_name(value),
           ".__format__");
    if ((spec.type != 's' && spec.type != '\0') || spec.align == '=') {
      fail(Code::kInvalidArgument, "Unknown format code '", spec.type,
           "' for object of type 'str'");
    }
    if (spec.sign != '\0' || spec.grouping != '\0' || spec.is_alternate) {
      fail(Code::kInvalidArgument,
           "sign, grouping and '#' are not allowed in a string format specifier");
    }
    Str text = value.str();
    if (spec.precision >= 0 && spec.precision < text.chars()) {
      text = substr(heap.budget(), text, 0, text.offset_of_char(spec.precision));
    }
    return fill_to_width(heap.budget(), spec, text, '<');
  }
  if (value.is(Kind::kFloat) || wants_float) {
    if (spec.type != '\0' && !wants_float)
      fail(Code::kInvalidArgument, "Unknown format code '", spec.type,
           "' for object of type 'float'");
    return format_float(heap.budget(), spec, value.as_float());
  }
  if (spec.type != '\0' && std::string_view("bcdoxX").find(spec.type) == std::string_view::npos) {
    fail(Code::kInvalidArgument, "Unknown format code '", spec.type, "' for object of type 'int'");
  }
  return format_integer(heap.budget(), spec, value.as_int());
}

Str format_braces(Interpreter& interpreter, const Str& pattern,
                  const std::vector<Value>& positional,
                  const std::vector<std::pair<Str, Value>>& named) {
  return BraceFormatter(interpreter, positional, named).run(pattern, 0);
}

}  // namespace hearth::jinja
