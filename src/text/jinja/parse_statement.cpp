#include <algorithm>

#include "base/error.h"
#include "text/jinja/parser.h"
#include "text/jinja/parser_state.h"

namespace hearth::jinja {

Ast parse(std::string_view source) { return Parser(tokenize(source)).run(); }

Ast Parser::run() {
  parse_until({}, ast_.body);
  return std::move(ast_);
}

void Parser::refuse(Position at, std::string_view what) const {
  fail(Code::kCorruptData, at.line, ":", at.column, ": ", what);
}

void Parser::refuse_here(std::string_view expected) const {
  refuse(current().at, "expected " + std::string(expected) + ", got " + describe(current()));
}

std::string Parser::describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kText:
      return "template text";
    case TokenKind::kBlockBegin:
      return "'{%'";
    case TokenKind::kBlockEnd:
      return "'%}'";
    case TokenKind::kVariableBegin:
      return "'{{'";
    case TokenKind::kVariableEnd:
      return "'}}'";
    case TokenKind::kEnd:
      return "the end of the template";
    case TokenKind::kString:
      return "a string";
    default:
      return "'" + token.text + "'";
  }
}

bool Parser::skip_op(std::string_view op) {
  if (!is_op(op)) return false;
  advance();
  return true;
}

bool Parser::skip_name(std::string_view name) {
  if (!is_name(name)) return false;
  advance();
  return true;
}

void Parser::expect_op(std::string_view op) {
  if (!skip_op(op)) refuse_here("'" + std::string(op) + "'");
}

void Parser::expect_name(std::string_view name) {
  if (!skip_name(name)) refuse_here("'" + std::string(name) + "'");
}

std::string Parser::take_name(std::string_view what) {
  if (current().kind != TokenKind::kName) refuse_here(what);
  std::string name = current().text;
  advance();
  return name;
}

void Parser::expect(TokenKind kind) {
  if (current().kind != kind) refuse_here(describe(Token{.kind = kind, .at = {}, .text = {}}));
  advance();
}

int32_t Parser::symbol(const std::string& name) {
  const auto [it, is_new] = symbol_of_.try_emplace(name, static_cast<int32_t>(ast_.symbols.size()));
  if (is_new) ast_.symbols.push_back(name);
  return it->second;
}

Body Parser::parse_body(Ends ends) {
  skip_op(":");
  expect(TokenKind::kBlockEnd);
  Body body;
  parse_until(ends, body);
  return body;
}

void Parser::parse_until(Ends ends, Body& out) {
  while (true) {
    const Token& token = current();
    switch (token.kind) {
      case TokenKind::kText: {
        auto text = std::make_unique<Stmt>(Stmt::Kind::kText, token.at);
        text->text = Str(nullptr, token.text, Origin::kTemplate);
        out.push_back(std::move(text));
        advance();
        break;
      }
      case TokenKind::kVariableBegin: {
        auto print = std::make_unique<Stmt>(Stmt::Kind::kPrint, token.at);
        advance();
        print->value = parse_tuple();
        expect(TokenKind::kVariableEnd);
        out.push_back(std::move(print));
        break;
      }
      case TokenKind::kBlockBegin: {
        advance();
        if (std::ranges::any_of(ends, [&](std::string_view end) { return is_name(end); })) return;
        parse_statement(out);
        expect(TokenKind::kBlockEnd);
        break;
      }
      default:
        if (ends.size() == 0) return;
        refuse(token.at, "'" + open_tags_.back() + "' is not closed: '{% " +
                             std::string(*(ends.end() - 1)) + " %}' is missing");
    }
  }
}

