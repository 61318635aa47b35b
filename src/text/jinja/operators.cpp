#include "text/jinja/operators.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "text/jinja/format.h"
#include "text/jinja/printing.h"
#include "text/jinja/text_ops.h"

namespace hearth::jinja {
namespace {

constexpr std::string_view kSymbols[] = {"+", "-", "*", "/", "//", "%", "** or pow()"};

[[noreturn]] void refuse_overflow() {
  fail(Code::kInvalidArgument, "integer does not fit 64 bits");
}
[[noreturn]] void refuse_zero() { fail(Code::kInvalidArgument, "division by zero"); }

[[noreturn]] void refuse_types(BinaryOp op, const Value& a, const Value& b) {
  if (a.is_undefined()) refuse_undefined(a);
  if (b.is_undefined()) refuse_undefined(b);
  if (op == BinaryOp::kAdd && (a.is_string() || a.is_sequence())) {
    fail(Code::kInvalidArgument, "can only concatenate ", type_name(a), " (not \"", type_name(b),
         "\") to ", type_name(a));
  }
  fail(Code::kInvalidArgument, "unsupported operand type(s) for ",
       kSymbols[static_cast<size_t>(op)], ": '", type_name(a), "' and '", type_name(b), "'");
}

int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) refuse_zero();
  if (a == INT64_MIN && b == -1) refuse_overflow();
  const int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

int64_t floor_mod(int64_t a, int64_t b) {
  if (b == 0) refuse_zero();
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

Value int_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) fail(Code::kInvalidArgument, "0.0 cannot be raised to a negative power");
    return Value::real(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  int64_t result = 1;
  if (base == 1 || (base == -1 && exponent % 2 == 0)) return Value::integer(1);
  if (base == -1) return Value::integer(-1);
  if (base == 0) return Value::integer(exponent == 0 ? 1 : 0);
  if (exponent > 63) refuse_overflow();
  for (int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) refuse_overflow();
  }
  return Value::integer(result);
}

Value int_arithmetic(BinaryOp op, int64_t a, int64_t b) {
  int64_t r = 0;
  switch (op) {
    case BinaryOp::kAdd:
      if (__builtin_add_overflow(a, b, &r)) refuse_overflow();
      return Value::integer(r);
    case BinaryOp::kSub:
      if (__builtin_sub_overflow(a, b, &r)) refuse_overflow();
      return Value::integer(r);
    case BinaryOp::kMul:
      if (__builtin_mul_overflow(a, b, &r)) refuse_overflow();
      return Value::integer(r);
    case BinaryOp::kDiv:
      if (b == 0) refuse_zero();
      return Value::real(static_cast<double>(a) / static_cast<double>(b));
    case BinaryOp::kFloorDiv:
      return Value::integer(floor_div(a, b));
    case BinaryOp::kMod:
      return Value::integer(floor_mod(a, b));
    case BinaryOp::kPow:
      return int_power(a, b);
  }
  HEARTH_CHECK(false, "unknown operator");
}

// Quotient and remainder of floats as CPython computes them.
std::pair<double, double> float_divmod(double a, double b) {
  if (b == 0.0) refuse_zero();
  double mod = std::fmod(a, b);
  double div = (a - mod) / b;
  if (mod != 0.0) {
    if ((b < 0) != (mod < 0)) {
      mod += b;
      div -= 1.0;
    }
  } else {
    mod = std::copysign(0.0, b);
  }
  if (div == 0.0) return {std::copysign(0.0, a / b), mod};
  double floored = std::floor(div);
  if (div - floored > 0.5) floored += 1.0;
  return {floored, mod};
}

Value float_arithmetic(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return Value::real(a + b);
    case BinaryOp::kSub:
      return Value::real(a - b);
    case BinaryOp::kMul:
      return Value::real(a * b);
    case BinaryOp::kDiv:
      if (b == 0.0) refuse_zero();
      return Value::real(a / b);
    case BinaryOp::kFloorDiv:
      return Value::real(float_divmod(a, b).first);
    case BinaryOp::kMod:
      return Value::real(float_divmod(a, b).second);
    case BinaryOp::kPow: {
      if (a == 0.0 && b < 0)
        fail(Code::kInvalidArgument, "0.0 cannot be raised to a negative power");
      if (a < 0 && b != std::floor(b))
        fail(Code::kInvalidArgument, "a root of a negative number is not real");
      const double r = std::pow(a, b);
      if (std::isinf(r) && std::isfinite(a) && std::isfinite(b))
        fail(Code::kInvalidArgument, "result too large");
      return Value::real(r);
    }
  }
  HEARTH_CHECK(false, "unknown operator");
}

Value add_strings(Heap& heap, const Str& a, const Str& b) {
  Budget& budget = heap.budget();
  const bool is_markup = a.is_markup() || b.is_markup();
  StrBuilder out(budget);
  out.append(is_markup && !a.is_markup() ? escape_html(budget, a) : a);
  out.append(is_markup && !b.is_markup() ? escape_html(budget, b) : b);
  return Value::string(out.take(is_markup ? StrBuilder::Form::kMarkup : StrBuilder::Form::kPlain));
}

