// A trie over the bytes of tokens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace hearth::text {

// Nodes are numbers, the root is 0. Edges lie in one open-addressing table, so that memory is linear in the texts.
class Trie {
 public:
  explicit Trie(int64_t expected_bytes = 0);
  // Adds `key` (or replaces its value). `value` >= 0.
  void add(std::string_view key, int32_t value);

  // The node after `byte`; -1 when no key goes there.
  int32_t next(int32_t node, unsigned char byte) const;
  // The value of the key that ends here; -1 when none does.
  int32_t value(int32_t node) const { return values_[static_cast<size_t>(node)]; }
  // The node of a whole key's text; -1 when no key begins with it.
  int32_t walk(std::string_view text) const;

 private:
  struct Edge {
    uint64_t key;  // (node << 8 | byte) + 1; 0: free
    int32_t child;
  };
  static uint64_t key_of(int32_t node, unsigned char byte) {
    return ((uint64_t{static_cast<uint32_t>(node)} << 8) | byte) + 1;
  }
  size_t slot_of(uint64_t key) const {
    return static_cast<size_t>((key * 0x9E3779B97F4A7C15ULL) >> shift_);
  }
  void grow();

  std::vector<Edge> edges_;
  std::vector<int32_t> values_;  // by node
  int shift_ = 0;
};

}  // namespace hearth::text
