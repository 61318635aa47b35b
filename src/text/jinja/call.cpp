// Attributes, items and calls.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"
#include "text/jinja/printing.h"

namespace hearth::jinja {
namespace {

std::string quote(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string owner_name(const Value& object) {
  return object.is_none() ? "None" : std::string(type_name(object)) + " object";
}

int64_t wrapped_index(int64_t index, int64_t length) { return index < 0 ? index + length : index; }

}  // namespace

Value Interpreter::undefined(std::string message) {
  return Value::object(&heap_.make<Undefined>(std::move(message)));
}

Value Interpreter::string(std::string_view text) {
  return Value::string(Str(&budget_, std::string(text), Origin::kTemplate));
}

// What Python's getattr() would find: methods and properties, not items.
Value Interpreter::find_attribute(const Value& object, const Str& name) {
  const std::string_view text = name.view();
  if (text.starts_with("__")) {
    if (object.is(Kind::kNamespace) || !text.ends_with("__")) return Value();
    return undefined("access to attribute " + quote(text) + " of " + quote(type_name(object)) +
                     " object is unsafe.");
  }
  if (is_mutating_method(object, text)) {
    return undefined("access to attribute " + quote(text) + " of " + quote(type_name(object)) +
                     " object is unsafe.");
  }
  const auto method = [&](const Native* native) {
    return native == nullptr ? Value() : Value::object(&heap_.make<Function>(*native, object));
  };
  switch (object.kind()) {
    case Kind::kString:
      return method(find_string_method(text));
    case Kind::kDict:
      return method(find_dict_method(text));
    case Kind::kList:
      return method(find_list_method(text));
    case Kind::kTuple: {
      const auto& list = object.as<List>();
      if (list.names == List::Names::kGroup && text == "grouper") return list.items[0];
      if (list.names == List::Names::kGroup && text == "list") return list.items[1];
      return text == "copy" ? Value() : method(find_list_method(text));
    }
    case Kind::kNamespace: {
      const Value* found = object.as<Namespace>().attributes.find(text);
      return found == nullptr ? Value() : *found;
    }
    case Kind::kLoop:
      return loop_attribute(object.as<Loop>(), text);
    case Kind::kCycler:
      return cycler_attribute(object.as<Cycler>(), text, object);
    case Kind::kMacro:
      if (text == "name") return Value::string(object.as<Macro>().definition->name);
      if (text == "caller") return Value::boolean(object.as<Macro>().definition->uses_caller);
      if (text == "catch_varargs")
        return Value::boolean(object.as<Macro>().definition->uses_varargs);
      if (text == "catch_kwargs") return Value::boolean(object.as<Macro>().definition->uses_kwargs);
      return Value();
    case Kind::kRange: {
      const auto& range = object.as<Range>();
      if (text == "start") return Value::integer(range.start);
      if (text == "stop") return Value::integer(range.stop);
      if (text == "step") return Value::integer(range.step);
      return text == "copy" ? Value() : method(find_list_method(text));
    }
    default:
      return Value();
  }
}

Value Interpreter::get_attribute(const Value& object, const Str& name) {
  if (object.is_undefined()) refuse_undefined(object);
  Value found = find_attribute(object, name);
  if (!found.is_missing()) return found;
  if (object.is(Kind::kDict)) {
    const Value* item = object.as<Dict>().find(name.view());
    if (item != nullptr) return *item;
  }
  return undefined(quote(owner_name(object)) + " has no attribute " + quote(name.view()));
}

Value Interpreter::get_item(const Value& object, const Value& key) {
  if (object.is_undefined()) refuse_undefined(object);
  const int64_t length = length_of(object);
  switch (object.kind()) {
    case Kind::kDict: {
      budget_.step(key.is_string() ? key.str().size() / 256 : 0);
      const bool is_hashable =
          !key.is(Kind::kList) && !key.is(Kind::kDict) && !key.is(Kind::kDictView);
      const Value* found = is_hashable ? object.as<Dict>().find(key) : nullptr;
      if (found != nullptr) return *found;
      break;
    }
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kString:
    case Kind::kRange: {
      if (!key.is_integral()) break;
      const int64_t index = wrapped_index(key.as_int(), length);
      if (index < 0 || index >= length) break;
      if (object.is_sequence()) return object.as<List>().items[static_cast<size_t>(index)];
      if (object.is(Kind::kRange)) return Value::integer(object.as<Range>().at(index));
      return slice(heap_, object, Value::integer(index), Value::integer(index + 1), Value());
    }
    default:
      break;
  }
  if (!key.is_string())
    return undefined(owner_name(object) + " has no element " + plain_repr(heap_, key));
  Value found = find_attribute(object, key.str());
  if (!found.is_missing()) return found;
  return undefined(quote(owner_name(object)) + " has no attribute " + quote(key.text()));
}

Value Interpreter::loop_attribute(Loop& loop, std::string_view name) {
  static constexpr Native kCycle = {
      "cycle", "/ *", 0, [](Interpreter&, const Value& self, Bound& args) {
        if (args.rest().empty()) fail(Code::kInvalidArgument, "no items for cycling given");
        const auto count = static_cast<int64_t>(args.rest().size());
        return args.rest()[static_cast<size_t>(self.as<Loop>().index0 % count)];
      }};
  static constexpr Native kChanged = {
      "changed", "/ *", 0, [](Interpreter& in, const Value& self, Bound& args) {
        auto& last = self.as<Loop>().last_changed;
        const auto same = [&](const Value& a, const Value& b) { return equal(in.budget(), a, b); };
        const bool is_new =
            !self.as<Loop>().has_changed_value || !std::ranges::equal(last, args.rest(), same);
        self.as<Loop>().has_changed_value = true;
        if (is_new) last = std::move(args.rest());
        return Value::boolean(is_new);
      }};
  const int64_t index0 = loop.index0;
  if (name == "index") return Value::integer(index0 + 1);
  if (name == "index0") return Value::integer(index0);
  if (name == "first") return Value::boolean(index0 == 0);
  if (name == "last") return Value::boolean(!loop.peek());
  if (name == "length") return Value::integer(loop.length(heap_));
  if (name == "revindex") return Value::integer(loop.length(heap_) - index0);
  if (name == "revindex0") return Value::integer(loop.length(heap_) - index0 - 1);
  if (name == "depth") return Value::integer(loop.depth0 + 1);
  if (name == "depth0") return Value::integer(loop.depth0);
  if (name == "previtem") return index0 == 0 ? undefined("there is no previous item") : loop.before;
  if (name == "nextitem") return loop.peek() ? loop.after : undefined("there is no next item");
  if (name == "cycle") return Value::object(&heap_.make<Function>(kCycle, Value::object(&loop)));
  if (name == "changed")
    return Value::object(&heap_.make<Function>(kChanged, Value::object(&loop)));
  return Value();
}

Value Interpreter::cycler_attribute(Cycler& cycler, std::string_view name, const Value& object) {
  static constexpr Native kNext = {"next", "/", 0, [](Interpreter&, const Value& self, Bound&) {
                                     auto& c = self.as<Cycler>();
                                     const Value item = c.items[static_cast<size_t>(c.position)];
                                     c.position =
                                         (c.position + 1) % static_cast<int64_t>(c.items.size());
                                     return item;
                                   }};
  static constexpr Native kReset = {"reset", "/", 0, [](Interpreter&, const Value& self, Bound&) {
                                      self.as<Cycler>().position = 0;
                                      return Value::none();
                                    }};
  if (name == "current") return cycler.items[static_cast<size_t>(cycler.position)];
  if (name == "next") return Value::object(&heap_.make<Function>(kNext, object));
  if (name == "reset") return Value::object(&heap_.make<Function>(kReset, object));
  return Value();
}

Value Interpreter::call(const Value& callee, Arguments arguments) {
  budget_.step();
  switch (callee.kind()) {
    case Kind::kFunction: {
      const auto& function = callee.as<Function>();
      Bound bound(*function.native, std::move(arguments));
      return function.native->run(*this, function.self, bound);
    }
    case Kind::kMacro:
      return call_macro(callee.as<Macro>(), std::move(arguments));
    case Kind::kLoop:
      return call_loop(callee.as<Loop>(), std::move(arguments));
    case Kind::kJoiner: {
      auto& joiner = callee.as<Joiner>();
      return std::exchange(joiner.is_used, true) ? joiner.separator : Value::string(Str());
    }
    case Kind::kUndefined:
      refuse_undefined(callee);
    default:
      fail(Code::kInvalidArgument, "'", type_name(callee), "' object is not callable");
  }
}

Value Interpreter::call_filter(const Str& name, const Value& value, Arguments arguments) {
  const Native* native = find_filter(name.view());
  if (native == nullptr) fail(Code::kInvalidArgument, "no filter named '", name.view(), "'");
  const DepthGuard guard(budget_);
  Bound bound(*native, std::move(arguments));
  return native->run(*this, value, bound);
}

Value Interpreter::call_test(const Str& name, const Value& value, Arguments arguments) {
  const Native* native = find_test(name.view());
  if (native == nullptr) fail(Code::kInvalidArgument, "no test named '", name.view(), "'");
  Bound bound(*native, std::move(arguments));
  return native->run(*this, value, bound);
}

Value Interpreter::call_loop(Loop& loop, Arguments arguments) {
  if (arguments.positional.size() != 1 || !arguments.named.empty()) {
    fail(Code::kInvalidArgument, "loop() takes one argument: the items to walk");
  }
  if (loop.recursive == nullptr) {
    fail(Code::kInvalidArgument,
         "The loop must have the 'recursive' marker to be called recursively.");
  }
  const DepthGuard guard(budget_);
  StrBuilder builder(budget_);
  StrBuilder* const outer = std::exchange(out_, &builder);
  Scope* const scope = scope_;
  run_for(*loop.recursive, arguments.positional[0], &loop);
  scope_ = scope;
  out_ = outer;
  return Value::string(builder.take());
}

Value Interpreter::call_macro(Macro& macro, Arguments arguments) {
  const MacroDef& def = *macro.definition;
  const std::string name = def.name.empty() ? "the call block" : "macro " + quote(def.name.view());
  Scope& scope = heap_.make<Scope>(macro.scope);
  auto& named = arguments.named;
  const auto take_named = [&](std::string_view wanted) {
    budget_.step(static_cast<int64_t>(named.size()) / 16);
    const auto found =
        std::ranges::find_if(named, [&](const auto& n) { return n.first.view() == wanted; });
    if (found == named.end()) return Value();
    Value value = found->second;
    named.erase(found);
    return value;
  };
  const size_t count = def.parameters.size();
  std::vector<Value> given(count);
  bool has_caller_parameter = false;
  for (size_t i = 0; i < count; ++i) {
    given[i] = i < arguments.positional.size() ? arguments.positional[i]
                                               : take_named(def.parameters[i].second.view());
    has_caller_parameter |= def.parameters[i].second.view() == "caller";
  }
  if (def.uses_caller && !has_caller_parameter) {
    Value caller = take_named("caller");
    scope.set(caller_symbol_,
              caller.is_missing() ? undefined("No caller defined") : std::move(caller));
  }
  if (def.uses_kwargs) {
    Dict& kwargs = heap_.make<Dict>();
    for (auto& [key, value] : named) heap_.set(kwargs, Value::string(key), std::move(value));
    scope.set(kwargs_symbol_, Value::object(&kwargs));
  } else if (!named.empty()) {
    fail(Code::kInvalidArgument, name, " takes no keyword argument '", named.front().first.view(),
         "'");
  }
  if (def.uses_varargs) {
    List& varargs = heap_.make<List>(Kind::kTuple);
    for (size_t i = count; i < arguments.positional.size(); ++i)
      heap_.push(varargs, arguments.positional[i]);
    scope.set(varargs_symbol_, Value::object(&varargs));
  } else if (arguments.positional.size() > count) {
    fail(Code::kInvalidArgument, name, " takes not more than ", count, " argument(s)");
  }
  const DepthGuard guard(budget_);
  const Position called_at = at_;
  Scope* const outer_scope = std::exchange(scope_, &scope);
  for (size_t i = 0; i < count; ++i) {  // in order: a default may use the parameters before it
    const size_t without_default = count - def.defaults.size();
    if (given[i].is_missing()) {
      given[i] = i >= without_default
                     ? evaluate(*def.defaults[i - without_default])
                     : undefined("parameter " + quote(def.parameters[i].second.view()) +
                                 " was not provided");
    }
    scope.set(def.parameters[i].first, given[i]);
  }
  Str text;
  capture(def.body, text);
  scope_ = outer_scope;
  at_ = called_at;
  return Value::string(text);
}

}  // namespace hearth::jinja
