#include "text/jinja/lexer.h"

#include <algorithm>

#include "base/error.h"
#include "text/jinja/character.h"
#include "text/jinja/literals.h"
#include "text/jinja/str.h"

namespace hearth::jinja {
namespace {

enum class Sign : uint8_t { kNone, kMinus, kPlus };

// Python's \s on source text; beyond ASCII too.
int64_t space_bytes(std::string_view text, int64_t at) {
  const int64_t bytes = char_bytes(text, at);
  return is_space(char_at(text, at, bytes)) ? bytes : 0;
}

std::string normalize(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out.push_back(source[i]);
    } else {
      out.push_back('\n');
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : owned_(normalize(source)), text_(owned_) {}

  std::vector<Token> run() {
    while (at_ < size()) lex_root();
    start_ = size();
    add(TokenKind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  int64_t size() const { return static_cast<int64_t>(text_.size()); }
  bool has(std::string_view what, int64_t at) const {
    return text_.substr(static_cast<size_t>(std::min(at, size()))).starts_with(what);
  }
  char peek(int64_t ahead = 0) const {
    return at_ + ahead < size() ? text_[static_cast<size_t>(at_ + ahead)] : '\0';
  }
  std::string_view slice(int64_t begin, int64_t end) const {
    return text_.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }

  [[noreturn]] void refuse(int64_t at, std::string_view what) {
    const Position p = position(at);
    fail(Code::kCorruptData, p.line, ":", p.column, ": ", what);
  }

  // Positions are asked for in order, so counting goes on from the last one.
  Position position(int64_t at) {
    if (at < counted_) {
      counted_ = 0;
      counted_position_ = {};
    }
    while (counted_ < at) {
      if (text_[static_cast<size_t>(counted_)] == '\n') {
        ++counted_position_.line;
        counted_position_.column = 1;
        ++counted_;
      } else {
        ++counted_position_.column;
        counted_ += char_bytes(text_, counted_);
      }
    }
    return counted_position_;
  }

  Token& add(TokenKind kind, std::string_view text) {
    tokens_.push_back(
        Token{.kind = kind, .at = position(std::min(start_, size())), .text = std::string(text)});
    return tokens_.back();
  }

  void skip_space() {
    while (at_ < size()) {
      const int64_t bytes = space_bytes(text_, at_);
      if (bytes == 0) break;
      at_ += bytes;
    }
  }

  Sign read_sign() {
    if (peek() == '-') return ++at_, Sign::kMinus;
    if (peek() == '+') return ++at_, Sign::kPlus;
    return Sign::kNone;
  }

  // Text up to the next tag, then the tag.
  void lex_root() {
    const int64_t text_begin = at_;
    int64_t tag = at_;
    while (tag < size() && !(text_[static_cast<size_t>(tag)] == '{' && tag + 1 < size() &&
                             std::string_view("{%#").find(text_[static_cast<size_t>(tag + 1)]) !=
                                 std::string_view::npos)) {
      ++tag;
    }
    if (tag >= size()) {
      start_ = text_begin;
      add_text(slice(text_begin, size()));
      at_ = size();
      return;
    }
    const char type = text_[static_cast<size_t>(tag + 1)];
    at_ = tag + 2;
    const Sign sign = read_sign();
    add_stripped(text_begin, tag, sign, type);
    start_ = tag;
    if (type == '#') return lex_comment();
    if (type == '%' && lex_raw()) return;
    add(type == '{' ? TokenKind::kVariableBegin : TokenKind::kBlockBegin, "");
    lex_tag(type == '{' ? "}}" : "%}");
  }

  void add_text(std::string_view text) {
    if (!text.empty()) add(TokenKind::kText, text);
  }

  // lstrip_blocks: spaces between a line's start and a block or comment go, unless the tag says '+'.
  void add_stripped(int64_t begin, int64_t end, Sign sign, char type) {
    start_ = begin;
    std::string_view text = slice(begin, end);
    if (sign == Sign::kMinus) {
      text = strip_right(text);
    } else if (sign != Sign::kPlus && type != '{') {
      const size_t line = text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1;
      const bool at_line_start = line > 0 || is_line_start_;
      if (at_line_start && strip_right(text.substr(line)).empty()) text = text.substr(0, line);
    }
    add_text(text);
  }

  static std::string_view strip_right(std::string_view text) {
    int64_t end = 0;  // after the last character that is no space
    for (int64_t i = 0; i < static_cast<int64_t>(text.size());) {
      const int64_t bytes = char_bytes(text, i);
      if (!is_space(char_at(text, i, bytes))) end = i + bytes;
      i += bytes;
    }
    return text.substr(0, static_cast<size_t>(end));
  }

  // After the closing mark: '-' eats all space, trim_blocks eats one line end.
  void finish_tag(int64_t closing_bytes, Sign sign, bool trims) {
    at_ += closing_bytes;
    if (sign == Sign::kMinus) {
      skip_space();
    } else if (trims && sign == Sign::kNone && peek() == '\n') {
      ++at_;
    }
    is_line_start_ = at_ > 0 && text_[static_cast<size_t>(at_ - 1)] == '\n';
  }

  // If the text at `at` ends a tag with `closing`, its sign and length.
  bool closes(int64_t at, std::string_view closing, Sign& sign, int64_t& bytes) const {
    sign = has("-", at)                      ? Sign::kMinus
           : has("+", at) && closing != "}}" ? Sign::kPlus
                                             : Sign::kNone;
    if (sign != Sign::kNone && has(closing, at + 1)) {
      bytes = 1 + static_cast<int64_t>(closing.size());
      return true;
    }
    sign = Sign::kNone;
    bytes = static_cast<int64_t>(closing.size());
    return has(closing, at);
  }

  void lex_comment() {
    for (; at_ < size(); ++at_) {
      Sign sign = Sign::kNone;
      int64_t bytes = 0;
      if (closes(at_, "#}", sign, bytes)) return finish_tag(bytes, sign, true);
    }
    refuse(start_, "comment is not closed: '#}' is missing");
  }

  // At a {% tag: if it is `raw`, takes everything up to `endraw` as text.
  bool lex_raw() {
    const int64_t begin = at_;
    skip_space();
    if (!has("raw", at_)) return at_ = begin, false;
    at_ += 3;
    skip_space();
    Sign sign = Sign::kNone;
    int64_t bytes = 0;
    if (!closes(at_, "%}", sign, bytes) || sign == Sign::kPlus) return at_ = begin, false;
    finish_tag(bytes, sign, false);
    const int64_t text_begin = at_;
    for (int64_t tag = at_; tag < size(); ++tag) {
      if (!has("{%", tag)) continue;
      at_ = tag + 2;
      const Sign open = read_sign();
      skip_space();
      if (!has("endraw", at_)) continue;
      at_ += 6;
      skip_space();
      if (!closes(at_, "%}", sign, bytes)) continue;
      const int64_t closing = at_;
      add_stripped(text_begin, tag, open, '%');
      at_ = closing;
      finish_tag(bytes, sign, true);
      return true;
    }
    refuse(start_, "raw block is not closed: '{% endraw %}' is missing");
  }

  void lex_tag(std::string_view closing) {
    std::string brackets;  // closing brackets still to come
    const int64_t opened = start_;
    while (at_ < size()) {
      skip_space();
      if (at_ >= size()) break;
      start_ = at_;
      Sign sign = Sign::kNone;
      int64_t bytes = 0;
      if (brackets.empty() && closes(at_, closing, sign, bytes)) {
        add(closing == "}}" ? TokenKind::kVariableEnd : TokenKind::kBlockEnd, "");
        return finish_tag(bytes, sign, closing == "%}");
      }
      const char c = peek();
      const int32_t code_point = char_at(text_, at_, char_bytes(text_, at_));
      if ((c >= '0' && c <= '9')) {
        lex_literal(c);
      } else if (c == '"' || c == '\'') {
        lex_literal(c);
      } else if (is_identifier_start(code_point)) {
        lex_name();
      } else {
        lex_operator(brackets);
      }
    }
    refuse(opened, closing == "}}" ? "tag is not closed: '}}' is missing"
                                   : "tag is not closed: '%}' is missing");
  }

  void lex_name() {
    while (at_ < size()) {
      const int64_t bytes = char_bytes(text_, at_);
      if (!is_identifier_part(char_at(text_, at_, bytes))) break;
      at_ += bytes;
    }
    add(TokenKind::kName, slice(start_, at_));
  }

  void lex_operator(std::string& brackets) {
    constexpr std::string_view kDouble[] = {"//", "**", "==", "!=", ">=", "<="};
    for (const std::string_view op : kDouble) {
      if (!has(op, at_)) continue;
      add(TokenKind::kOperator, op);
      at_ += 2;
      return;
    }
    const char c = peek();
    if (std::string_view("+-/*%~[](){}><=.:|,;").find(c) == std::string_view::npos) {
      refuse(at_, "unexpected character '" + std::string(slice(at_, at_ + char_bytes(text_, at_))) +
                      "'");
    }
    if (c == '(') brackets.push_back(')');
    if (c == '[') brackets.push_back(']');
    if (c == '{') brackets.push_back('}');
    if (c == ')' || c == ']' || c == '}') {
      if (brackets.empty()) refuse(at_, std::string("unexpected '") + c + "'");
      if (brackets.back() != c)
        refuse(at_, std::string("unexpected '") + c + "', expected '" + brackets.back() + "'");
      brackets.pop_back();
    }
    add(TokenKind::kOperator, std::string_view(&text_[static_cast<size_t>(at_)], 1));
    ++at_;
  }

  // A literal; numbers right after a dot are indices, never floats.
  void lex_literal(char first) {
    LiteralReader reader(text_, at_);
    const bool follows_dot = !tokens_.empty() && tokens_.back().kind == TokenKind::kOperator &&
                             tokens_.back().text == ".";
    Token token =
        first == '"' || first == '\'' ? reader.read_string() : reader.read_number(follows_dot);
    if (!reader.error().empty()) refuse(reader.error_at(), reader.error());
    at_ = reader.at();
    token.at = position(start_);
    tokens_.push_back(std::move(token));
  }

  const std::string owned_;
  const std::string_view text_;
  std::vector<Token> tokens_;
  int64_t at_ = 0;
  int64_t start_ = 0;          // of the token being read
  bool is_line_start_ = true;  // whether the last tag ended a line
  int64_t counted_ = 0;        // bytes that counted_position_ covers
  Position counted_position_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace hearth::jinja
