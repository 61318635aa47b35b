// Filters on numbers and on values of any kind.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "text/jinja/filters.h"
#include "text/jinja/format.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"
#include "text/jinja/parse_number.h"
#include "text/jinja/printing.h"

namespace hearth::jinja {
namespace {

Value abs_filter(Interpreter&, const Value& value, Bound&) {
  if (value.is_undefined()) refuse_undefined(value);
  if (value.is(Kind::kFloat)) return Value::real(std::abs(value.as_float()));
  if (!value.is_integral())
    fail(Code::kInvalidArgument, "bad operand type for abs(): '", type_name(value), "'");
  return value.as_int() < 0 ? negate(value) : Value::integer(value.as_int());
}

Value default_filter(Interpreter&, const Value& value, Bound& args) {
  const bool is_absent = value.is_undefined() || (args.bool_or(1, false) && !is_true(value));
  return is_absent ? args.value_or(0, Value::string(Str())) : value;
}

std::optional<double> to_float(const Value& value) {
  if (value.is_undefined()) refuse_undefined(value);
  if (value.is_number()) return value.as_float();
  return value.is_string() ? parse_float(value.text()) : std::nullopt;
}

Value int_filter(Interpreter&, const Value& value, Bound& args) {
  const Value otherwise = args.value_or(0, Value::integer(0));
  if (value.is_integral()) return Value::integer(value.as_int());
  if (value.is_string()) {
    const auto parsed = parse_int(value.text(), args.int_or(1, 10));
    if (parsed) return Value::integer(*parsed);
  }
  const std::optional<double> number = to_float(value);
  if (!number || !std::isfinite(*number)) return otherwise;
  const double whole = std::trunc(*number);
  if (whole < -0x1p63 || whole >= 0x1p63)
    fail(Code::kInvalidArgument, "integer does not fit 64 bits");
  return Value::integer(static_cast<int64_t>(whole));
}

Value float_filter(Interpreter&, const Value& value, Bound& args) {
  const std::optional<double> number = to_float(value);
  return number ? Value::real(*number) : args.value_or(0, Value::real(0.0));
}

Value round_int(int64_t value,
                int64_t precision) {  // precision < 0: to tens, hundreds..., ties to even
  if (precision >= 0) return Value::integer(value);
  if (precision < -18) return Value::integer(0);
  int64_t unit = 1;
  for (int64_t i = 0; i < -precision; ++i) unit *= 10;
  int64_t rest = value % unit;
  if (rest < 0) rest += unit;
  int64_t down = 0;
  if (__builtin_sub_overflow(value, rest, &down))
    fail(Code::kInvalidArgument, "integer does not fit 64 bits");
  const bool goes_up = rest > unit - rest || (rest == unit - rest && (down / unit) % 2 != 0);
  if (goes_up && __builtin_add_overflow(down, unit, &down))
    fail(Code::kInvalidArgument, "integer does not fit 64 bits");
  return Value::integer(down);
}

Value round_filter(Interpreter&, const Value& value, Bound& args) {
  const std::string_view method = args.has(1) ? args.str(1).view() : "common";
  if (method != "common" && method != "ceil" && method != "floor") {
    fail(Code::kInvalidArgument, "method must be common, ceil or floor");
  }
  if (value.is_undefined()) refuse_undefined(value);
  if (!value.is_number())
    fail(Code::kInvalidArgument, "type ", type_name(value), " doesn't define __round__ method");
  const int64_t precision = args.int_or(0, 0);
  if (method == "common") {
    if (value.is_integral()) return round_int(value.as_int(), precision);
    return Value::real(round_to(value.as_float(), precision));
  }
  const double unit = std::pow(10.0, static_cast<double>(precision));
  const double scaled = value.as_float() * unit;
  if (!std::isfinite(scaled) || unit == 0.0)
    fail(Code::kInvalidArgument, "cannot round this number to ", precision, " digits");
  const double whole = method == "ceil" ? std::ceil(scaled) : std::floor(scaled);
  return Value::real((whole == 0.0 ? 0.0 : whole) / unit);
}

Value filesizeformat_filter(Interpreter& in, const Value& value, Bound& args) {
  constexpr std::string_view kPrefixes = "kMGTPEZY";
  const std::optional<double> bytes = to_float(value);
  if (!bytes || !std::isfinite(*bytes))
    fail(Code::kInvalidArgument, "could not convert to float: ", plain_repr(in.heap(), value));
  const bool is_binary = args.bool_or(0, false);
  const double base = is_binary ? 1024.0 : 1000.0;
  if (*bytes == 1.0) return in.string("1 Byte");
  if (*bytes < base)
    return in.string(float_digits(std::trunc(*bytes) + 0.0, 'f', 0, false) + " Bytes");
  double unit = base * base;
  size_t i = 0;
  for (; i + 1 < kPrefixes.size() && *bytes >= unit; ++i) unit *= base;
  std::string prefix(1, kPrefixes[i]);
  if (is_binary) prefix = i == 0 ? "Ki" : prefix + "i";
  return in.string(float_digits(base * *bytes / unit, 'f', 1, false) + " " + prefix + "B");
}

Value tojson_filter(Interpreter& in, const Value& value, Bound& args) {
  JsonLayout layout;
  Budget& budget = in.budget();
  layout.ensure_ascii = args.bool_or(0, false);
  layout.sort_keys = args.bool_or(3, false);
  if (args.has_value(1)) {
    constexpr int64_t kMaxIndent = 64;
    layout.has_indent = true;
    if (args[1].is_string()) {
      layout.indent = args.str(1);
    } else {
      const int64_t width = args.int_or(1, 0);
      if (width > kMaxIndent)
        fail(Code::kInvalidArgument, "tojson() indents by at most ", kMaxIndent);
      layout.indent =
          Str(&budget, std::string(static_cast<size_t>(std::max<int64_t>(width, 0)), ' '),
              Origin::kTemplate);
    }
  }
  layout.item_separator = Str(&budget, layout.has_indent ? "," : ", ", Origin::kTemplate);
  layout.key_separator = Str(&budget, ": ", Origin::kTemplate);
  if (args.has_value(2)) {
    const bool fits = args[2].is_sequence() && args[2].as<List>().items.size() == 2 &&
                      args[2].as<List>().items[0].is_string() &&
                      args[2].as<List>().items[1].is_string();
    if (!fits) fail(Code::kInvalidArgument, "tojson() separators must be two strings");
    layout.item_separator = args[2].as<List>().items[0].str();
    layout.key_separator = args[2].as<List>().items[1].str();
  }
  return Value::string(to_json(in.heap(), value, layout));
}

Value pprint_filter(Interpreter& in, const Value& value, Bound&) {
  return Value::string(pretty_print(in.heap(), value));
}

constexpr Native kFilters[] = {
    {"abs", "/", 0, abs_filter},
    {"d", "default_value boolean", 0, default_filter},
    {"default", "default_value boolean", 0, default_filter},
    {"filesizeformat", "binary", 0, filesizeformat_filter},
    {"float", "default", 0, float_filter},
    {"int", "default base", 0, int_filter},
    {"pprint", "/", 0, pprint_filter},
    {"round", "precision method", 0, round_filter},
    {"tojson", "ensure_ascii indent separators sort_keys", 0, tojson_filter},
};

}  // namespace

std::span<const Native> value_filters() { return kFilters; }

}  // namespace hearth::jinja
