// Text of values: what {{ value }} prints, what repr() gives, and JSON.
#pragma once

#include <string>

#include "text/jinja/value.h"

namespace hearth::jinja {

// str(): strings as they are, numbers as Python prints them, containers by repr. Undefined prints nothing.
Str to_text(Heap& heap, const Value& value);
void append_text(Heap& heap, StrBuilder& out, const Value& value);
void append_repr(Heap& heap, StrBuilder& out, const Value& value);
void append_string_repr(StrBuilder& out, const Str& s);  // with quotes and escapes
std::string float_repr(double value);                    // "1.0", "1e-07", "inf", "nan"
std::string plain_repr(Heap& heap, const Value& value);  // for messages; cut when long

struct JsonLayout {
  bool ensure_ascii = false;
  bool sort_keys = false;
  bool has_indent = false;
  Str indent;          // one level of it
  Str item_separator;  // ", " or what was asked for
  Str key_separator;
};
// json.dumps. Throws kInvalidArgument for what JSON can't hold.
Str to_json(Heap& heap, const Value& value, const JsonLayout& layout);

// pprint.pformat: repr, dicts sorted, broken over lines beyond 80 columns.
Str pretty_print(Heap& heap, const Value& value);

}  // namespace hearth::jinja
