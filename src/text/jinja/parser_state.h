// The parser's state, shared by its two halves: parse_statement.cpp and parse_expression.cpp. Nobody else includes this.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/jinja/ast.h"
#include "text/jinja/lexer.h"

namespace hearth::jinja {

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  Ast run();

 private:
  static constexpr int32_t kMaxExprDepth = 400;
  static constexpr size_t kMaxNames = 1000;    // parameters of a macro, named arguments of a call
  static constexpr int32_t kMaxNesting = 250;  // statements and brackets within each other

  // Tokens.
  const Token& current() const { return tokens_[at_]; }
  const Token& look() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  void advance() {
    if (at_ + 1 < tokens_.size()) ++at_;
  }
  bool is_op(std::string_view op) const {
    return current().kind == TokenKind::kOperator && current().text == op;
  }
  bool is_name(std::string_view name) const {
    return current().kind == TokenKind::kName && current().text == name;
  }
  bool skip_op(std::string_view op);
  bool skip_name(std::string_view name);
  void expect_op(std::string_view op);
  void expect_name(std::string_view name);
  std::string take_name(std::string_view what);
  void expect(TokenKind kind);
  [[noreturn]] void refuse(Position at, std::string_view what) const;
  [[noreturn]] void refuse_here(std::string_view expected) const;
  static std::string describe(const Token& token);
  int32_t symbol(const std::string& name);
  void note_special_name(std::string_view name);

  class Nested;  // one level of nesting

  // Statements.
  using Ends = std::initializer_list<std::string_view>;
  Body parse_body(
      Ends
          ends);  // after a tag's head: eats its end, the statements, and stops at the end tag's name
  void parse_until(Ends ends, Body& out);
  void parse_statement(Body& out);
  void parse_for(Body& out, Position at);
  void parse_if(Body& out, Position at);
  void parse_set(Body& out, Position at);
  void parse_macro(Body& out, Position at);
  void parse_call_block(Body& out, Position at);
  void parse_filter_block(Body& out, Position at);
  void parse_with(Body& out, Position at);
  void parse_print(Body& out);
  void parse_scope(Body& out, Position at, std::string_view tag);
  void parse_loop_control(Body& out, Position at, std::string_view tag);
  void parse_signature(MacroDef& macro);
  void parse_macro_body(MacroDef& macro, std::string_view end);
  ExprPtr parse_target(bool allow_namespace, std::string_view end_name);
  void check_target(const Expr& target, bool allow_namespace) const;

  // Expressions, weakest binding first.
  enum class Conditional : uint8_t { kAllowed, kNot };
  ExprPtr parse_expression(Conditional conditional = Conditional::kAllowed);
  ExprPtr parse_tuple(Conditional conditional = Conditional::kAllowed,
                      std::string_view end_name = {}, bool is_parenthesized = false);
  bool at_tuple_end(std::string_view end_name) const;
  ExprPtr parse_conditional();
  ExprPtr parse_or();
  ExprPtr parse_and();
  ExprPtr parse_not();
  ExprPtr parse_compare();
  ExprPtr parse_sum();
  ExprPtr parse_concat();
  ExprPtr parse_product();
  ExprPtr parse_power();
  ExprPtr parse_unary(bool with_filters = true);
  ExprPtr parse_primary(bool allow_namespace = false);
  ExprPtr parse_name(bool allow_namespace);
  ExprPtr parse_list();
  ExprPtr parse_dict();
  ExprPtr parse_postfix(ExprPtr node);
  ExprPtr parse_filters_and_tests(ExprPtr node);
  ExprPtr parse_subscript(ExprPtr node);
  void parse_subscribed(Expr& item);
  ExprPtr parse_call(ExprPtr node);
  std::unique_ptr<CallArgs> parse_call_args(int32_t& depth);
  ExprPtr parse_filter(ExprPtr node, bool is_inline_start);
  ExprPtr parse_test(ExprPtr node);
  std::string parse_dotted_name(std::string_view what);

  ExprPtr make(Expr::Kind kind, Position at) const { return std::make_unique<Expr>(kind, at); }
  ExprPtr constant(Position at, Value value) const;
  void adopt(Expr& parent, ExprPtr child) const;  // appends to items, keeping count of depth
  void deepen(Expr& parent, int32_t child_depth) const;
  ExprPtr binary(Position at, BinaryOp op, ExprPtr left, ExprPtr right) const;

  std::vector<Token> tokens_;
  size_t at_ = 0;
  Ast ast_;
  std::unordered_map<std::string, int32_t> symbol_of_;
  std::vector<MacroDef*> macros_;       // that enclose this place
  std::vector<std::string> open_tags_;  // for messages
  int32_t nesting_ = 0;
  int32_t loops_ = 0;  // that `break` could leave
};

// Counts one level for as long as it lives.
class Parser::Nested {
 public:
  explicit Nested(Parser& parser) : parser_(parser) {
    if (++parser_.nesting_ > kMaxNesting) {
      --parser_.nesting_;
      parser_.refuse(parser_.current().at, "nested too deeply");
    }
  }
  ~Nested() { --parser_.nesting_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  Parser& parser_;
};

}  // namespace hearth::jinja