void Parser::parse_statement(Body& out) {
  const Nested level(*this);
  const Position at = current().at;
  const std::string tag = take_name("a tag name");
  open_tags_.push_back(tag);
  if (tag == "for") {
    parse_for(out, at);
  } else if (tag == "if") {
    parse_if(out, at);
  } else if (tag == "set") {
    parse_set(out, at);
  } else if (tag == "macro") {
    parse_macro(out, at);
  } else if (tag == "call") {
    parse_call_block(out, at);
  } else if (tag == "filter") {
    parse_filter_block(out, at);
  } else if (tag == "with") {
    parse_with(out, at);
  } else if (tag == "print") {
    parse_print(out);
  } else if (tag == "break" || tag == "continue") {
    parse_loop_control(out, at, tag);
  } else if (tag == "do") {
    auto node = std::make_unique<Stmt>(Stmt::Kind::kDo, at);
    node->value = parse_tuple();
    out.push_back(std::move(node));
  } else if (tag == "generation" || tag == "block" || tag == "autoescape") {
    parse_scope(out, at, tag);
  } else if (tag == "include" || tag == "import" || tag == "from" || tag == "extends") {
    fail(Code::kUnsupported, at.line, ":", at.column, ": '{% ", tag,
         " %}' is not supported: a chat template must stand alone");
  } else {
    std::string message = "unknown tag '" + tag + "'";
    if (open_tags_.size() > 1)
      message += "; the innermost open tag is '" + open_tags_[open_tags_.size() - 2] + "'";
    refuse(at, message);
  }
  open_tags_.pop_back();
}

ExprPtr Parser::parse_target(bool allow_namespace, std::string_view end_name) {
  const Position at = current().at;
  ExprPtr part = parse_primary(allow_namespace);
  if (!is_op(",")) {
    check_target(*part, allow_namespace);
    return part;
  }
  ExprPtr tuple = make(Expr::Kind::kTuple, at);
  adopt(*tuple, std::move(part));
  while (skip_op(",") && !at_tuple_end(end_name)) adopt(*tuple, parse_primary(allow_namespace));
  check_target(*tuple, allow_namespace);
  return tuple;
}

void Parser::check_target(const Expr& target, bool allow_namespace) const {
  if (target.kind == Expr::Kind::kName) {
    if (ast_.symbols[static_cast<size_t>(target.symbol)] == "loop" && loops_ > 0) {
      refuse(target.at, "can't assign to the special variable 'loop' inside a loop");
    }
    return;
  }
  if (target.kind == Expr::Kind::kNsRef && allow_namespace) return;
  if (target.kind != Expr::Kind::kTuple) refuse(target.at, "can't assign to this expression");
  for (const ExprPtr& item : target.items) check_target(*item, allow_namespace);
}

void Parser::parse_for(Body& out, Position at) {
  auto node = std::make_unique<Stmt>(Stmt::Kind::kFor, at);
  ++loops_;
  node->target = parse_target(false, "in");
  expect_name("in");
  node->value = parse_tuple(Conditional::kNot, "recursive");
  if (skip_name("if")) node->condition = parse_expression();
  node->is_recursive = skip_name("recursive");
  node->body = parse_body({"endfor", "else"});
  --loops_;
  const bool has_else = is_name("else");
  advance();
  if (has_else) {
    node->other = parse_body({"endfor"});
    advance();
  }
  out.push_back(std::move(node));
}

void Parser::parse_if(Body& out, Position at) {
  auto node = std::make_unique<Stmt>(Stmt::Kind::kIf, at);
  while (true) {
    ExprPtr condition = parse_tuple(Conditional::kNot);
    Body body = parse_body({"elif", "else", "endif"});
    node->branches.emplace_back(std::move(condition), std::move(body));
    const std::string tag = take_name("a tag name");
    if (tag == "elif") continue;
    if (tag == "else") {
      node->other = parse_body({"endif"});
      advance();
    }
    break;
  }
  out.push_back(std::move(node));
}

void Parser::parse_set(Body& out, Position at) {
  ExprPtr target = parse_target(true, {});
  if (skip_op("=")) {
    auto node = std::make_unique<Stmt>(Stmt::Kind::kSet, at);
    node->target = std::move(target);
    node->value = parse_tuple();
    out.push_back(std::move(node));
    return;
  }
  auto node = std::make_unique<Stmt>(Stmt::Kind::kSetBlock, at);
  node->target = std::move(target);
  if (is_op("|")) node->value = parse_filter(nullptr, false);
  node->body = parse_body({"endset"});
  advance();
  out.push_back(std::move(node));
}

