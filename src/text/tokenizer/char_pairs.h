// A set of ordered pairs of characters.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hearth::text {

// Pairs of ASCII characters in a bit table, all others in an open-addressing table.
class CharPairs {
 public:
  void add(char32_t first, char32_t second);
  bool contains(char32_t first, char32_t second) const {
    if ((first | second) < 128) return ascii_[(first << 7) | second];
    return !slots_.empty() && slots_[find(key_of(first, second))] != 0;
  }

 private:
  // Never 0, which is a free slot: the pair of two NULs is in the bit table.
  static uint64_t key_of(char32_t first, char32_t second) {
    return (uint64_t{first} << 32) | second;
  }
  size_t find(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    size_t s = static_cast<size_t>((key * 0x9E3779B97F4A7C15ULL) >> 32) & mask;
    while (slots_[s] != 0 && slots_[s] != key) s = (s + 1) & mask;
    return s;
  }

  std::bitset<size_t{128} * 128> ascii_;
  std::vector<uint64_t> slots_;  // a power of two, at most half full
  size_t count_ = 0;
};

inline void CharPairs::add(char32_t first, char32_t second) {
  if ((first | second) < 128) {
    ascii_.set((first << 7) | second);
    return;
  }
  if (slots_.size() < (count_ + 1) * 2) {
    const std::vector<uint64_t> old = std::move(slots_);
    slots_.assign(old.empty() ? 64 : old.size() * 2, 0);
    for (const uint64_t key : old) {
      if (key != 0) slots_[find(key)] = key;
    }
  }
  uint64_t& slot = slots_[find(key_of(first, second))];
  if (slot == 0) ++count_;
  slot = key_of(first, second);
}

}  // namespace hearth::text
