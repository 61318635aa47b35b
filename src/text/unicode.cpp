#include "text/unicode.h"

#include <cstring>

namespace hearth::text {
namespace {

// What the bytes at p say: `length` > 0 is a whole character of that many bytes; 0 is a proper prefix that the text's
// end cut off; < 0 is a maximal broken part of -length bytes. (Unicode 15, table 3-7.)
int classify(const unsigned char* p, int64_t left) {
  const unsigned lead = p[0];
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return -1;
  const int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  for (int i = 1; i < length; ++i) {
    if (i >= left) return 0;
    if (p[i] < low || p[i] > high) return -i;
    low = 0x80;
    high = 0xBF;
  }
  return length;
}

const unsigned char* as_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// Appends `bytes` with broken parts replaced; returns how many bytes at the end are an unfinished character.
int64_t append_lossy(std::string_view bytes, std::string& out) {
  const unsigned char* p = as_bytes(bytes);
  const auto size = static_cast<int64_t>(bytes.size());
  int64_t i = 0;
  while (i < size) {
    const int64_t good = valid_utf8_prefix(bytes.substr(static_cast<size_t>(i)));
    out.append(bytes, static_cast<size_t>(i), static_cast<size_t>(good));
    i += good;
    if (i == size) break;
    const int n = classify(p + i, size - i);
    if (n == 0) return size - i;
    append_utf8(out, kReplacement);
    i -= n;
  }
  return 0;
}

}  // namespace

int64_t valid_utf8_prefix(std::string_view text) {
  const unsigned char* p = as_bytes(text);
  const auto size = static_cast<int64_t>(text.size());
  int64_t i = 0;
  while (i < size) {
    while (i + 8 <= size) {
      uint64_t word = 0;
      std::memcpy(&word, p + i, 8);
      if ((word & 0x8080808080808080ULL) != 0) break;
      i += 8;
    }
    if (i >= size) break;
    const int n = classify(p + i, size - i);
    if (n <= 0) return i;
    i += n;
  }
  return i;
}

std::string to_valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  if (append_lossy(text, out) > 0) append_utf8(out, kReplacement);
  return out;
}

void append_utf8(std::string& out, char32_t c) {
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0U | (c >> 6));
    put(0x80U | (c & 0x3FU));
  } else if (c < 0x10000) {
    put(0xE0U | (c >> 12));
    put(0x80U | ((c >> 6) & 0x3FU));
    put(0x80U | (c & 0x3FU));
  } else {
    put(0xF0U | (c >> 18));
    put(0x80U | ((c >> 12) & 0x3FU));
    put(0x80U | ((c >> 6) & 0x3FU));
    put(0x80U | (c & 0x3FU));
  }
}

void Utf8Joiner::push(std::string_view bytes, std::string& out) {
  if (held_.empty()) {
    const int64_t waiting = append_lossy(bytes, out);
    held_.assign(bytes.substr(bytes.size() - static_cast<size_t>(waiting)));
    return;
  }
  held_.append(bytes);
  const std::string joined = std::move(held_);
  const int64_t waiting = append_lossy(joined, out);
  held_.assign(joined, joined.size() - static_cast<size_t>(waiting));
}

void Utf8Joiner::finish(std::string& out) {
  if (!held_.empty()) append_utf8(out, kReplacement);
  held_.clear();
}

}  // namespace hearth::text
