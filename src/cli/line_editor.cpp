#include "cli/line_editor.h"

#include <cstdint>
#include <cstdio>

#include <fmt/core.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/terminal.h"

namespace hearth::cli {
namespace {

constexpr size_t kMaxLineBytes = size_t{16} << 20;

bool is_continuation(char c) { return (static_cast<uint8_t>(c) & 0xC0U) == 0x80U; }

// Raw mode for as long as it lives: keys arrive one by one, Ctrl-C as a key.
class RawMode {
 public:
  RawMode() {
    ::tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
    raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    fmt::print(stderr, "\x1b[?2004h");
  }
  ~RawMode() {
    fmt::print(stderr, "\x1b[?2004l");
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  RawMode(const RawMode&) = delete;
  RawMode& operator=(const RawMode&) = delete;

 private:
  termios before_{};
};

std::optional<char> read_key() {
  char c = 0;
  return ::read(STDIN_FILENO, &c, 1) == 1 ? std::optional<char>(c) : std::nullopt;
}

// What follows an escape, if it comes within 50 ms: "[A", "[3~", "OH".
std::string read_sequence() {
  std::string sequence;
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  while (sequence.size() < 8 && ::poll(&input, 1, 50) == 1) {
    const auto c = read_key();
    if (!c) break;
    sequence += *c;
    if (sequence.size() > 1 && *c >= '@') break;
  }
  return sequence;
}

std::string read_paste() {
  std::string text;
  while (!text.ends_with("\x1b[201~") && text.size() < kMaxLineBytes) {
    const auto c = read_key();
    if (!c) return text;
    text += *c == '\r' ? '\n' : *c;
  }
  return text.substr(0, text.size() - 6);
}

// Line breaks of a paste are shown as one column.
void redraw(std::string_view prompt, const EditBuffer& buffer) {
  std::string shown;
  int64_t after_cursor = 0;
  for (size_t i = 0; i < buffer.text().size(); ++i) {
    const char c = buffer.text()[i];
    shown += c == '\n' ? std::string("\xE2\x8F\x8E")
                       : std::string(1, static_cast<uint8_t>(c) < 0x20 ? '?' : c);
    if (i >= buffer.cursor() && !is_continuation(c)) ++after_cursor;
  }
  fmt::print(stderr, "\r\x1b[K{}{}", prompt, shown);
  if (after_cursor > 0) fmt::print(stderr, "\x1b[{}D", after_cursor);
  std::fflush(stderr);
}

}  // namespace

size_t EditBuffer::before(size_t position) const {
  if (position == 0) return 0;
  do --position;
  while (position > 0 && is_continuation(text_[position]));
  return position;
}

size_t EditBuffer::after(size_t position) const {
  if (position >= text_.size()) return text_.size();
  do ++position;
  while (position < text_.size() && is_continuation(text_[position]));
  return position;
}

void EditBuffer::set(std::string text) {
  text_ = std::move(text);
  cursor_ = text_.size();
}

void EditBuffer::insert(std::string_view text) {
  text_.insert(cursor_, text);
  cursor_ += text.size();
}

void EditBuffer::left() { cursor_ = before(cursor_); }
void EditBuffer::right() { cursor_ = after(cursor_); }

void EditBuffer::erase_before() {
  const size_t start = before(cursor_);
  text_.erase(start, cursor_ - start);
  cursor_ = start;
}

void EditBuffer::erase_at() { text_.erase(cursor_, after(cursor_) - cursor_); }

void EditBuffer::erase_to_start() {
  text_.erase(0, cursor_);
  cursor_ = 0;
}

void EditBuffer::erase_word_before() {
  size_t start = cursor_;
  while (start > 0 && text_[start - 1] == ' ') --start;
  while (start > 0 && text_[start - 1] != ' ') --start;
  text_.erase(start, cursor_ - start);
  cursor_ = start;
}

LineEditor::LineEditor()
    : is_interactive_(::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1) {}

std::optional<std::string> LineEditor::read(std::string_view prompt) {
  std::optional<std::string> line = is_interactive_ ? edit(prompt) : read_plain();
  if (line && !line->empty() && (history_.empty() || history_.back() != *line))
    history_.push_back(*line);
  return line;
}

std::optional<std::string> LineEditor::read_plain() {
  std::string line;
  for (int c = std::fgetc(stdin); c != EOF; c = std::fgetc(stdin)) {
    if (c == '\n') return line;
    require(line.size() < kMaxLineBytes, "a line of more than ", kMaxLineBytes,
            " bytes is no message");
    line += static_cast<char>(c);
  }
  return line.empty() ? std::nullopt : std::optional(line);
}

std::optional<std::string> LineEditor::edit(std::string_view prompt) {
  const RawMode raw;
  EditBuffer buffer;
  size_t at = history_.size();  // history_.size() = the line being written
  std::string unfinished;
  const auto show_history = [&](size_t next) {
    if (at == history_.size()) unfinished = buffer.text();
    at = next;
    buffer.set(at == history_.size() ? unfinished : history_[at]);
  };
  for (;;) {
    redraw(prompt, buffer);
    const auto key = read_key();
    if (!key) return std::nullopt;
    switch (*key) {
      case '\r':
      case '\n':
        fmt::print(stderr, "\n");
        return buffer.text();
      case 1:
        buffer.home();
        break;
      case 3:
        buffer.set("");
        break;
      case 4:
        if (buffer.text().empty()) {
          fmt::print(stderr, "\n");
          return std::nullopt;
        }
        buffer.erase_at();
        break;
      case 5:
        buffer.end();
        break;
      case 8:
      case 127:
        buffer.erase_before();
        break;
      case 11:
        buffer.erase_to_end();
        break;
      case 21:
        buffer.erase_to_start();
        break;
      case 23:
        buffer.erase_word_before();
        break;
      case 27: {
        const std::string s = read_sequence();
        if (s == "[A" && at > 0)
          show_history(at - 1);
        else if (s == "[B" && at < history_.size())
          show_history(at + 1);
        else if (s == "[C")
          buffer.right();
        else if (s == "[D")
          buffer.left();
        else if (s == "[H" || s == "OH" || s == "[1~")
          buffer.home();
        else if (s == "[F" || s == "OF" || s == "[4~")
          buffer.end();
        else if (s == "[3~")
          buffer.erase_at();
        else if (s == "[200~")
          buffer.insert(read_paste());
        break;
      }
      default:
        if (static_cast<uint8_t>(*key) >= 0x20 && buffer.text().size() < kMaxLineBytes)
          buffer.insert(std::string_view(&*key, 1));
    }
  }
}

}  // namespace hearth::cli
