// Changes of case that keep track of where text came from.
#include <algorithm>
#include <string>

#include "text/jinja/text_ops.h"

namespace hearth::jinja {
namespace {

struct Char {
  int64_t begin, end;
  int32_t code_point;
};

// Calls `see(Char)` for each character in order.
template <class See>
void each_char(std::string_view text, See see) {
  for (int64_t at = 0; at < static_cast<int64_t>(text.size());) {
    const int64_t bytes = char_bytes(text, at);
    see(Char{at, at + bytes, char_at(text, at, bytes)});
    at += bytes;
  }
}

class CaseWriter {
 public:
  CaseWriter(Budget& budget, const Str& s) : s_(s), out_(budget) { budget.scan(2 * s.size()); }
  void put(const Char& c, Case to) {
    buffer_.clear();
    append_case(buffer_, c.code_point, to);
    const bool tainted = is_tainted(c);
    if (tainted != run_is_tainted_) flush();
    run_is_tainted_ = tainted;
    run_ += buffer_;
    if (run_.size() > 4096) flush();
  }
  Str take() {
    flush();
    return out_.take();
  }

 private:
  bool is_tainted(const Char& c) {
    const auto spans = s_.untrusted();
    while (span_ < spans.size() && spans[span_].end <= c.begin) ++span_;
    return span_ < spans.size() && spans[span_].begin < c.end;
  }
  void flush() {
    out_.append(run_, run_is_tainted_ ? Origin::kRequest : Origin::kTemplate);
    run_.clear();
  }
  const Str& s_;
  StrBuilder out_;
  std::string buffer_, run_;
  size_t span_ = 0;
  bool run_is_tainted_ = false;
};

bool is_cased(int32_t c) { return is_upper(c) || is_lower(c) || is_title(c); }

// U+03A3 becomes U+03C2 at the end of a word, U+03C3 elsewhere.
bool is_final_sigma(std::string_view text, const Char& sigma) {
  const auto is_ignorable = [](int32_t c) {
    return c == '\'' || c == '.' || c == ':' || c == '^' || c == '`' || c == 0xA8 || c == 0xAD ||
           c == 0xAF || c == 0xB4 || c == 0xB7 || c == 0xB8 || c == 0x2019 ||
           (c >= 0x300 && c <= 0x36F);
  };
  constexpr int kMaxLook = 64;  // a word with more marks than this in a row is no word
  int64_t at = sigma.begin;
  bool has_before = false;
  for (int i = 0; i < kMaxLook && at > 0; ++i) {
    const int64_t begin = previous_char(text, at);
    const int32_t c = char_at(text, begin, at - begin);
    at = begin;
    if (is_ignorable(c)) continue;
    has_before = is_cased(c);
    break;
  }
  if (!has_before) return false;
  at = sigma.end;
  for (int i = 0; i < kMaxLook && at < static_cast<int64_t>(text.size()); ++i) {
    const int64_t bytes = char_bytes(text, at);
    const int32_t c = char_at(text, at, bytes);
    at += bytes;
    if (!is_ignorable(c)) return !is_cased(c);
  }
  return true;
}

Char lowered_sigma(std::string_view text, Char c) {
  if (c.code_point == 0x3A3 && is_final_sigma(text, c)) c.code_point = 0x3C2;
  return c;
}

}  // namespace

Str change_case(Budget& budget, const Str& s, Case to) {
  CaseWriter out(budget, s);
  each_char(s.view(), [&](const Char& c) { out.put(c, to); });
  return out.take();
}

Str lower_greek(Budget& budget, const Str& s) {
  CaseWriter out(budget, s);
  each_char(s.view(), [&](const Char& c) { out.put(lowered_sigma(s.view(), c), Case::kLower); });
  return out.take();
}

Str capitalize(Budget& budget, const Str& s) {
  CaseWriter out(budget, s);
  each_char(s.view(), [&](const Char& c) {
    if (c.begin == 0) {
      out.put(c, Case::kTitle);
    } else {
      out.put(lowered_sigma(s.view(), c), Case::kLower);
    }
  });
  return out.take();
}

Str title(Budget& budget, const Str& s) {
  CaseWriter out(budget, s);
  bool follows_cased = false;
  each_char(s.view(), [&](const Char& c) {
    if (follows_cased) {
      out.put(lowered_sigma(s.view(), c), Case::kLower);
    } else {
      out.put(c, Case::kTitle);
    }
    follows_cased = is_cased(c.code_point);
  });
  return out.take();
}

Str swap_case(Budget& budget, const Str& s) {
  CaseWriter out(budget, s);
  each_char(s.view(), [&](const Char& c) {
    if (is_upper(c.code_point)) {
      out.put(lowered_sigma(s.view(), c), Case::kLower);
    } else if (is_lower(c.code_point)) {
      out.put(c, Case::kUpper);
    } else {
      out.put(c, is_title(c.code_point) ? Case::kLower : Case::kUpper);
    }
  });
  return out.take();
}

bool is_upper_text(std::string_view text) {
  bool has_upper = false;
  bool has_other = false;
  each_char(text, [&](const Char& c) {
    has_other |= is_lower(c.code_point) || is_title(c.code_point);
    has_upper |= is_upper(c.code_point);
  });
  return has_upper && !has_other;
}

bool is_lower_text(std::string_view text) {
  bool has_lower = false;
  bool has_other = false;
  each_char(text, [&](const Char& c) {
    has_other |= is_upper(c.code_point) || is_title(c.code_point);
    has_lower |= is_lower(c.code_point);
  });
  return has_lower && !has_other;
}

}  // namespace hearth::jinja
