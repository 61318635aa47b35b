// Cuts template source into tokens, as Jinja2 3.1 does with trim_blocks and lstrip_blocks on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::jinja {

struct Position {
  int32_t line = 1;    // from 1
  int32_t column = 1;  // from 1, in code points
};

enum class TokenKind : uint8_t {
  kText,           // outside of tags, whitespace control applied
  kBlockBegin,     // {%
  kBlockEnd,       // %}
  kVariableBegin,  // {{
  kVariableEnd,    // }}
  kName,
  kString,   // text without quotes, escapes resolved
  kInteger,  // text as Python would print it in base 10, or the source digits
  kFloat,
  kOperator,  // text is the operator
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Position at;
  std::string text;
  int64_t integer = 0;  // kInteger
  double real = 0;      // kFloat
};

// The tokens of a template, ended by kEnd. Comments and raw blocks are resolved. Line ends become \n and one at the very
// end is dropped. Throws kCorruptData with "line:column: what is wrong".
std::vector<Token> tokenize(std::string_view source);

}  // namespace hearth::jinja
