#include "text/tokenizer/trie.h"

#include <algorithm>
#include <bit>

namespace hearth::text {

Trie::Trie(int64_t expected_bytes) : values_(1, -1) {
  const size_t slots = std::bit_ceil(static_cast<size_t>(std::max<int64_t>(expected_bytes, 32)));
  edges_.assign(slots, {0, -1});
  shift_ = 64 - std::countr_zero(slots);
}

int32_t Trie::next(int32_t node, unsigned char byte) const {
  const uint64_t key = key_of(node, byte);
  for (size_t s = slot_of(key);; s = (s + 1) & (edges_.size() - 1)) {
    if (edges_[s].key == key) return edges_[s].child;
    if (edges_[s].key == 0) return -1;
  }
}

int32_t Trie::walk(std::string_view text) const {
  int32_t node = 0;
  for (size_t i = 0; i < text.size() && node >= 0; ++i)
    node = next(node, static_cast<unsigned char>(text[i]));
  return node;
}

void Trie::add(std::string_view key, int32_t value) {
  int32_t node = 0;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    int32_t child = next(node, byte);
    if (child < 0) {
      if (values_.size() * 2 > edges_.size()) grow();
      child = static_cast<int32_t>(values_.size());
      values_.push_back(-1);
      const uint64_t edge = key_of(node, byte);
      size_t s = slot_of(edge);
      while (edges_[s].key != 0) s = (s + 1) & (edges_.size() - 1);
      edges_[s] = {edge, child};
    }
    node = child;
  }
  values_[static_cast<size_t>(node)] = value;
}

void Trie::grow() {
  std::vector<Edge> old = std::move(edges_);
  edges_.assign(old.size() * 2, {0, -1});
  --shift_;
  for (const Edge& e : old) {
    if (e.key == 0) continue;
    size_t s = slot_of(e.key);
    while (edges_[s].key != 0) s = (s + 1) & (edges_.size() - 1);
    edges_[s] = e;
  }
}

}  // namespace hearth::text
