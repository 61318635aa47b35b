// Operators, with Python's rules and Python's complaints. All throw kInvalidArgument for types that don't fit.
#pragma once

#include <memory>

#include "text/jinja/ast.h"
#include "text/jinja/value.h"

namespace hearth::jinja {

// Arithmetic on numbers, + and * on strings and lists, % as string formatting. Integers stay within 64 bits: beyond
// that it is an error.
Value arithmetic(Heap& heap, BinaryOp op, const Value& a, const Value& b);
Value negate(const Value& a);

bool compare(Heap& heap, CompareOp op, const Value& a, const Value& b);  // any but kIn, kNotIn
bool contains(Heap& heap, const Value& container, const Value& item);
// Order of two values as `<` gives it; for sort, min and max.
bool less(Heap& heap, const Value& a, const Value& b);

// container[start:stop:step]; missing or None bounds are open.
Value slice(Heap& heap, const Value& container, const Value& start, const Value& stop,
            const Value& step);

// Walks a value's items. The iterator borrows from the value's objects, which live as long as the heap.
std::unique_ptr<Iter> iterate(Heap& heap, const Value& value);
// All items, each counted as a step and paid for.
List& to_list(Heap& heap, const Value& value, Kind kind = Kind::kList);
// len(): -1 when the value has none.
int64_t length_of(const Value& value);

[[noreturn]] void refuse_undefined(const Value& value);  // "'x' is undefined"

}  // namespace hearth::jinja
