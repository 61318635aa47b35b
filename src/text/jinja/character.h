// Properties and case of single characters, as Python's str methods see them (Unicode by utf8proc).
#pragma once

#include <cstdint>
#include <string>

namespace hearth::jinja {

bool is_space(int32_t code_point);    // str.isspace
bool is_alpha(int32_t code_point);    // str.isalpha: letters
bool is_decimal(int32_t code_point);  // str.isdecimal: Nd
bool is_digit(int32_t code_point);    // str.isdigit: decimals and superscripts
bool is_numeric(int32_t code_point);  // str.isnumeric: Nd, Nl, No
bool is_alnum(int32_t code_point);
bool is_upper(int32_t code_point);      // upper case
bool is_lower(int32_t code_point);      // lower case
bool is_title(int32_t code_point);      // title case: Lt
bool is_printable(int32_t code_point);  // repr shows it as it is
bool is_line_end(int32_t code_point);   // str.splitlines cuts after it
bool is_identifier_start(int32_t code_point);
bool is_identifier_part(int32_t code_point);
int32_t decimal_value(int32_t code_point);  // 0 to 9 of an Nd character, else -1

enum class Case : uint8_t { kUpper, kLower, kTitle };

// Appends the full case mapping of a character ("ß" in upper case is "SS"), in UTF-8.
void append_case(std::string& out, int32_t code_point, Case to);

}  // namespace hearth::jinja
