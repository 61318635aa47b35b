// sentencepiece's precompiled character map: a double-array trie of what to replace, and the replacements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::text {

class Charsmap {
 public:
  // `base64`: uint32 size of the trie in bytes, the trie (uint32 units of darts-clone), zero-terminated replacements;
  // little-endian. Throws kCorruptData naming `where`.
  Charsmap(std::string_view base64, std::string_view where);

  // Replaces grapheme clusters of under 6 bytes as a whole, else character by character, as Hugging Face's library
  // does.
  std::string normalize(std::string_view text) const;

 private:
  // The replacement of the shortest prefix of `chunk` that the trie holds.
  std::optional<std::string_view> find(std::string_view chunk) const;
  void append_chunk(std::string_view chunk, std::string& out) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace hearth::text
