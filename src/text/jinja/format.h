// Python's two ways of formatting: "%s of %d" % (a, b) and "{} of {:>4}".format(a, b).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "text/jinja/native.h"
#include "text/jinja/value.h"

namespace hearth::jinja {

// The % operator. `arguments` is a tuple, a dict for %(name)s, or one value.
Str format_percent(Heap& heap, const Str& pattern, const Value& arguments);

// str.format. Fields may go into attributes and items, which follow the sandbox's rules.
Str format_braces(Interpreter& interpreter, const Str& pattern,
                  const std::vector<Value>& positional,
                  const std::vector<std::pair<Str, Value>>& named);

// One value by a format specification ("[[fill]align][sign][#][0][width][,_][.precision][type]").
Str format_value(Heap& heap, const Value& value, std::string_view specification);

// Digits of a float in style 'e', 'f' or 'g' as C's printf has them; `is_alternate` keeps the point and zeros of 'g'.
std::string float_digits(double value, char style, int precision, bool is_alternate);
std::string integer_digits(uint64_t value, int base);

// Rounded to `digits` decimals, correctly, ties to even (of the exact binary value); digits may be negative.
double round_to(double value, int64_t digits);

}  // namespace hearth::jinja