void Parser::parse_signature(MacroDef& macro) {
  expect_op("(");
  while (!is_op(")")) {
    if (!macro.parameters.empty()) expect_op(",");
    const Position at = current().at;
    const std::string name = take_name("a parameter name");
    if (macro.parameters.size() >= kMaxNames) refuse(at, "too many parameters");
    macro.parameters.emplace_back(symbol(name), Str(nullptr, name, Origin::kTemplate));
    if (skip_op("=")) {
      macro.defaults.push_back(parse_expression());
    } else if (!macro.defaults.empty()) {
      refuse(at, "a parameter without default follows one with default");
    }
  }
  expect_op(")");
}

void Parser::parse_macro_body(MacroDef& macro, std::string_view end) {
  macros_.push_back(&macro);
  const int32_t loops = std::exchange(loops_, 0);
  macro.body = parse_body({end});
  advance();
  loops_ = loops;
  macros_.pop_back();
}

void Parser::parse_macro(Body& out, Position at) {
  auto node = std::make_unique<Stmt>(Stmt::Kind::kMacro, at);
  node->macro = std::make_unique<MacroDef>();
  node->target = make(Expr::Kind::kName, current().at);
  const std::string name = take_name("the macro's name");
  node->target->symbol = symbol(name);
  node->macro->name = Str(nullptr, name, Origin::kTemplate);
  parse_signature(*node->macro);
  parse_macro_body(*node->macro, "endmacro");
  out.push_back(std::move(node));
}

void Parser::parse_call_block(Body& out, Position at) {
  auto node = std::make_unique<Stmt>(Stmt::Kind::kCall, at);
  node->macro = std::make_unique<MacroDef>();
  if (is_op("(")) parse_signature(*node->macro);
  node->value = parse_expression();
  if (node->value->kind != Expr::Kind::kCall)
    refuse(at, "'call' needs a call, such as {% call name() %}");
  parse_macro_body(*node->macro, "endcall");
  out.push_back(std::move(node));
}

void Parser::parse_filter_block(Body& out, Position at) {
  auto node = std::make_unique<Stmt>(Stmt::Kind::kFilter, at);
  node->value = parse_filter(nullptr, true);
  node->body = parse_body({"endfilter"});
  advance();
  out.push_back(std::move(node));
}

void Parser::parse_with(Body& out, Position at) {
  auto node = std::make_unique<Stmt>(Stmt::Kind::kWith, at);
  while (current().kind != TokenKind::kBlockEnd) {
    if (!node->targets.empty()) expect_op(",");
    node->targets.push_back(parse_target(false, {}));
    expect_op("=");
    node->values.push_back(parse_expression());
  }
  node->body = parse_body({"endwith"});
  advance();
  out.push_back(std::move(node));
}

void Parser::parse_print(Body& out) {
  bool is_first = true;
  while (current().kind != TokenKind::kBlockEnd) {
    if (!std::exchange(is_first, false)) expect_op(",");
    auto print = std::make_unique<Stmt>(Stmt::Kind::kPrint, current().at);
    print->value = parse_expression();
    out.push_back(std::move(print));
  }
}

// `generation` marks what the model wrote, for training; when rendering it is only a scope. A `block` without a parent
// template renders where it stands.
void Parser::parse_scope(Body& out, Position at, std::string_view tag) {
  auto node = std::make_unique<Stmt>(Stmt::Kind::kScope, at);
  std::string name;
  if (tag == "block") {
    name = take_name("the block's name");
    skip_name("scoped");
    skip_name("required");
  } else if (tag == "autoescape") {
    if (!skip_name("false") && !skip_name("False"))
      refuse(current().at, "only '{% autoescape false %}' is supported");
  }
  const std::string end = "end" + std::string(tag);
  node->body = parse_body({end});
  advance();
  if (!name.empty()) skip_name(name);
  out.push_back(std::move(node));
}

void Parser::parse_loop_control(Body& out, Position at, std::string_view tag) {
  if (loops_ == 0) refuse(at, "'" + std::string(tag) + "' outside of a loop");
  out.push_back(
      std::make_unique<Stmt>(tag == "break" ? Stmt::Kind::kBreak : Stmt::Kind::kContinue, at));
}

}  // namespace hearth::jinja
