#include "text/jinja/str.h"

#include <algorithm>
#include <utility>

namespace hearth::jinja {
namespace {

bool is_continuation(std::string_view text, int64_t i) {
  return i < static_cast<int64_t>(text.size()) &&
         (static_cast<unsigned char>(text[static_cast<size_t>(i)]) & 0xC0U) == 0x80U;
}

bool is_plain_ascii(std::string_view text) {
  unsigned char bits = 0;
  for (const char c : text) bits = static_cast<unsigned char>(bits | static_cast<unsigned char>(c));
  return bits < 0x80U;
}

}  // namespace

int64_t char_bytes(std::string_view text, int64_t offset) {
  const auto lead = static_cast<unsigned char>(text[static_cast<size_t>(offset)]);
  if (lead < 0xC2U || lead > 0xF4U) return 1;
  const int64_t wanted = lead < 0xE0U ? 2 : lead < 0xF0U ? 3 : 4;
  for (int64_t i = 1; i < wanted; ++i) {
    if (!is_continuation(text, offset + i)) return 1;
  }
  const auto second = static_cast<unsigned char>(text[static_cast<size_t>(offset + 1)]);
  const bool is_bad = (lead == 0xE0U && second < 0xA0U) || (lead == 0xEDU && second >= 0xA0U) ||
                      (lead == 0xF0U && second < 0x90U) || (lead == 0xF4U && second >= 0x90U);
  return is_bad ? 1 : wanted;
}

int32_t char_at(std::string_view text, int64_t offset, int64_t bytes) {
  const auto byte = [&](int64_t i) {
    return static_cast<int32_t>(static_cast<unsigned char>(text[static_cast<size_t>(offset + i)]));
  };
  const int32_t lead = byte(0);
  if (bytes == 1) return lead < 0x80 ? lead : 0xDC00 + lead;
  if (bytes == 2) return ((lead & 0x1F) << 6) | (byte(1) & 0x3F);
  if (bytes == 3) return ((lead & 0x0F) << 12) | ((byte(1) & 0x3F) << 6) | (byte(2) & 0x3F);
  return ((lead & 0x07) << 18) | ((byte(1) & 0x3F) << 12) | ((byte(2) & 0x3F) << 6) |
         (byte(3) & 0x3F);
}

int64_t count_chars(std::string_view text) {
  if (is_plain_ascii(text)) return static_cast<int64_t>(text.size());
  int64_t count = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(text.size()); i += char_bytes(text, i)) ++count;
  return count;
}

void append_utf8(std::string& out, int32_t code_point) {
  const auto put = [&](int32_t byte) {
    out.push_back(static_cast<char>(static_cast<unsigned char>(byte)));
  };
  if (code_point >= 0xDC80 && code_point <= 0xDCFF) {
    put(code_point - 0xDC00);  // an invalid byte goes out as it came in
  } else if (code_point < 0 || code_point > 0x10FFFF ||
             (code_point >= 0xD800 && code_point <= 0xDFFF)) {
    append_utf8(out, 0xFFFD);
  } else if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3F));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

Str::Str(Budget* budget, std::string text, Origin origin) {
  if (text.empty()) return;
  auto rep = std::make_shared<Rep>();
  const auto bytes = static_cast<int64_t>(text.size() + sizeof(Rep));
  if (budget != nullptr) {
    budget->grow(bytes);
    rep->budget = budget;
    rep->paid_bytes = bytes;
  }
  rep->chars = count_chars(text);
  rep->text = std::move(text);
  if (origin == Origin::kRequest)
    rep->untrusted.push_back({0, static_cast<int64_t>(rep->text.size())});
  rep_ = std::move(rep);
}

int64_t Str::offset_of_char(int64_t index) const {
  if (is_ascii()) return index;
  if (index >= chars()) return size();
  int64_t offset = 0;
  for (int64_t i = 0; i < index && offset < size(); ++i) offset += char_bytes(view(), offset);
  return offset;
}

StrBuilder::~StrBuilder() { budget_->shrink(paid_bytes_); }

void StrBuilder::pay(int64_t bytes) {
  budget_->grow(bytes);
  paid_bytes_ += bytes;
}

void StrBuilder::append(const Str& piece, int64_t begin, int64_t end) {
  if (begin >= end) return;
  pay(end - begin);
  const int64_t shift = size() - begin;
  text_.append(piece.view().substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
  const auto spans = piece.untrusted();
  for (auto it = std::ranges::upper_bound(spans, begin, {}, &Span::end);
       it != spans.end() && it->begin < end; ++it) {
    const Span& span = *it;
    const Span cut{std::max(span.begin, begin) + shift, std::min(span.end, end) + shift};
    if (!untrusted_.empty() && untrusted_.back().end == cut.begin) {
      untrusted_.back().end = cut.end;
    } else {
      pay(static_cast<int64_t>(sizeof(Span)));
      untrusted_.push_back(cut);
    }
  }
}

void StrBuilder::append(std::string_view text, Origin origin) {
  if (text.empty()) return;
  const auto bytes = static_cast<int64_t>(text.size());
  pay(bytes);
  if (origin == Origin::kRequest) {
    if (!untrusted_.empty() && untrusted_.back().end == size()) {
      untrusted_.back().end += bytes;
    } else {
      pay(static_cast<int64_t>(sizeof(Span)));
      untrusted_.push_back({size(), size() + bytes});
    }
  }
  text_.append(text);
}

Str StrBuilder::take(Form form) {
  if (text_.empty()) return Str();
  pay(static_cast<int64_t>(sizeof(Str::Rep)));
  auto rep = std::make_shared<Str::Rep>();
  rep->chars = count_chars(text_);
  rep->text = std::move(text_);
  rep->untrusted = std::move(untrusted_);
  rep->budget = budget_;
  rep->paid_bytes = std::exchange(paid_bytes_, 0);
  rep->is_markup = form == Form::kMarkup;
  text_.clear();
  untrusted_.clear();
  return Str(std::shared_ptr<const Str::Rep>(std::move(rep)));
}

Str substr(Budget& budget, const Str& s, int64_t begin, int64_t end) {
  if (begin <= 0 && end >= s.size()) return s;
  StrBuilder out(budget);
  out.append(s, std::max<int64_t>(begin, 0), std::min(end, s.size()));
  return out.take();
}

Str derived(Budget& budget, std::string text, std::span<const Str> sources) {
  const bool is_tainted =
      std::ranges::any_of(sources, [](const Str& s) { return s.has_untrusted(); });
  return Str(&budget, std::move(text), is_tainted ? Origin::kRequest : Origin::kTemplate);
}

bool is_untrusted(const Str& s, int64_t begin, int64_t end) {
  const auto spans = s.untrusted();
  const auto it = std::ranges::upper_bound(spans, begin, {}, &Span::end);
  return it != spans.end() && it->begin < end;
}

}  // namespace hearth::jinja