Value add_lists(Heap& heap, const List& a, const List& b) {
  List& out = heap.make<List>(a.kind);
  for (const List* from : {&a, &b}) {
    for (const Value& item : from->items) {
      heap.budget().step();
      heap.push(out, item);
    }
  }
  return Value::object(&out);
}

Value repeat_list(Heap& heap, const List& a, int64_t count) {
  List& out = heap.make<List>(a.kind);
  for (int64_t i = 0; i < count && !a.items.empty(); ++i) {
    for (const Value& item : a.items) {
      heap.budget().step();
      heap.push(out, item);
    }
  }
  return Value::object(&out);
}

int order_of_numbers(const Value& a, const Value& b) {  // 2: not comparable (NaN)
  if (a.is_integral() && b.is_integral())
    return a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int() ? 1 : 0;
  const double x = a.as_float();
  const double y = b.as_float();
  return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
}

bool holds(CompareOp op, int order) {
  switch (op) {
    case CompareOp::kLt:
      return order == -1;
    case CompareOp::kLe:
      return order == -1 || order == 0;
    case CompareOp::kGt:
      return order == 1;
    case CompareOp::kGe:
      return order == 1 || order == 0;
    default:
      return false;
  }
}

bool order_lists(Heap& heap, CompareOp op, const List& a, const List& b) {
  const size_t shared = std::min(a.items.size(), b.items.size());
  for (size_t i = 0; i < shared; ++i) {
    if (!equal(heap.budget(), a.items[i], b.items[i]))
      return compare(heap, op, a.items[i], b.items[i]);
  }
  return holds(op, a.items.size() < b.items.size() ? -1 : a.items.size() > b.items.size() ? 1 : 0);
}

}  // namespace

void refuse_undefined(const Value& value) {
  fail(Code::kInvalidArgument, value.as<Undefined>().message);
}

Value arithmetic(Heap& heap, BinaryOp op, const Value& a, const Value& b) {
  if (op == BinaryOp::kMod && a.is_string()) return Value::string(format_percent(heap, a.str(), b));
  if (a.is_number() && b.is_number()) {
    if (a.is_integral() && b.is_integral()) return int_arithmetic(op, a.as_int(), b.as_int());
    return float_arithmetic(op, a.as_float(), b.as_float());
  }
  if (op == BinaryOp::kAdd) {
    if (a.is_string() && b.is_string()) return add_strings(heap, a.str(), b.str());
    if (a.is_sequence() && a.kind() == b.kind()) return add_lists(heap, a.as<List>(), b.as<List>());
  }
  if (op == BinaryOp::kMul) {
    const Value& repeated = a.is_integral() ? b : a;
    const Value& count = a.is_integral() ? a : b;
    if (count.is_integral() && repeated.is_string()) {
      return Value::string(repeat(heap.budget(), repeated.str(), count.as_int()));
    }
    if (count.is_integral() && repeated.is_sequence())
      return repeat_list(heap, repeated.as<List>(), count.as_int());
  }
  refuse_types(op, a, b);
}

Value negate(const Value& a) {
  if (a.is(Kind::kFloat)) return Value::real(-a.as_float());
  if (a.is_undefined()) refuse_undefined(a);
  if (!a.is_integral())
    fail(Code::kInvalidArgument, "bad operand type for unary -: '", type_name(a), "'");
  if (a.as_int() == INT64_MIN) refuse_overflow();
  return Value::integer(-a.as_int());
}

bool compare(Heap& heap, CompareOp op, const Value& a, const Value& b) {
  if (op == CompareOp::kEq) return equal(heap.budget(), a, b);
  if (op == CompareOp::kNe) return !equal(heap.budget(), a, b);
  heap.budget().step();
  if (a.is_number() && b.is_number()) return holds(op, order_of_numbers(a, b));
  if (a.is_string() && b.is_string()) {
    heap.budget().step(std::min(a.str().size(), b.str().size()) / 512);
    const int order = a.text().compare(b.text());  // UTF-8 sorts as code points do
    return holds(op, order < 0 ? -1 : order > 0 ? 1 : 0);
  }
  if (a.is_sequence() && a.kind() == b.kind()) {
    const DepthGuard guard(heap.budget());
    return order_lists(heap, op, a.as<List>(), b.as<List>());
  }
  if (a.is_undefined()) refuse_undefined(a);
  if (b.is_undefined()) refuse_undefined(b);
  constexpr std::string_view kNames[] = {"==", "!=", "<", "<=", ">", ">="};
  fail(Code::kInvalidArgument, "'", kNames[static_cast<size_t>(op)],
       "' not supported between instances of '", type_name(a), "' and '", type_name(b), "'");
}

bool less(Heap& heap, const Value& a, const Value& b) {
  return compare(heap, CompareOp::kLt, a, b);
}

}  // namespace hearth::jinja
