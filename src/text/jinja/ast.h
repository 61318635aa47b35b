// A parsed template. Nodes are plain data; the parser makes them, the interpreter reads them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja/lexer.h"
#include "text/jinja/value.h"

namespace hearth::jinja {

struct Native;
struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

// Arguments of a call, filter or test.
struct CallArgs {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<Str, ExprPtr>> named;
  ExprPtr star;         // *list, or null
  ExprPtr double_star;  // **dict, or null
};

enum class BinaryOp : uint8_t { kAdd, kSub, kMul, kDiv, kFloorDiv, kMod, kPow };
enum class CompareOp : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kIn, kNotIn };

struct Expr {
  enum class Kind : uint8_t {
    kConst,    // constant
    kName,     // symbol
    kNsRef,    // symbol.name; only as a target of `set`
    kTuple,    // items; as a target: names and nested tuples
    kList,     // items
    kDict,     // items: key, value, key, value...
    kCond,     // items: condition, value, other value (may be null)
    kAnd,      // items: two
    kOr,       // items: two
    kNot,      // items: one
    kNeg,      // items: one
    kPos,      // items: one
    kBinary,   // items: two, binary
    kConcat,   // items
    kCompare,  // items: one more than compares
    kGetAttr,  // items: object; name
    kGetItem,  // items: object, key
    kSlice,    // items: object, start, stop, step (each may be null)
    kCall,     // items: callee; args
    kFilter,   // items: value (null: the block's text); name, native, args
    kTest,     // items: value; name, native, args
  };

  explicit Expr(Kind expr_kind, Position where) : kind(expr_kind), at(where) {}
  Kind kind;
  BinaryOp binary = BinaryOp::kAdd;
  Position at;
  int32_t depth = 1;  // of the tree below, for the bound on recursion
  int32_t symbol = -1;
  std::vector<ExprPtr> items;
  std::vector<CompareOp> compares;
  Value constant;
  Str name;
  const Native* native = nullptr;  // null: no such filter or test, an error once it is reached
  std::unique_ptr<CallArgs> args;
};

struct Stmt;
using Body = std::vector<std::unique_ptr<Stmt>>;

// A macro, or the block of a `call`.
struct MacroDef {
  Str name;                                         // empty for the block of a `call`
  std::vector<std::pair<int32_t, Str>> parameters;  // symbol and name
  std::vector<ExprPtr> defaults;                    // of the last parameters
  Body body;
  bool uses_caller = false;
  bool uses_varargs = false;
  bool uses_kwargs = false;
};

struct Stmt {
  enum class Kind : uint8_t {
    kText,      // text
    kPrint,     // value
    kFor,       // target, value, condition (may be null), body, other; is_recursive
    kIf,        // branches, other
    kSet,       // target, value
    kSetBlock,  // target, body, value (a filter without input, may be null)
    kMacro,     // target (a name), macro
    kCall,      // value (a call), macro
    kFilter,    // value (a filter without input), body
    kWith,      // targets, values, body
    kBreak,
    kContinue,
    kDo,     // value
    kScope,  // body: `generation` and `block`
  };

  explicit Stmt(Kind stmt_kind, Position where) : kind(stmt_kind), at(where) {}
  Kind kind;
  bool is_recursive = false;
  Position at;
  Str text;
  ExprPtr target, value, condition;
  std::vector<std::pair<ExprPtr, Body>> branches;
  std::vector<ExprPtr> targets, values;
  Body body, other;
  std::unique_ptr<MacroDef> macro;
};

struct Ast {
  Body body;
  std::vector<std::string> symbols;  // names of variables; nodes hold indices
};

}  // namespace hearth::jinja
