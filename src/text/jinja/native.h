// Functions of the language that are written in C++: filters, tests, methods and globals.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/value.h"

namespace hearth::jinja {

class Interpreter;
struct Native;

// What a call passes, before it is matched with parameters.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<Str, Value>> named;
};

// Arguments matched with the parameters of a Native. A parameter that was not given is missing.
class Bound {
 public:
  // Throws kInvalidArgument as Python's TypeError: too many, too few, unknown name, given twice.
  Bound(const Native& native, Arguments arguments);

  const Value& operator[](size_t i) const { return values_[i]; }
  bool has(size_t i) const { return !values_[i].is_missing(); }
  bool has_value(size_t i) const { return has(i) && !values_[i].is_none(); }
  Value value_or(size_t i, Value otherwise) const {
    return has(i) ? values_[i] : std::move(otherwise);
  }
  int64_t int_or(size_t i, int64_t otherwise) const;  // kInvalidArgument if given but no integer
  bool bool_or(size_t i, bool otherwise) const;       // truth of what is given
  const Str& str(size_t i) const;                     // kInvalidArgument unless a string
  std::vector<Value>& rest() { return rest_; }        // of a "*" parameter
  std::vector<std::pair<Str, Value>>& named_rest() { return named_rest_; }  // of a "**" parameter

 private:
  [[noreturn]] void refuse(size_t i, std::string_view expected) const;
  const Native* native_;
  std::vector<Value> values_;
  std::vector<Value> rest_;
  std::vector<std::pair<Str, Value>> named_rest_;
};

struct Native {
  std::string_view name;
  // Names, separated by spaces. A leading "/" makes all of them positional only; "*" and "**" at the end take the rest.
  std::string_view parameters;
  int required;  // how many must be given
  // `self` is the filtered or tested value, or the object that a method belongs to.
  Value (*run)(Interpreter& interpreter, const Value& self, Bound& arguments);
};

// A native as a value, bound to its object if it is a method.
struct Function final : Object {
  explicit Function(const Native& n, Value object = {})
      : Object(Kind::kFunction), native(&n), self(std::move(object)) {}
  const Native* native;
  Value self;
};

// Null when there is none of that name.
const Native* find_filter(std::string_view name);
const Native* find_test(std::string_view name);
const Native* find_global(std::string_view name);
const Native* find_string_method(std::string_view name);
const Native* find_list_method(std::string_view name);  // of lists, tuples and ranges
const Native* find_dict_method(std::string_view name);
// Methods that would change a list or dict: templates may not call them.
bool is_mutating_method(const Value& object, std::string_view name);

}  // namespace hearth::jinja
