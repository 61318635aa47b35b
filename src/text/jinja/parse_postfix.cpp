// What may follow an expression: attributes, subscripts, calls, filters and tests.
#include <algorithm>

#include "text/jinja/native.h"
#include "text/jinja/parser_state.h"

namespace hearth::jinja {

ExprPtr Parser::parse_postfix(ExprPtr node) {
  while (true) {
    if (is_op(".") || is_op("[")) {
      node = parse_subscript(std::move(node));
    } else if (is_op("(")) {
      node = parse_call(std::move(node));
    } else {
      return node;
    }
  }
}

ExprPtr Parser::parse_filters_and_tests(ExprPtr node) {
  while (true) {
    if (is_op("|")) {
      node = parse_filter(std::move(node), false);
    } else if (is_name("is")) {
      node = parse_test(std::move(node));
    } else if (is_op("(")) {
      node = parse_call(std::move(node));
    } else {
      return node;
    }
  }
}

ExprPtr Parser::parse_subscript(ExprPtr object) {
  const Position at = current().at;
  if (skip_op(".")) {
    if (current().kind == TokenKind::kInteger) {
      ExprPtr node = make(Expr::Kind::kGetItem, at);
      adopt(*node, std::move(object));
      adopt(*node, constant(current().at, Value::integer(current().integer)));
      advance();
      return node;
    }
    ExprPtr node = make(Expr::Kind::kGetAttr, at);
    node->name = Str(nullptr, take_name("a name or number after '.'"), Origin::kTemplate);
    adopt(*node, std::move(object));
    return node;
  }
  expect_op("[");
  ExprPtr node = make(Expr::Kind::kGetItem, at);
  adopt(*node, std::move(object));
  parse_subscribed(*node);
  if (is_op(",")) {
    if (node->kind == Expr::Kind::kSlice) refuse(current().at, "a slice can't be part of a tuple");
    ExprPtr key = make(Expr::Kind::kTuple, at);
    adopt(*key, std::move(node->items[1]));
    while (skip_op(",")) adopt(*key, parse_expression());
    node->items.pop_back();
    adopt(*node, std::move(key));
  }
  expect_op("]");
  return node;
}

// The key of a subscript; turns the node into a slice if there is a colon.
void Parser::parse_subscribed(Expr& node) {
  if (!is_op(":")) {
    adopt(node, parse_expression());
    if (!is_op(":")) return;
  } else {
    adopt(node, nullptr);
  }
  node.kind = Expr::Kind::kSlice;
  while (node.items.size() < 4) {
    const bool has_colon = skip_op(":");
    const bool is_empty = !has_colon || is_op(":") || is_op("]") || is_op(",");
    adopt(node, is_empty ? nullptr : parse_expression());
  }
}

ExprPtr Parser::parse_call(ExprPtr callee) {
  ExprPtr node = make(Expr::Kind::kCall, current().at);
  adopt(*node, std::move(callee));
  int32_t depth = 0;
  node->args = parse_call_args(depth);
  deepen(*node, depth);
  return node;
}

std::unique_ptr<CallArgs> Parser::parse_call_args(int32_t& depth) {
  const Nested level(*this);
  auto args = std::make_unique<CallArgs>();
  const auto parse_one = [&] {
    ExprPtr value = parse_expression();
    depth = std::max(depth, value->depth);
    return value;
  };
  const auto ensure = [&](bool condition) {
    if (!condition) refuse(current().at, "arguments in an order that is not allowed");
  };
  expect_op("(");
  for (bool is_first = true; !is_op(")"); is_first = false) {
    if (!is_first) {
      expect_op(",");
      if (is_op(")")) break;
    }
    if (is_op("*")) {
      ensure(args->star == nullptr && args->double_star == nullptr);
      advance();
      args->star = parse_one();
    } else if (is_op("**")) {
      ensure(args->double_star == nullptr);
      advance();
      args->double_star = parse_one();
    } else if (current().kind == TokenKind::kName && look().kind == TokenKind::kOperator &&
               look().text == "=") {
      ensure(args->double_star == nullptr);
      if (args->named.size() >= kMaxNames) refuse(current().at, "too many named arguments");
      const std::string name = current().text;
      const auto same = [&](const auto& other) { return other.first.view() == name; };
      if (std::ranges::any_of(args->named, same))
        refuse(current().at, "argument '" + name + "' is given twice");
      advance();
      advance();
      args->named.emplace_back(Str(nullptr, name, Origin::kTemplate), parse_one());
    } else {
      ensure(args->star == nullptr && args->double_star == nullptr && args->named.empty());
      args->positional.push_back(parse_one());
    }
  }
  expect_op(")");
  return args;
}

std::string Parser::parse_dotted_name(std::string_view what) {
  std::string name = take_name(what);
  while (skip_op(".")) name += "." + take_name(what);
  return name;
}

ExprPtr Parser::parse_filter(ExprPtr value, bool is_inline_start) {
  bool starts_inline = is_inline_start;
  while (starts_inline || is_op("|")) {
    if (!starts_inline) advance();
    starts_inline = false;
    ExprPtr node = make(Expr::Kind::kFilter, current().at);
    const std::string name = parse_dotted_name("the name of a filter");
    node->name = Str(nullptr, name, Origin::kTemplate);
    node->native = find_filter(name);
    int32_t depth = 0;
    node->args = is_op("(") ? parse_call_args(depth) : std::make_unique<CallArgs>();
    deepen(*node, depth);
    adopt(*node, std::move(value));
    value = std::move(node);
  }
  return value;
}

ExprPtr Parser::parse_test(ExprPtr value) {
  ExprPtr node = make(Expr::Kind::kTest, current().at);
  advance();
  const bool is_negated = skip_name("not");
  const std::string name = parse_dotted_name("the name of a test");
  node->name = Str(nullptr, name, Origin::kTemplate);
  node->native = find_test(name);
  int32_t depth = 0;
  const TokenKind next = current().kind;
  const bool is_argument =
      next == TokenKind::kString || next == TokenKind::kInteger || next == TokenKind::kFloat ||
      is_op("[") || is_op("{") ||
      (next == TokenKind::kName && !is_name("else") && !is_name("or") && !is_name("and"));
  if (is_op("(")) {
    node->args = parse_call_args(depth);
  } else {
    node->args = std::make_unique<CallArgs>();
    if (is_argument) {
      if (is_name("is")) refuse(current().at, "tests can't be chained with 'is'");
      ExprPtr argument = parse_postfix(parse_primary());
      depth = argument->depth;
      node->args->positional.push_back(std::move(argument));
    }
  }
  deepen(*node, depth);
  adopt(*node, std::move(value));
  if (!is_negated) return node;
  ExprPtr negated = make(Expr::Kind::kNot, node->at);
  adopt(*negated, std::move(node));
  return negated;
}

}  // namespace hearth::jinja
