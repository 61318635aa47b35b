// A pull scanner for the JSON subset of safetensors headers. Internal to safetensors_header.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth {

// Reads `text` left to right and holds nothing but a position. Every fault throws kCorruptData with
// the file and the byte. Owned by one thread.
class HeaderScanner {
 public:
  HeaderScanner(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  // After white space: is this the next character? consume() also steps over it.
  bool next_is(char c);
  bool consume(char c);
  void expect(char c, std::string_view where);

  std::string string(std::string_view what);  // a JSON string, decoded to UTF-8
  int64_t integer(std::string_view what);     // digits only, at most 2^63 - 1
  void skip_value(int depth = 0);             // any value, at most 32 deep
  void expect_end();                          // only white space is left

  [[noreturn]] void fault(std::string_view message) const;

 private:
  void skip_space();
  uint32_t hex4();
  void escape(std::string& out);

  std::string_view text_;
  const std::string& file_;
  size_t at_ = 0;
};

}  // namespace hearth
