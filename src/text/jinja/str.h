// Template strings: text that remembers which of its bytes a stranger wrote.
//
// A string carries the byte ranges that came from messages, tools or other request data (untrusted); everything else
// came from the template itself. The ranges survive every operation, so that the rendered prompt can say of each byte
// whether the template wrote it. Equality and order look at the text alone. Indices are bytes unless a name says
// "chars": Python counts code points, and a byte that is no valid UTF-8 counts as one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/budget.h"

namespace hearth::jinja {

struct Span {
  int64_t begin = 0;  // bytes
  int64_t end = 0;
  friend bool operator==(const Span&, const Span&) = default;
};

enum class Origin : uint8_t { kTemplate, kRequest };

// Immutable and cheap to copy. A value, but tied to the Budget that paid for it, which must outlive it.
class Str {
 public:
  Str() = default;
  // `budget` may be null: then nobody pays (constants of a parsed template).
  Str(Budget* budget, std::string text, Origin origin);

  std::string_view view() const { return rep_ ? std::string_view(rep_->text) : std::string_view(); }
  int64_t size() const { return rep_ ? static_cast<int64_t>(rep_->text.size()) : 0; }  // bytes
  bool empty() const { return size() == 0; }
  int64_t chars() const { return rep_ ? rep_->chars : 0; }
  bool is_ascii() const { return chars() == size(); }
  bool is_markup() const { return rep_ && rep_->is_markup; }  // result of `safe` or `escape`
  std::span<const Span> untrusted() const {
    return rep_ ? std::span<const Span>(rep_->untrusted) : std::span<const Span>();
  }
  bool has_untrusted() const { return !untrusted().empty(); }

  // Byte offset of a code point; `index` in [0, chars()].
  int64_t offset_of_char(int64_t index) const;

  friend bool operator==(const Str& a, const Str& b) { return a.view() == b.view(); }

 private:
  friend class StrBuilder;
  struct Rep {
    std::string text;
    std::vector<Span> untrusted;  // sorted, disjoint, not empty
    int64_t chars = 0;
    Budget* budget = nullptr;
    int64_t paid_bytes = 0;
    bool is_markup = false;
    Rep() = default;
    Rep(const Rep&) = delete;
    Rep& operator=(const Rep&) = delete;
    ~Rep() {
      if (budget != nullptr) budget->shrink(paid_bytes);
    }
  };
  explicit Str(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}
  std::shared_ptr<const Rep> rep_;
};

// Puts a string together from pieces, keeping their origin. Pays as it grows, so that no single operation can allocate
// beyond the budget.
class StrBuilder {
 public:
  explicit StrBuilder(Budget& budget) : budget_(&budget) {}
  ~StrBuilder();
  StrBuilder(const StrBuilder&) = delete;
  StrBuilder& operator=(const StrBuilder&) = delete;

  void append(const Str& piece) { append(piece, 0, piece.size()); }
  void append(const Str& piece, int64_t begin, int64_t end);  // bytes [begin, end)
  void append(std::string_view text, Origin origin);
  void append_template(std::string_view text) { append(text, Origin::kTemplate); }

  int64_t size() const { return static_cast<int64_t>(text_.size()); }
  std::string_view view() const { return text_; }
  enum class Form : uint8_t { kPlain, kMarkup };
  Str take(Form form = Form::kPlain);  // leaves the builder empty

 private:
  void pay(int64_t bytes);
  Budget* budget_;
  std::string text_;
  std::vector<Span> untrusted_;
  int64_t paid_bytes_ = 0;
};

// The substring of bytes [begin, end).
Str substr(Budget& budget, const Str& s, int64_t begin, int64_t end);

// `text` made out of `sources` in a way that cannot be followed byte by byte: untrusted if any source is.
Str derived(Budget& budget, std::string text, std::span<const Str> sources);

// True if any byte of [begin, end) is untrusted.
bool is_untrusted(const Str& s, int64_t begin, int64_t end);

// Bytes of the code point at `offset` (1 to 4; 1 for a byte that starts none).
int64_t char_bytes(std::string_view text, int64_t offset);
// That code point; 0xDC00 + byte for an invalid byte, as Python's surrogateescape.
int32_t char_at(std::string_view text, int64_t offset, int64_t bytes);
int64_t count_chars(std::string_view text);
void append_utf8(std::string& out, int32_t code_point);

}  // namespace hearth::jinja
