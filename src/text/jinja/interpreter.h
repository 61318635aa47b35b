// Runs a parsed template.
#pragma once

#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/jinja/ast.h"
#include "text/jinja/budget.h"
#include "text/jinja/native.h"
#include "text/jinja/value.h"

namespace hearth::jinja {

// Variables of one block. Lookups go on in the enclosing scope.
struct Scope final : Object {
  explicit Scope(Scope* enclosing) : Object(Kind::kScope), parent(enclosing) {}
  Scope* parent;
  std::vector<std::pair<int32_t, Value>> variables;  // by symbol
  // A macro may still look here: a loop must not reuse it for its next item.
  bool is_captured = false;

  const Value* find(int32_t symbol);  // here or further out; null when absent
  void set(int32_t symbol, Value value);
  void clear();

 private:
  Value* find_here(int32_t symbol);
  std::unordered_map<int32_t, size_t> index_;  // into variables; filled once there are many
};

struct Macro final : Object {
  Macro(const MacroDef& d, Scope* closure) : Object(Kind::kMacro), definition(&d), scope(closure) {}
  const MacroDef* definition;
  Scope* scope;
};

// The `loop` variable of a running loop.
struct Loop final : Object {
  Loop() : Object(Kind::kLoop) {}
  bool peek();                 // reads one item ahead; false at the end
  bool advance(Value& item);   // the next item; false at the end
  int64_t length(Heap& heap);  // reads a source without length to its end
  std::unique_ptr<Iter> source;
  int64_t known_length = -1;  // -1: not known yet
  int64_t index0 = -1;
  int64_t depth0 = 0;
  Value before, current, after;  // missing when not there
  bool is_after_read = false;
  std::vector<Value> last_changed;  // arguments of the last `loop.changed`
  bool has_changed_value = false;
  const Stmt* recursive = nullptr;  // the loop to run for `loop(items)`, null if not recursive
  Scope* scope = nullptr;           // around that loop
};

// One rendering. Owned by one thread. All failures are Error; `position()` then tells where it was.
class Interpreter {
 public:
  Interpreter(const Ast& ast, const Limits& limits, const std::tm& now);

  Budget& budget() { return budget_; }
  Heap& heap() { return heap_; }
  const std::tm& now() const { return now_; }
  Position position() const { return at_; }

  void set_variable(std::string_view name,
                    Value value);  // before run(); ignored if the template never names it
  Str run();

  // For natives.
  Value undefined(std::string message);
  Value string(std::string_view text);  // text of the template's side
  Value get_attribute(const Value& object, const Str& name);
  Value get_item(const Value& object, const Value& key);
  Value call(const Value& callee, Arguments arguments);
  Value call_filter(const Str& name, const Value& value, Arguments arguments);
  Value call_test(const Str& name, const Value& value, Arguments arguments);

 private:
  enum class Flow : uint8_t { kNext, kBreak, kContinue };

  int32_t symbol_of(std::string_view name) const;

  // run_statement.cpp
  Flow run_body(const Body& body);
  Flow run_statement(const Stmt& stmt);
  Flow run_if(const Stmt& stmt);
  void run_for(const Stmt& stmt, const Value& items, Loop* outer);
  bool run_for_body(const Stmt& stmt, Loop& loop,
                    Scope& around);  // true if some item's body ran to its end
  Macro& make_macro(const MacroDef& definition);
  void set_variable(int32_t symbol, const Value& value);
  Flow run_set_block(const Stmt& stmt);
  void run_call_block(const Stmt& stmt);
  Flow run_filter_block(const Stmt& stmt);
  Flow run_with(const Stmt& stmt);
  void assign(const Expr& target, const Value& value);
  Value pack(const Expr& target);
  void print(const Value& value);
  Flow capture(const Body& body, Str& out);  // runs in the current scope, output into `out`

  // evaluate.cpp
  Value evaluate(const Expr& expr);
  Value evaluate_kind(const Expr& expr);
  Value evaluate_name(const Expr& expr);
  Value evaluate_list(const Expr& expr, Kind kind);
  Value evaluate_dict(const Expr& expr);
  Value evaluate_conditional(const Expr& expr);
  Value evaluate_logic(const Expr& expr);
  Value evaluate_binary(const Expr& expr);
  Value evaluate_concat(const Expr& expr);
  Value evaluate_compare(const Expr& expr);
  Value evaluate_get_item(const Expr& expr);
  Value evaluate_slice(const Expr& expr);
  Value evaluate_call(const Expr& expr);
  Value evaluate_filter(const Expr& expr, const Value* block_text);
  Value evaluate_test(const Expr& expr);
  Arguments evaluate_arguments(const CallArgs& args);
  void spread(const CallArgs& args, Arguments& out);

  // call.cpp
  Value call_macro(Macro& macro, Arguments arguments);
  Value call_loop(Loop& loop, Arguments arguments);
  Value find_attribute(const Value& object, const Str& name);  // missing when there is none
  Value loop_attribute(Loop& loop, std::string_view name);
  Value cycler_attribute(Cycler& cycler, std::string_view name, const Value& object);

  Budget budget_;
  Heap heap_;
  const Ast& ast_;
  const std::tm now_;
  const int32_t loop_symbol_, caller_symbol_, varargs_symbol_, kwargs_symbol_;  // -1: unused
  Scope* globals_;
  Scope* scope_;
  StrBuilder* out_ = nullptr;
  StrBuilder* page_ = nullptr;  // the outermost output, which is bounded
  Position at_;
};

}  // namespace hearth::jinja
