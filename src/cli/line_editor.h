// Reads lines from a terminal, with editing and history, or from a pipe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::cli {

// Keys: arrows, Home, End, Ctrl-A/E/K/U/W, Backspace, Delete; up and down walk the history. Ctrl-C drops the line,
// Ctrl-D on an empty line ends the input. Bracketed paste keeps line breaks. Owned by one thread; the terminal is in raw mode
// only inside read().
class LineEditor {
 public:
  LineEditor();

  bool is_interactive() const { return is_interactive_; }
  // The next line without its end; nothing at the end of input.
  std::optional<std::string> read(std::string_view prompt);

 private:
  std::optional<std::string> read_plain();
  std::optional<std::string> edit(std::string_view prompt);

  bool is_interactive_;
  std::vector<std::string> history_;
};

// The edited text and the cursor in it, apart from any terminal. Positions are bytes, always between characters.
class EditBuffer {
 public:
  const std::string& text() const { return text_; }
  size_t cursor() const { return cursor_; }

  void set(std::string text);
  void insert(std::string_view text);
  void left();
  void right();
  void home() { cursor_ = 0; }
  void end() { cursor_ = text_.size(); }
  void erase_before();  // Backspace
  void erase_at();      // Delete
  void erase_to_end() { text_.resize(cursor_); }
  void erase_to_start();
  void erase_word_before();

 private:
  size_t before(size_t position) const;
  size_t after(size_t position) const;

  std::string text_;
  size_t cursor_ = 0;
};

}  // namespace hearth::cli
