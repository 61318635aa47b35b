// The tests of `is`.
#include <algorithm>

#include "text/jinja/interpreter.h"
#include "text/jinja/native.h"
#include "text/jinja/operators.h"
#include "text/jinja/printing.h"
#include "text/jinja/text_ops.h"

namespace hearth::jinja {
namespace {

using V = const Value&;

bool remainder_is(Interpreter& in, V value, V divisor, int64_t wanted) {
  const Value rest = arithmetic(in.heap(), BinaryOp::kMod, value, divisor);
  return equal(in.budget(), rest, Value::integer(wanted));
}

Value is_odd(Interpreter& in, V v, Bound&) {
  return Value::boolean(remainder_is(in, v, Value::integer(2), 1));
}
Value is_even(Interpreter& in, V v, Bound&) {
  return Value::boolean(remainder_is(in, v, Value::integer(2), 0));
}
Value is_divisible(Interpreter& in, V v, Bound& a) {
  return Value::boolean(remainder_is(in, v, a[0], 0));
}

template <bool (*test)(V)>
Value simple(Interpreter&, V v, Bound&) {
  return Value::boolean(test(v));
}

bool defined(V v) { return !v.is_undefined(); }
bool undefined(V v) { return v.is_undefined(); }
bool none(V v) { return v.is_none(); }
bool boolean(V v) { return v.is(Kind::kBool); }
bool is_false(V v) { return v.is(Kind::kBool) && !v.as_bool(); }
bool is_exactly_true(V v) { return v.is(Kind::kBool) && v.as_bool(); }
bool integer(V v) { return v.is(Kind::kInt); }
bool floating(V v) { return v.is(Kind::kFloat); }
bool string(V v) { return v.is_string(); }
bool mapping(V v) { return v.is(Kind::kDict); }
bool number(V v) { return v.is_number(); }
bool escaped(V v) { return v.is_string() && v.str().is_markup(); }
bool sequence(V v) {  // has a length and items by index
  return v.is_string() || v.is_sequence() || v.is(Kind::kDict) || v.is(Kind::kRange) ||
         v.is_undefined();
}
bool iterable(V v) {
  return sequence(v) || v.is(Kind::kDictView) || v.is(Kind::kIterator) || v.is(Kind::kLoop);
}
bool callable(V v) {  // an undefined value is callable in Jinja2 (calling it then fails)
  return v.is(Kind::kFunction) || v.is(Kind::kMacro) || v.is(Kind::kLoop) || v.is(Kind::kJoiner) ||
         v.is_undefined();
}

template <bool (*test)(std::string_view)>
Value is_case_test(Interpreter& in, V v, Bound&) {
  const Str text = to_text(in.heap(), v);
  in.budget().scan(text.size());
  return Value::boolean(test(text.view()));
}

Value is_same(Interpreter& in, V v, Bound& a) {
  if (v.kind() != a[0].kind()) return Value::boolean(false);
  const bool is_scalar = v.is_none() || v.is_number() || v.is_string() || v.is_undefined();
  return Value::boolean(is_scalar ? equal(in.budget(), v, a[0]) : v.object() == a[0].object());
}

Value is_in(Interpreter& in, V v, Bound& a) { return Value::boolean(contains(in.heap(), a[0], v)); }
// A look-up in a dict of names, so an unhashable value is an error.
bool is_known(V v, const Native* (*find)(std::string_view)) {
  hash_of(v);
  return v.is_string() && find(v.text()) != nullptr;
}
Value is_filter(Interpreter&, V v, Bound&) { return Value::boolean(is_known(v, find_filter)); }
Value is_test(Interpreter&, V v, Bound&) { return Value::boolean(is_known(v, find_test)); }

template <CompareOp op>
Value compares(Interpreter& in, V v, Bound& a) {
  return Value::boolean(compare(in.heap(), op, v, a[0]));
}

constexpr Native kTests[] = {
    {"odd", "/", 0, is_odd},
    {"even", "/", 0, is_even},
    {"divisibleby", "num", 1, is_divisible},
    {"defined", "/", 0, simple<defined>},
    {"undefined", "/", 0, simple<undefined>},
    {"filter", "/", 0, is_filter},
    {"test", "/", 0, is_test},
    {"none", "/", 0, simple<none>},
    {"boolean", "/", 0, simple<boolean>},
    {"false", "/", 0, simple<is_false>},
    {"true", "/", 0, simple<is_exactly_true>},
    {"integer", "/", 0, simple<integer>},
    {"float", "/", 0, simple<floating>},
    {"lower", "/", 0, is_case_test<is_lower_text>},
    {"upper", "/", 0, is_case_test<is_upper_text>},
    {"string", "/", 0, simple<string>},
    {"mapping", "/", 0, simple<mapping>},
    {"number", "/", 0, simple<number>},
    {"sequence", "/", 0, simple<sequence>},
    {"iterable", "/", 0, simple<iterable>},
    {"callable", "/", 0, simple<callable>},
    {"sameas", "other", 1, is_same},
    {"escaped", "/", 0, simple<escaped>},
    {"in", "seq", 1, is_in},
    {"==", "/ other", 1, compares<CompareOp::kEq>},
    {"eq", "/ other", 1, compares<CompareOp::kEq>},
    {"equalto", "/ other", 1, compares<CompareOp::kEq>},
    {"!=", "/ other", 1, compares<CompareOp::kNe>},
    {"ne", "/ other", 1, compares<CompareOp::kNe>},
    {">", "/ other", 1, compares<CompareOp::kGt>},
    {"gt", "/ other", 1, compares<CompareOp::kGt>},
    {"greaterthan", "/ other", 1, compares<CompareOp::kGt>},
    {"ge", "/ other", 1, compares<CompareOp::kGe>},
    {">=", "/ other", 1, compares<CompareOp::kGe>},
    {"<", "/ other", 1, compares<CompareOp::kLt>},
    {"lt", "/ other", 1, compares<CompareOp::kLt>},
    {"lessthan", "/ other", 1, compares<CompareOp::kLt>},
    {"<=", "/ other", 1, compares<CompareOp::kLe>},
    {"le", "/ other", 1, compares<CompareOp::kLe>},
};

}  // namespace

const Native* find_test(std::string_view name) {
  const auto* const found = std::ranges::find(kTests, name, &Native::name);
  return found == std::end(kTests) ? nullptr : found;
}

}  // namespace hearth::jinja
