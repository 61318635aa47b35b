// The filters' tables, by kind; find_filter() looks through them. Nobody else includes this.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "text/jinja/native.h"

namespace hearth::jinja {

std::span<const Native> text_filters();      // filters_text.cpp
std::span<const Native> wrap_filters();      // filters_wrap.cpp
std::span<const Native> sequence_filters();  // filters_sequence.cpp
std::span<const Native> order_filters();     // filters_order.cpp
std::span<const Native> select_filters();    // filters_select.cpp
std::span<const Native> value_filters();     // filters_value.cpp

// Attribute paths of filters: "address.city", "0.name", an index, or None for the item itself.
class AttributePath {
 public:
  explicit AttributePath(Interpreter& interpreter, const Value& path);
  // `otherwise` replaces an undefined step unless it is missing or None.
  Value get(Interpreter& interpreter, const Value& item, const Value& otherwise = {}) const;

 private:
  std::vector<Value> steps_;
};

// Strings in lower case, other values as they are: what sorting without regard to case compares.
Value ignore_case(Interpreter& interpreter, const Value& value);

// A generator: nothing happens, and nothing fails, before the first item is asked for.
Value generator(Interpreter& interpreter, std::move_only_function<std::unique_ptr<Iter>()> start);

}  // namespace hearth::jinja
