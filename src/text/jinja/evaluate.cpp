#include "base/error.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"
#include "text/jinja/printing.h"

namespace hearth::jinja {

Value Interpreter::evaluate(const Expr& expr) {
  budget_.step();
  if (expr.kind == Expr::Kind::kConst) return expr.constant;
  if (expr.kind == Expr::Kind::kName) return evaluate_name(expr);
  const DepthGuard guard(budget_);
  return evaluate_kind(expr);
}

Value Interpreter::evaluate_kind(const Expr& expr) {
  using K = Expr::Kind;
  switch (expr.kind) {
    case K::kConst:
      return expr.constant;
    case K::kName:
      return evaluate_name(expr);
    case K::kTuple:
      return evaluate_list(expr, Kind::kTuple);
    case K::kList:
      return evaluate_list(expr, Kind::kList);
    case K::kDict:
      return evaluate_dict(expr);
    case K::kCond:
      return evaluate_conditional(expr);
    case K::kAnd:
    case K::kOr:
      return evaluate_logic(expr);
    case K::kNot:
      return Value::boolean(!is_true(evaluate(*expr.items[0])));
    case K::kNeg:
    case K::kPos: {
      const Value value = evaluate(*expr.items[0]);
      at_ = expr.at;
      const Value negative = negate(value);
      if (expr.kind == K::kNeg) return negative;
      return value.is(Kind::kBool) ? Value::integer(value.as_int()) : value;
    }
    case K::kBinary:
      return evaluate_binary(expr);
    case K::kConcat:
      return evaluate_concat(expr);
    case K::kCompare:
      return evaluate_compare(expr);
    case K::kGetAttr: {
      const Value object = evaluate(*expr.items[0]);
      at_ = expr.at;
      return get_attribute(object, expr.name);
    }
    case K::kGetItem:
      return evaluate_get_item(expr);
    case K::kSlice:
      return evaluate_slice(expr);
    case K::kCall:
      return evaluate_call(expr);
    case K::kFilter:
      return evaluate_filter(expr, nullptr);
    case K::kTest:
      return evaluate_test(expr);
    case K::kNsRef:
      break;
  }
  HEARTH_CHECK(false, "expression can't be evaluated");
}

Value Interpreter::evaluate_name(const Expr& expr) {
  const Value* found = scope_->find(expr.symbol);
  if (found != nullptr) return *found;
  return undefined("'" + ast_.symbols[static_cast<size_t>(expr.symbol)] + "' is undefined");
}

Value Interpreter::evaluate_list(const Expr& expr, Kind kind) {
  List& list = heap_.make<List>(kind);
  for (const ExprPtr& item : expr.items) heap_.push(list, evaluate(*item));
  return Value::object(&list);
}

Value Interpreter::evaluate_dict(const Expr& expr) {
  Dict& dict = heap_.make<Dict>();
  for (size_t i = 0; i + 1 < expr.items.size(); i += 2) {
    const Value key = evaluate(*expr.items[i]);
    Value value = evaluate(*expr.items[i + 1]);
    at_ = expr.at;
    heap_.set(dict, key, std::move(value));
  }
  return Value::object(&dict);
}

Value Interpreter::evaluate_conditional(const Expr& expr) {
  if (is_true(evaluate(*expr.items[0]))) return evaluate(*expr.items[1]);
  if (expr.items[2] != nullptr) return evaluate(*expr.items[2]);
  return undefined("the inline if-expression evaluated to false and no else section was defined");
}

Value Interpreter::evaluate_logic(const Expr& expr) {
  const Value left = evaluate(*expr.items[0]);
  const bool is_decided = is_true(left) == (expr.kind == Expr::Kind::kOr);
  return is_decided ? left : evaluate(*expr.items[1]);
}

Value Interpreter::evaluate_binary(const Expr& expr) {
  const Value left = evaluate(*expr.items[0]);
  const Value right = evaluate(*expr.items[1]);
  at_ = expr.at;
  return arithmetic(heap_, expr.binary, left, right);
}

Value Interpreter::evaluate_concat(const Expr& expr) {
  StrBuilder out(budget_);
  for (const ExprPtr& item : expr.items) {
    const Value value = evaluate(*item);
    append_text(heap_, out, value);
  }
  return Value::string(out.take());
}

Value Interpreter::evaluate_compare(const Expr& expr) {
  Value left = evaluate(*expr.items[0]);
  for (size_t i = 0; i < expr.compares.size(); ++i) {
    Value right = evaluate(*expr.items[i + 1]);
    at_ = expr.at;
    const CompareOp op = expr.compares[i];
    const bool holds = op == CompareOp::kIn      ? contains(heap_, right, left)
                       : op == CompareOp::kNotIn ? !contains(heap_, right, left)
                                                 : compare(heap_, op, left, right);
    if (!holds) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Interpreter::evaluate_get_item(const Expr& expr) {
  const Value object = evaluate(*expr.items[0]);
  const Value key = evaluate(*expr.items[1]);
  at_ = expr.at;
  return get_item(object, key);
}

Value Interpreter::evaluate_slice(const Expr& expr) {
  const Value object = evaluate(*expr.items[0]);
  const auto bound = [&](size_t i) {
    return expr.items[i] == nullptr ? Value() : evaluate(*expr.items[i]);
  };
  const Value start = bound(1);
  const Value stop = bound(2);
  const Value step = bound(3);
  at_ = expr.at;
  return slice(heap_, object, start, stop, step);
}

void Interpreter::spread(const CallArgs& args, Arguments& out) {
  if (args.star != nullptr) {
    const Value items = evaluate(*args.star);
    const std::unique_ptr<Iter> iter = iterate(heap_, items);
    Value item;
    while (iter->next(item)) {
      budget_.grow(static_cast<int64_t>(sizeof(Value)));
      out.positional.push_back(item);
    }
  }
  if (args.double_star == nullptr) return;
  const Value named = evaluate(*args.double_star);
  if (!named.is(Kind::kDict))
    fail(Code::kInvalidArgument, "argument after ** must be a mapping, not ", type_name(named));
  for (const auto& [key, value] : named.as<Dict>().entries) {
    if (!key.is_string()) fail(Code::kInvalidArgument, "keywords must be strings");
    budget_.grow(static_cast<int64_t>(sizeof(key) + sizeof(value)));
    budget_.step(static_cast<int64_t>(args.named.size()) / 16);
    for (const auto& [name, given] : args.named) {
      if (name == key.str())
        fail(Code::kInvalidArgument, "got multiple values for keyword argument '", name.view(),
             "'");
    }
    out.named.emplace_back(key.str(), value);
  }
}

Arguments Interpreter::evaluate_arguments(const CallArgs& args) {
  Arguments out;
  out.positional.reserve(args.positional.size());
  for (const ExprPtr& arg : args.positional) out.positional.push_back(evaluate(*arg));
  for (const auto& [name, arg] : args.named) out.named.emplace_back(name, evaluate(*arg));
  if (args.star != nullptr || args.double_star != nullptr) spread(args, out);
  return out;
}

Value Interpreter::evaluate_call(const Expr& expr) {
  const Value callee = evaluate(*expr.items[0]);
  Arguments arguments = evaluate_arguments(*expr.args);
  at_ = expr.at;
  return call(callee, std::move(arguments));
}

// A filter chain without input, as blocks have it, begins with the block's text.
Value Interpreter::evaluate_filter(const Expr& expr, const Value* block_text) {
  const DepthGuard guard(budget_);
  Value value;
  if (expr.items[0] == nullptr) {
    HEARTH_CHECK(block_text != nullptr);
    value = *block_text;
  } else if (block_text != nullptr && expr.items[0]->kind == Expr::Kind::kFilter) {
    value = evaluate_filter(*expr.items[0], block_text);
  } else {
    value = evaluate(*expr.items[0]);
  }
  Arguments arguments = evaluate_arguments(*expr.args);
  at_ = expr.at;
  if (expr.native == nullptr)
    fail(Code::kInvalidArgument, "no filter named '", expr.name.view(), "'");
  Bound bound(*expr.native, std::move(arguments));
  return expr.native->run(*this, value, bound);
}

Value Interpreter::evaluate_test(const Expr& expr) {
  const Value value = evaluate(*expr.items[0]);
  Arguments arguments = evaluate_arguments(*expr.args);
  at_ = expr.at;
  if (expr.native == nullptr)
    fail(Code::kInvalidArgument, "no test named '", expr.name.view(), "'");
  Bound bound(*expr.native, std::move(arguments));
  return Value::boolean(is_true(expr.native->run(*this, value, bound)));
}

}  // namespace hearth::jinja
