// Reads number and string literals of template source, as Python writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/jinja/lexer.h"

namespace hearth::jinja {

// Reads one literal that begins at `at`. Borrows the text. The tokens have no position yet.
class LiteralReader {
 public:
  LiteralReader(std::string_view text, int64_t at) : text_(text), start_(at), at_(at) {}

  Token read_number(bool is_index);  // an index ("x.0.1") has no fraction and no exponent
  Token read_string();               // quotes and escapes resolved

  int64_t at() const { return at_; }                 // behind the literal
  std::string_view error() const { return error_; }  // empty if all went well
  int64_t error_at() const { return error_at_; }

 private:
  char peek(int64_t ahead = 0) const {
    const auto i = static_cast<size_t>(at_ + ahead);
    return i < text_.size() ? text_[i] : '\0';
  }
  bool is_at_end() const { return at_ >= static_cast<int64_t>(text_.size()); }
  Token refuse(int64_t at, std::string_view what);
  void read_digits(int base, std::string& out);
  bool read_fraction_and_exponent(std::string& digits);  // true if there is either
  Token integer(const std::string& digits, int base);
  Token real(const std::string& digits);
  void read_escape(std::string& out);
  int32_t read_code_point(size_t least, size_t most, int base);

  std::string_view text_;
  int64_t start_;
  int64_t at_;
  std::string_view error_;
  int64_t error_at_ = 0;
};

}  // namespace hearth::jinja
