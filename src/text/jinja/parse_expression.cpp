#include <algorithm>

#include "text/jinja/native.h"
#include "text/jinja/parser_state.h"

namespace hearth::jinja {

ExprPtr Parser::constant(Position at, Value value) const {
  ExprPtr node = make(Expr::Kind::kConst, at);
  node->constant = std::move(value);
  return node;
}

void Parser::deepen(Expr& parent, int32_t child_depth) const {
  parent.depth = std::max(parent.depth, child_depth + 1);
  if (parent.depth > kMaxExprDepth) refuse(parent.at, "expression nested too deeply");
}

void Parser::adopt(Expr& parent, ExprPtr child) const {
  if (child != nullptr) deepen(parent, child->depth);
  parent.items.push_back(std::move(child));
}

ExprPtr Parser::binary(Position at, BinaryOp op, ExprPtr left, ExprPtr right) const {
  ExprPtr node = make(Expr::Kind::kBinary, at);
  node->binary = op;
  adopt(*node, std::move(left));
  adopt(*node, std::move(right));
  return node;
}

ExprPtr Parser::parse_expression(Conditional conditional) {
  const Nested level(*this);
  return conditional == Conditional::kAllowed ? parse_conditional() : parse_or();
}

bool Parser::at_tuple_end(std::string_view end_name) const {
  if (current().kind == TokenKind::kVariableEnd || current().kind == TokenKind::kBlockEnd ||
      is_op(")"))
    return true;
  return !end_name.empty() && is_name(end_name);
}

ExprPtr Parser::parse_tuple(Conditional conditional, std::string_view end_name,
                            bool is_parenthesized) {
  const Position at = current().at;
  ExprPtr first;
  ExprPtr tuple;
  while (!at_tuple_end(end_name)) {
    ExprPtr item = parse_expression(conditional);
    const bool has_comma = skip_op(",");
    if (tuple == nullptr && !has_comma) return item;
    if (tuple == nullptr) tuple = make(Expr::Kind::kTuple, at);
    adopt(*tuple, std::move(item));
    if (!has_comma) break;
  }
  if (tuple != nullptr) return tuple;
  if (!is_parenthesized) refuse_here("an expression");
  return make(Expr::Kind::kTuple, at);
}

ExprPtr Parser::parse_conditional() {
  ExprPtr value = parse_or();
  while (is_name("if")) {
    const Position at = current().at;
    advance();
    ExprPtr condition = parse_or();
    ExprPtr otherwise;
    if (skip_name("else")) {
      const Nested level(*this);
      otherwise = parse_conditional();
    }
    ExprPtr node = make(Expr::Kind::kCond, at);
    adopt(*node, std::move(condition));
    adopt(*node, std::move(value));
    adopt(*node, std::move(otherwise));
    value = std::move(node);
  }
  return value;
}

ExprPtr Parser::parse_or() {
  ExprPtr left = parse_and();
  while (is_name("or")) {
    ExprPtr node = make(Expr::Kind::kOr, current().at);
    advance();
    adopt(*node, std::move(left));
    adopt(*node, parse_and());
    left = std::move(node);
  }
  return left;
}

ExprPtr Parser::parse_and() {
  ExprPtr left = parse_not();
  while (is_name("and")) {
    ExprPtr node = make(Expr::Kind::kAnd, current().at);
    advance();
    adopt(*node, std::move(left));
    adopt(*node, parse_not());
    left = std::move(node);
  }
  return left;
}

ExprPtr Parser::parse_not() {
  if (!is_name("not")) return parse_compare();
  const Nested level(*this);
  ExprPtr node = make(Expr::Kind::kNot, current().at);
  advance();
  adopt(*node, parse_not());
  return node;
}

ExprPtr Parser::parse_compare() {
  ExprPtr left = parse_sum();
  ExprPtr node;
  while (true) {
    constexpr std::pair<std::string_view, CompareOp> kOps[] = {
        {"==", CompareOp::kEq}, {"!=", CompareOp::kNe}, {"<", CompareOp::kLt},
        {"<=", CompareOp::kLe}, {">", CompareOp::kGt},  {">=", CompareOp::kGe}};
    const Position at = current().at;
    CompareOp op{};
    if (const auto* found =
            std::ranges::find_if(kOps, [&](const auto& o) { return is_op(o.first); });
        found != std::end(kOps)) {
      op = found->second;
      advance();
    } else if (skip_name("in")) {
      op = CompareOp::kIn;
    } else if (is_name("not") && look().kind == TokenKind::kName && look().text == "in") {
      op = CompareOp::kNotIn;
      advance();
      advance();
    } else {
      return node != nullptr ? std::move(node) : std::move(left);
    }
    if (node == nullptr) {
      node = make(Expr::Kind::kCompare, at);
      adopt(*node, std::move(left));
    }
    node->compares.push_back(op);
    adopt(*node, parse_sum());
  }
}

ExprPtr Parser::parse_sum() {
  ExprPtr left = parse_concat();
  while (is_op("+") || is_op("-")) {
    const Position at = current().at;
    const BinaryOp op = is_op("+") ? BinaryOp::kAdd : BinaryOp::kSub;
    advance();
    left = binary(at, op, std::move(left), parse_concat());
  }
  return left;
}

ExprPtr Parser::parse_concat() {
  ExprPtr left = parse_product();
  if (!is_op("~")) return left;
  ExprPtr node = make(Expr::Kind::kConcat, current().at);
  adopt(*node, std::move(left));
  while (skip_op("~")) adopt(*node, parse_product());
  return node;
}

ExprPtr Parser::parse_product() {
  ExprPtr left = parse_power();
  while (true) {
    const Position at = current().at;
    BinaryOp op{};
    if (is_op("*")) {
      op = BinaryOp::kMul;
    } else if (is_op("/")) {
      op = BinaryOp::kDiv;
    } else if (is_op("//")) {
      op = BinaryOp::kFloorDiv;
    } else if (is_op("%")) {
      op = BinaryOp::kMod;
    } else {
      return left;
    }
    advance();
    left = binary(at, op, std::move(left), parse_power());
  }
}

ExprPtr Parser::parse_power() {
  ExprPtr left = parse_unary();
  while (is_op("**")) {
    const Position at = current().at;
    advance();
    left = binary(at, BinaryOp::kPow, std::move(left), parse_unary());
  }
  return left;
}

ExprPtr Parser::parse_unary(bool with_filters) {
  const Nested level(*this);
  ExprPtr node;
  if (is_op("-") || is_op("+")) {
    node = make(is_op("-") ? Expr::Kind::kNeg : Expr::Kind::kPos, current().at);
    advance();
    adopt(*node, parse_unary(false));
  } else {
    node = parse_primary();
  }
  node = parse_postfix(std::move(node));
  return with_filters ? parse_filters_and_tests(std::move(node)) : std::move(node);
}

void Parser::note_special_name(std::string_view name) {
  for (MacroDef* macro : macros_) {
    macro->uses_caller |= name == "caller";
    macro->uses_varargs |= name == "varargs";
    macro->uses_kwargs |= name == "kwargs";
  }
}

ExprPtr Parser::parse_name(bool allow_namespace) {
  const Token token = current();
  advance();
  const std::string& name = token.text;
  if (name == "true" || name == "True") return constant(token.at, Value::boolean(true));
  if (name == "false" || name == "False") return constant(token.at, Value::boolean(false));
  if (name == "none" || name == "None") return constant(token.at, Value::none());
  if (allow_namespace && is_op(".") && look().kind == TokenKind::kName) {
    advance();
    ExprPtr node = make(Expr::Kind::kNsRef, token.at);
    node->symbol = symbol(name);
    node->name = Str(nullptr, current().text, Origin::kTemplate);
    advance();
    return node;
  }
  ExprPtr node = make(Expr::Kind::kName, token.at);
  node->symbol = symbol(name);
  note_special_name(name);
  return node;
}

ExprPtr Parser::parse_primary(bool allow_namespace) {
  const Token& token = current();
  const Position at = token.at;
  switch (token.kind) {
    case TokenKind::kName:
      return parse_name(allow_namespace);
    case TokenKind::kString: {
      std::string text;
      while (current().kind == TokenKind::kString) {
        text += current().text;
        advance();
      }
      return constant(at, Value::string(Str(nullptr, std::move(text), Origin::kTemplate)));
    }
    case TokenKind::kInteger: {
      const int64_t integer = token.integer;
      advance();
      return constant(at, Value::integer(integer));
    }
    case TokenKind::kFloat: {
      const double real = token.real;
      advance();
      return constant(at, Value::real(real));
    }
    default:
      break;
  }
  if (skip_op("(")) {
    const Nested level(*this);
    ExprPtr node = parse_tuple(Conditional::kAllowed, {}, true);
    expect_op(")");
    return node;
  }
  if (is_op("[")) return parse_list();
  if (is_op("{")) return parse_dict();
  refuse_here("an expression");
}

ExprPtr Parser::parse_list() {
  const Nested level(*this);
  ExprPtr node = make(Expr::Kind::kList, current().at);
  expect_op("[");
  while (!is_op("]")) {
    if (!node->items.empty()) expect_op(",");
    if (is_op("]")) break;
    adopt(*node, parse_expression());
  }
  expect_op("]");
  return node;
}

ExprPtr Parser::parse_dict() {
  const Nested level(*this);
  ExprPtr node = make(Expr::Kind::kDict, current().at);
  expect_op("{");
  while (!is_op("}")) {
    if (!node->items.empty()) expect_op(",");
    if (is_op("}")) break;
    adopt(*node, parse_expression());
    expect_op(":");
    adopt(*node, parse_expression());
  }
  expect_op("}");
  return node;
}

}  // namespace hearth::jinja
