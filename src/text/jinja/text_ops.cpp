#include "text/jinja/text_ops.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.h"
#include "text/jinja/printing.h"

namespace hearth::jinja {
namespace {

bool is_one_of(std::string_view chars, std::string_view one) {
  for (int64_t at = 0; at < static_cast<int64_t>(chars.size());) {
    const int64_t bytes = char_bytes(chars, at);
    if (chars.substr(static_cast<size_t>(at), static_cast<size_t>(bytes)) == one) return true;
    at += bytes;
  }
  return false;
}

void push_piece(Heap& heap, List& out, const Str& s, int64_t begin, int64_t end) {
  heap.budget().step();
  heap.push(out, Value::string(substr(heap.budget(), s, begin, std::max(begin, end))));
}

void split_at_space(Heap& heap, const Str& s, int64_t limit, List& out) {
  const std::string_view text = s.view();
  int64_t at = 0;
  const auto skip = [&](bool wants_space) {
    while (at < s.size()) {
      const int64_t bytes = char_bytes(text, at);
      if (is_space(char_at(text, at, bytes)) != wants_space) break;
      at += bytes;
    }
  };
  for (int64_t cuts = 0;; ++cuts) {
    skip(true);
    if (at >= s.size()) return;
    if (limit >= 0 && cuts >= limit) {
      push_piece(heap, out, s, at, s.size());
      return;
    }
    const int64_t begin = at;
    skip(false);
    push_piece(heap, out, s, begin, at);
  }
}

void rsplit_at_space(Heap& heap, const Str& s, int64_t limit, List& out) {
  const std::string_view text = s.view();
  int64_t at = s.size();
  const auto skip = [&](bool wants_space) {
    while (at > 0) {
      const int64_t begin = previous_char(text, at);
      if (is_space(char_at(text, begin, at - begin)) != wants_space) break;
      at = begin;
    }
  };
  for (int64_t cuts = 0;; ++cuts) {
    skip(true);
    if (at <= 0) break;
    if (limit >= 0 && cuts >= limit) {
      push_piece(heap, out, s, 0, at);
      break;
    }
    const int64_t end = at;
    skip(false);
    push_piece(heap, out, s, at, end);
  }
  std::ranges::reverse(out.items);
}

}  // namespace

int64_t previous_char(std::string_view text, int64_t end) {
  for (int64_t bytes = std::min<int64_t>(4, end); bytes > 1; --bytes) {
    if (char_bytes(text, end - bytes) == bytes) return end - bytes;
  }
  return end - 1;
}

int64_t find_text(std::string_view text, std::string_view what, int64_t from) {
  if (from > static_cast<int64_t>(text.size())) return -1;
  if (what.empty()) return from;
  const std::string_view rest = text.substr(static_cast<size_t>(from));
  if (rest.size() < what.size()) return -1;
  const void* found = memmem(rest.data(), rest.size(), what.data(), what.size());
  return found == nullptr ? -1 : from + (static_cast<const char*>(found) - rest.data());
}

int64_t rfind_text(std::string_view text, std::string_view what) {
  constexpr size_t kShort = 32;  // long ones are searched backwards in linear time
  if (what.size() > text.size()) return -1;
  if (what.size() <= kShort) {
    const size_t at = text.rfind(what);
    return at == std::string_view::npos ? -1 : static_cast<int64_t>(at);
  }
  const std::string backward_text(text.rbegin(), text.rend());
  const std::string backward_what(what.rbegin(), what.rend());
  const int64_t at = find_text(backward_text, backward_what);
  return at < 0 ? -1 : static_cast<int64_t>(text.size() - what.size()) - at;
}

Str strip(Budget& budget, const Str& s, const Str* chars, Side side) {
  const std::string_view text = s.view();
  const auto goes = [&](int64_t begin, int64_t end) {
    const std::string_view one =
        text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    if (chars != nullptr) {
      budget.step(1 + chars->size() / 64);
      return is_one_of(chars->view(), one);
    }
    return is_space(char_at(text, begin, end - begin));
  };
  int64_t begin = 0;
  int64_t end = s.size();
  while (side != Side::kRight && begin < end) {
    const int64_t bytes = char_bytes(text, begin);
    if (!goes(begin, begin + bytes)) break;
    begin += bytes;
  }
  while (side != Side::kLeft && end > begin) {
    const int64_t from = previous_char(text, end);
    if (!goes(from, end)) break;
    end = from;
  }
  budget.scan(s.size() - (end - begin));
  return substr(budget, s, begin, end);
}

Str replace(Budget& budget, const Str& s, const Str& what, const Str& with, int64_t count) {
  if (count == 0) return s;
  StrBuilder out(budget);
  const std::string_view text = s.view();
  budget.step(s.size() / 256);
  int64_t at = 0;
  if (what.empty()) {  // between all characters, and at both ends
    int64_t done = 0;
    while (count < 0 || done < count) {
      budget.step();
      out.append(with);
      ++done;
      if (at >= s.size()) break;
      const int64_t end = at + char_bytes(text, at);
      out.append(s, at, end);
      at = end;
    }
    out.append(s, at, s.size());
    return out.take();
  }
  for (int64_t done = 0; count < 0 || done < count; ++done) {
    const int64_t found = find_text(text, what.view(), at);
    if (found < 0) break;
    budget.step();
    out.append(s, at, found);
    out.append(with);
    at = found + what.size();
  }
  if (at == 0) return s;
  out.append(s, at, s.size());
  return out.take();
}

List& split(Heap& heap, const Str& s, const Str* separator, int64_t limit, Side from) {
  List& out = heap.make<List>(Kind::kList);
  if (separator == nullptr) heap.budget().scan(s.size());
  heap.budget().step(s.size() / 256);
  if (separator == nullptr) {
    if (from == Side::kRight) {
      rsplit_at_space(heap, s, limit, out);
    } else {
      split_at_space(heap, s, limit, out);
    }
    return out;
  }
  if (separator->empty()) fail(Code::kInvalidArgument, "empty separator");
  const int64_t width = separator->size();
  if (from == Side::kRight) {
    int64_t end = s.size();
    for (int64_t cuts = 0; limit < 0 || cuts < limit; ++cuts) {
      heap.budget().step(1 + (width > 32 ? end / 64 : 0));
      const int64_t found =
          rfind_text(s.view().substr(0, static_cast<size_t>(end)), separator->view());
      if (found < 0) break;
      push_piece(heap, out, s, found + width, end);
      end = found;
    }
    push_piece(heap, out, s, 0, end);
    std::ranges::reverse(out.items);
    return out;
  }
  int64_t at = 0;
  for (int64_t cuts = 0; limit < 0 || cuts < limit; ++cuts) {
    const int64_t found = find_text(s.view(), separator->view(), at);
    if (found < 0) break;
    push_piece(heap, out, s, at, found);
    at = found + width;
  }
  push_piece(heap, out, s, at, s.size());
  return out;
}

List& split_lines(Heap& heap, const Str& s, bool keeps_ends) {
  List& out = heap.make<List>(Kind::kList);
  heap.budget().scan(s.size());
  const std::string_view text = s.view();
  int64_t begin = 0;
  for (int64_t at = 0; at < s.size();) {
    const int64_t bytes = char_bytes(text, at);
    if (!is_line_end(char_at(text, at, bytes))) {
      at += bytes;
      continue;
    }
    const bool is_pair = text[static_cast<size_t>(at)] == '\r' && at + 1 < s.size() &&
                         text[static_cast<size_t>(at + 1)] == '\n';
    const int64_t next = at + (is_pair ? 2 : bytes);
    push_piece(heap, out, s, begin, keeps_ends ? next : at);
    at = begin = next;
  }
  if (begin < s.size()) push_piece(heap, out, s, begin, s.size());
  return out;
}

Str pad(Budget& budget, const Str& s, int64_t width, Align align, std::string_view fill) {
  const int64_t missing = width - s.chars();
  if (missing <= 0) return s;
  const int64_t left = align == Align::kLeft    ? 0
                       : align == Align::kRight ? missing
                                                : missing / 2 + (missing & width & 1);
  const Str one(&budget, std::string(fill), Origin::kTemplate);
  StrBuilder out(budget);
  out.append(repeat(budget, one, left));
  out.append(s);
  out.append(repeat(budget, one, missing - left));
  return out.take();
}

Str repeat(Budget& budget, const Str& s, int64_t count) {
  if (s.empty() || count <= 0) return Str();
  constexpr int64_t kBlockBytes = 4096;  // short strings are repeated in blocks of about this size
  const int64_t per_block = std::clamp<int64_t>(kBlockBytes / s.size(), 1, count);
  StrBuilder block(budget);
  for (int64_t i = 0; i < per_block; ++i) block.append(s);
  const Str many = block.take();
  StrBuilder out(budget);
  for (int64_t i = 0; i < count / per_block; ++i) out.append(many);
  out.append(many, 0, count % per_block * s.size());
  return out.take(s.is_markup() ? StrBuilder::Form::kMarkup : StrBuilder::Form::kPlain);
}

Str reversed(Budget& budget, const Str& s) {
  budget.scan(2 * s.size());
  StrBuilder out(budget);
  for (int64_t end = s.size(); end > 0;) {
    const int64_t begin = previous_char(s.view(), end);
    out.append(s, begin, end);
    end = begin;
  }
  return out.take();
}

Str escape_html(Budget& budget, const Str& s) {
  StrBuilder out(budget);
  int64_t begin = 0;
  for (int64_t at = 0; at < s.size(); ++at) {
    const char c = s.view()[static_cast<size_t>(at)];
    const std::string_view entity = c == '&'    ? "&amp;"
                                    : c == '<'  ? "&lt;"
                                    : c == '>'  ? "&gt;"
                                    : c == '"'  ? "&#34;"
                                    : c == '\'' ? "&#39;"
                                                : "";
    if (entity.empty()) continue;
    out.append(s, begin, at);
    out.append(entity, is_untrusted(s, at, at + 1) ? Origin::kRequest : Origin::kTemplate);
    begin = at + 1;
  }
  out.append(s, begin, s.size());
  return out.take(StrBuilder::Form::kMarkup);
}

Str join(Heap& heap, const Str& separator, const List& items) {
  StrBuilder out(heap.budget());
  for (size_t i = 0; i < items.items.size(); ++i) {
    heap.budget().step();
    if (i > 0) out.append(separator);
    append_text(heap, out, items.items[i]);
  }
  return out.take();
}

}  // namespace hearth::jinja
