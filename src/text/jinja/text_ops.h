// String operations of Python that keep track of where text came from. Indices are bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "text/jinja/character.h"
#include "text/jinja/value.h"

namespace hearth::jinja {

enum class Side : uint8_t { kLeft, kRight, kBoth };

// The start of the character that ends at byte `end` > 0.
int64_t previous_char(std::string_view text, int64_t end);

// Substring search in linear time from `from`; -1 when absent.
int64_t find_text(std::string_view text, std::string_view what, int64_t from = 0);
int64_t rfind_text(std::string_view text, std::string_view what);

// Without the characters of `chars` (null: white space) at its ends.
Str strip(Budget& budget, const Str& s, const Str* chars, Side side);

// The first `count` occurrences (all if negative) of `what` replaced.
Str replace(Budget& budget, const Str& s, const Str& what, const Str& with, int64_t count);

// str.split and str.rsplit: at white space if `separator` is null, at most `limit` cuts (no limit if negative).
List& split(Heap& heap, const Str& s, const Str* separator, int64_t limit, Side from);

// str.splitlines.
List& split_lines(Heap& heap, const Str& s, bool keeps_ends);

Str change_case(Budget& budget, const Str& s, Case to);
Str capitalize(Budget& budget, const Str& s);  // first character in title case, others lower
Str title(Budget& budget, const Str& s);       // str.title: each word so
Str swap_case(Budget& budget, const Str& s);
Str lower_greek(Budget& budget, const Str& s);  // str.lower with the final sigma rule

bool is_upper_text(std::string_view text);  // str.isupper
bool is_lower_text(std::string_view text);  // str.islower

// Filled up to `width` characters; text stays left, right or in the middle (as str.center has it).
enum class Align : uint8_t { kLeft, kRight, kCenter };
Str pad(Budget& budget, const Str& s, int64_t width, Align align, std::string_view fill);

Str repeat(Budget& budget, const Str& s, int64_t count);
Str reversed(Budget& budget, const Str& s);
Str escape_html(Budget& budget, const Str& s);  // & < > " ' as entities; the result is markup
Str join(Heap& heap, const Str& separator, const List& items);  // items by str()

}  // namespace hearth::jinja
