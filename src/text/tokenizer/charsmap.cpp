#include "text/tokenizer/charsmap.h"

#include <utf8proc.h>

#include <array>

#include "base/error.h"
#include "text/unicode.h"

namespace hearth::text {
namespace {

std::string decode_base64(std::string_view in, std::string_view where) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<int8_t, 256> value{};
  value.fill(-1);
  for (size_t i = 0; i < kDigits.size(); ++i) {
    value[static_cast<unsigned char>(kDigits[i])] = static_cast<int8_t>(i);
  }
  while (in.ends_with('=')) in.remove_suffix(1);
  std::string out;
  out.reserve(in.size() * 3 / 4);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : in) {
    const int8_t v = value[static_cast<unsigned char>(c)];
    require_data(v >= 0, where, ".precompiled_charsmap is not base64");
    bits = (bits << 6) | static_cast<uint32_t>(v);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(static_cast<char>((bits >> count) & 0xFFU));
    }
  }
  return out;
}

uint32_t little_endian(std::string_view s, size_t at) {
  uint32_t v = 0;
  for (size_t i = 0; i < 4; ++i) v |= uint32_t{static_cast<unsigned char>(s[at + i])} << (8 * i);
  return v;
}

// Fields of a darts-clone unit.
bool has_leaf(uint32_t unit) { return ((unit >> 8) & 1U) != 0; }
uint32_t value_of(uint32_t unit) { return unit & 0x7FFFFFFFU; }
uint32_t label_of(uint32_t unit) { return unit & (0x80000000U | 0xFFU); }
uint32_t offset_of(uint32_t unit) { return (unit >> 10) << ((unit & (1U << 9)) >> 6); }

}  // namespace

Charsmap::Charsmap(std::string_view base64, std::string_view where) {
  const std::string bytes = decode_base64(base64, where);
  require_data(bytes.size() >= 4, where, ".precompiled_charsmap is too short");
  const size_t trie_bytes = little_endian(bytes, 0);
  require_data(trie_bytes % 4 == 0 && trie_bytes >= 4 && trie_bytes <= bytes.size() - 4, where,
               ".precompiled_charsmap names a trie of ", static_cast<int64_t>(trie_bytes),
               " bytes in ", static_cast<int64_t>(bytes.size()));
  for (size_t i = 0; i < trie_bytes; i += 4) units_.push_back(little_endian(bytes, 4 + i));
  replacements_ = bytes.substr(4 + trie_bytes);
  require_data(is_valid_utf8(replacements_), where, ".precompiled_charsmap holds broken UTF-8");
}

std::optional<std::string_view> Charsmap::find(std::string_view chunk) const {
  uint32_t node = offset_of(units_[0]);
  for (const char ch : chunk) {
    const auto byte = static_cast<unsigned char>(ch);
    if (byte == 0) return std::nullopt;
    node ^= byte;
    if (node >= units_.size() || label_of(units_[node]) != byte) return std::nullopt;
    const uint32_t unit = units_[node];
    node ^= offset_of(unit);
    if (!has_leaf(unit)) continue;
    if (node >= units_.size()) return std::nullopt;
    const uint32_t at = value_of(units_[node]);
    if (at >= replacements_.size()) return std::nullopt;
    const std::string_view rest = std::string_view(replacements_).substr(at);
    // A replacement that begins inside a character is a broken file's.
    if (!rest.empty() && (static_cast<unsigned char>(rest.front()) & 0xC0U) == 0x80)
      return std::nullopt;
    return rest.substr(0, rest.find('\0'));
  }
  return std::nullopt;
}

void Charsmap::append_chunk(std::string_view chunk, std::string& out) const {
  if (chunk.size() < 6) {
    if (const auto replacement = find(chunk)) {
      out.append(*replacement);
      return;
    }
  }
  for (const char* p = chunk.data(); p < chunk.data() + chunk.size();) {
    const char* const next = decode_utf8(p).next;
    const std::string_view one(p, static_cast<size_t>(next - p));
    out.append(find(one).value_or(one));
    p = next;
  }
}

std::string Charsmap::normalize(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  const char* const end = text.data() + text.size();
  utf8proc_int32_t state = 0;
  const char* chunk = text.data();
  for (const char* p = text.data(); p < end;) {
    const Decoded here = decode_utf8(p);
    const bool is_border =
        here.next == end ||
        utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(here.c),
                                         static_cast<utf8proc_int32_t>(decode_utf8(here.next).c),
                                         &state) != 0;
    p = here.next;
    if (!is_border) continue;
    append_chunk({chunk, static_cast<size_t>(p - chunk)}, out);
    chunk = p;
  }
  return out;
}

}  // namespace hearth::text
