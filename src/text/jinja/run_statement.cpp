#include <algorithm>
#include <functional>
#include <utility>

#include "base/error.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"
#include "text/jinja/printing.h"

namespace hearth::jinja {
namespace {

// Sets a variable for as long as it lives.
template <class T>
class Swap {
 public:
  Swap(T& place, T value) : place_(place), saved_(place) { place_ = value; }
  ~Swap() { place_ = saved_; }
  Swap(const Swap&) = delete;
  Swap& operator=(const Swap&) = delete;

 private:
  T& place_;
  T saved_;
};

// The items of a loop that pass its `if`, as they are unpacked: a pair is a tuple from here on.
class FilteredIter final : public Iter {
 public:
  FilteredIter(std::unique_ptr<Iter> source, std::move_only_function<bool(Value&)> passes)
      : source_(std::move(source)), passes_(std::move(passes)) {}
  bool next(Value& out) override {
    while (source_->next(out)) {
      if (passes_(out)) return true;
    }
    return false;
  }

 private:
  std::unique_ptr<Iter> source_;
  std::move_only_function<bool(Value&)> passes_;
};

}  // namespace

Value* Scope::find_here(int32_t symbol) {
  if (!index_.empty()) {
    const auto found = index_.find(symbol);
    return found == index_.end() ? nullptr : &variables[found->second].second;
  }
  for (auto& [name, value] : variables) {
    if (name == symbol) return &value;
  }
  return nullptr;
}

const Value* Scope::find(int32_t symbol) {
  for (Scope* scope = this; scope != nullptr; scope = scope->parent) {
    if (const Value* found = scope->find_here(symbol)) return found;
  }
  return nullptr;
}

void Scope::set(int32_t symbol, Value value) {
  constexpr size_t kLinear = 24;
  if (Value* old = find_here(symbol)) {
    *old = std::move(value);
    return;
  }
  variables.emplace_back(symbol, std::move(value));
  if (!index_.empty()) {
    index_.emplace(symbol, variables.size() - 1);
  } else if (variables.size() > kLinear) {
    for (size_t i = 0; i < variables.size(); ++i) index_.emplace(variables[i].first, i);
  }
}

void Scope::clear() {
  variables.clear();
  index_.clear();
}

Interpreter::Interpreter(const Ast& ast, const Limits& limits, const std::tm& now)
    : budget_(limits),
      heap_(budget_),
      ast_(ast),
      now_(now),
      loop_symbol_(symbol_of("loop")),
      caller_symbol_(symbol_of("caller")),
      varargs_symbol_(symbol_of("varargs")),
      kwargs_symbol_(symbol_of("kwargs")),
      globals_(&heap_.make<Scope>(nullptr)),
      scope_(globals_) {
  for (size_t i = 0; i < ast_.symbols.size(); ++i) {
    const Native* native = find_global(ast_.symbols[i]);
    if (native != nullptr)
      globals_->set(static_cast<int32_t>(i), Value::object(&heap_.make<Function>(*native)));
  }
}

int32_t Interpreter::symbol_of(std::string_view name) const {
  const auto found = std::ranges::find(ast_.symbols, name);
  return found == ast_.symbols.end() ? -1 : static_cast<int32_t>(found - ast_.symbols.begin());
}

void Interpreter::set_variable(std::string_view name, Value value) {
  if (const int32_t symbol = symbol_of(name); symbol >= 0) globals_->set(symbol, std::move(value));
}

Str Interpreter::run() {
  StrBuilder page(budget_);
  page_ = out_ = &page;
  scope_ = &heap_.make<Scope>(globals_);
  run_body(ast_.body);
  page_ = out_ = nullptr;
  return page.take();
}

Interpreter::Flow Interpreter::run_body(const Body& body) {
  for (const auto& stmt : body) {
    const Flow flow = run_statement(*stmt);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

void Interpreter::print(const Value& value) {
  append_text(heap_, *out_, value);
  if (out_ == page_ && out_->size() > budget_.limits().max_output_bytes) [[unlikely]] {
    fail(Code::kResourceExhausted, "template stopped: its output is longer than ",
         budget_.limits().max_output_bytes, " bytes");
  }
}

Interpreter::Flow Interpreter::run_statement(const Stmt& stmt) {
  budget_.step();
  const DepthGuard guard(budget_);
  at_ = stmt.at;
  switch (stmt.kind) {
    case Stmt::Kind::kText:
      return print(Value::string(stmt.text)), Flow::kNext;
    case Stmt::Kind::kPrint: {
      const Value value = evaluate(*stmt.value);
      at_ = stmt.at;
      return print(value), Flow::kNext;
    }
    case Stmt::Kind::kFor: {
      const Value items = evaluate(*stmt.value);
      at_ = stmt.at;
      return run_for(stmt, items, nullptr), Flow::kNext;
    }
    case Stmt::Kind::kIf:
      return run_if(stmt);
    case Stmt::Kind::kSet: {
      const Value value = evaluate(*stmt.value);
      at_ = stmt.at;
      return assign(*stmt.target, value), Flow::kNext;
    }
    case Stmt::Kind::kSetBlock:
      return run_set_block(stmt);
    case Stmt::Kind::kMacro:
      set_variable(stmt.target->symbol, Value::object(&make_macro(*stmt.macro)));
      return Flow::kNext;
    case Stmt::Kind::kCall:
      return run_call_block(stmt), Flow::kNext;
    case Stmt::Kind::kFilter:
      return run_filter_block(stmt);
    case Stmt::Kind::kWith:
      return run_with(stmt);
    case Stmt::Kind::kBreak:
      return Flow::kBreak;
    case Stmt::Kind::kContinue:
      return Flow::kContinue;
    case Stmt::Kind::kDo:
      return evaluate(*stmt.value), Flow::kNext;
    case Stmt::Kind::kScope: {
      const Swap inner(scope_, &heap_.make<Scope>(scope_));
      return run_body(stmt.body);
    }
  }
  HEARTH_CHECK(false, "unknown statement");
}

Interpreter::Flow Interpreter::run_if(const Stmt& stmt) {
  for (const auto& [condition, body] : stmt.branches) {
    if (is_true(evaluate(*condition))) return run_body(body);
  }
  return run_body(stmt.other);
}

void Interpreter::set_variable(int32_t symbol, const Value& value) {
  const size_t before = scope_->variables.size();
  scope_->set(symbol, value);
  if (scope_->variables.size() > before)
    budget_.grow(static_cast<int64_t>(sizeof(std::pair<int32_t, Value>)));
}

Macro& Interpreter::make_macro(const MacroDef& definition) {
  for (Scope* scope = scope_; scope != nullptr && !scope->is_captured; scope = scope->parent)
    scope->is_captured = true;
  return heap_.make<Macro>(definition, scope_);
}

void Interpreter::assign(const Expr& target, const Value& value) {
  at_ = target.at;
  switch (target.kind) {
    case Expr::Kind::kName:
      return set_variable(target.symbol, value);
    case Expr::Kind::kNsRef: {
      const Value* found = scope_->find(target.symbol);
      if (found == nullptr || !found->is(Kind::kNamespace)) {
        fail(Code::kInvalidArgument, "cannot assign attribute on non-namespace object");
      }
      return heap_.set(found->as<Namespace>().attributes, Value::string(target.name), value);
    }
    default:
      break;
  }
  const std::unique_ptr<Iter> items = iterate(heap_, value);
  std::vector<Value> parts;
  Value part;
  while (parts.size() <= target.items.size() && items->next(part)) parts.push_back(part);
  if (parts.size() != target.items.size()) {
    fail(Code::kInvalidArgument, parts.size() > target.items.size() ? "too many" : "not enough",
         " values to unpack (expected ", target.items.size(), ")");
  }
  const DepthGuard guard(budget_);
  for (size_t i = 0; i < parts.size(); ++i) assign(*target.items[i], parts[i]);
}

// What a target's variables hold now, in the target's shape.
Value Interpreter::pack(const Expr& target) {
  if (target.kind != Expr::Kind::kTuple) return *scope_->find(target.symbol);
  List& tuple = heap_.make<List>(Kind::kTuple);
  for (const ExprPtr& item : target.items) heap_.push(tuple, pack(*item));
  return Value::object(&tuple);
}

// Runs a loop over `items`. `outer` is the running loop of a recursive call, null for the loop statement itself.
void Interpreter::run_for(const Stmt& stmt, const Value& items, Loop* outer) {
  Scope& around = outer != nullptr ? *outer->scope : *scope_;
  Loop& loop = heap_.make<Loop>();
  loop.scope = &around;
  loop.recursive = stmt.is_recursive ? &stmt : nullptr;
  loop.depth0 = outer != nullptr ? outer->depth0 + 1 : 0;
  loop.source = iterate(heap_, items);
  if (stmt.condition == nullptr) {
    loop.known_length = length_of(items);
  } else {
    loop.source =
        std::make_unique<FilteredIter>(std::move(loop.source), [this, &stmt, &around](Value& item) {
          const Swap inner(scope_, &heap_.make<Scope>(&around));
          assign(*stmt.target, item);
          if (!is_true(evaluate(*stmt.condition))) return false;
          item = pack(*stmt.target);
          return true;
        });
  }
  if (!run_for_body(stmt, loop, around) && !stmt.other.empty()) {
    const Swap inner(scope_, &heap_.make<Scope>(&around));
    run_body(stmt.other);
  }
}

// As in Jinja2, an item that ends with `break` or `continue` does not count for `else`.
bool Interpreter::run_for_body(const Stmt& stmt, Loop& loop, Scope& around) {
  const Swap restored(scope_, scope_);
  Scope* scope = nullptr;
  bool has_finished = false;
  Value item;
  while (loop.advance(item)) {
    budget_.step();
    if (scope == nullptr || scope->is_captured) scope = &heap_.make<Scope>(&around);
    scope->clear();
    scope_ = scope;
    if (loop_symbol_ >= 0) scope_->set(loop_symbol_, Value::object(&loop));
    assign(*stmt.target, item);
    const Flow flow = run_body(stmt.body);
    has_finished |= flow == Flow::kNext;
    if (flow == Flow::kBreak) break;
  }
  return has_finished;
}

Interpreter::Flow Interpreter::capture(const Body& body, Str& out) {
  StrBuilder builder(budget_);
  const Swap redirect(out_, &builder);
  const Flow flow = run_body(body);
  out = builder.take();
  return flow;
}

Interpreter::Flow Interpreter::run_set_block(const Stmt& stmt) {
  Value value;
  {
    const Swap inner(scope_, &heap_.make<Scope>(scope_));
    Str text;
    const Flow flow = capture(stmt.body, text);
    if (flow != Flow::kNext) return flow;
    value = Value::string(text);
    if (stmt.value != nullptr) value = evaluate_filter(*stmt.value, &value);
  }
  assign(*stmt.target, value);
  return Flow::kNext;
}

void Interpreter::run_call_block(const Stmt& stmt) {
  const Expr& call_expr = *stmt.value;
  const Value callee = evaluate(*call_expr.items[0]);
  Arguments arguments = evaluate_arguments(*call_expr.args);
  Macro& caller = make_macro(*stmt.macro);
  arguments.named.emplace_back(Str(&budget_, "caller", Origin::kTemplate), Value::object(&caller));
  at_ = call_expr.at;
  print(call(callee, std::move(arguments)));
}

Interpreter::Flow Interpreter::run_filter_block(const Stmt& stmt) {
  const Swap inner(scope_, &heap_.make<Scope>(scope_));
  Str text;
  const Flow flow = capture(stmt.body, text);
  if (flow != Flow::kNext) return flow;
  const Value input = Value::string(text);
  const Value filtered = evaluate_filter(*stmt.value, &input);
  if (!filtered.is_string()) {
    fail(Code::kInvalidArgument, "a filter block must give a string, not ", type_name(filtered));
  }
  print(filtered);
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run_with(const Stmt& stmt) {
  Scope& scope = heap_.make<Scope>(scope_);
  for (size_t i = 0; i < stmt.targets.size(); ++i) {
    const Value value = evaluate(*stmt.values[i]);  // in the scope around
    const Swap inner(scope_, &scope);
    assign(*stmt.targets[i], value);
  }
  const Swap inner(scope_, &scope);
  return run_body(stmt.body);
}

bool Loop::peek() {
  if (!is_after_read) {
    is_after_read = true;
    after = Value();
    if (!source->next(after)) after = Value();
  }
  return !after.is_missing();
}

bool Loop::advance(Value& item) {
  if (is_after_read) {
    is_after_read = false;
    if (after.is_missing()) return false;
    item = std::exchange(after, Value());
  } else if (!source->next(item)) {
    return false;
  }
  ++index0;
  before = std::exchange(current, item);
  return true;
}

int64_t Loop::length(Heap& heap) {
  if (known_length >= 0) return known_length;
  List& rest = heap.make<List>(Kind::kList);
  Value item;
  while (source->next(item)) {
    heap.budget().step();
    heap.push(rest, item);
  }
  source = iterate(heap, Value::object(&rest));
  known_length = static_cast<int64_t>(rest.items.size()) + index0 + 1 +
                 (is_after_read && !after.is_missing() ? 1 : 0);
  return known_length;
}

}  // namespace hearth::jinja
