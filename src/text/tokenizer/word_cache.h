// Remembers the ids of short words.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::text {

// Two tables: words of up to 15 bytes and up to 3 ids in sets of two (one megabyte), and the rest up to 31 bytes and 7
// ids, each in the one place it may have (half a megabyte). Owned by one thread. Keys are compared in full, so a hit is exact.
class WordCache {
 public:
  struct Key {
    uint64_t low;
    uint64_t high;  // the word's last bytes, its length in the top byte
  };
  static constexpr int64_t kMaxBytes = 15;
  static constexpr int64_t kMaxIds = 3;

  WordCache() : sets_(size_t{1} << kBits), long_(size_t{1} << kLongBits) {}

  // `size` is 1 to 15; memory up to `limit` may be read, which saves a copy away from the text's end.
  static Key key_of(const char* p, int64_t size, const char* limit) {
    std::array<uint64_t, 2> words{};
    if (limit - p >= 16) [[likely]] {
      std::memcpy(words.data(), p, 16);
      const int64_t low_bits = size < 8 ? size * 8 : 64;
      const int64_t high_bits = size < 8 ? 0 : (size - 8) * 8;
      if (low_bits < 64) words[0] &= (uint64_t{1} << low_bits) - 1;
      words[1] &= (uint64_t{1} << high_bits) - 1;
    } else {
      std::memcpy(words.data(), p, static_cast<size_t>(size));
    }
    return {words[0], words[1] | (static_cast<uint64_t>(size) << 56)};
  }

  struct Entry {
    Key key{0, 0};  // length 0: free
    uint32_t count = 0;
    std::array<int32_t, 3> ids{};
  };

  // The entry of `key`, or null. What it points to is valid until the next call.
  const Entry* find(const Key& key) {
    Set& set = sets_[index_of(key)];
    if (holds(set[0], key)) [[likely]]
      return &set[0];
    if (!holds(set[1], key)) return nullptr;
    std::swap(set[0], set[1]);
    return &set[0];
  }
  // Takes the place of the set's older entry.
  Entry& make(const Key& key) {
    Set& set = sets_[index_of(key)];
    set[1] = set[0];
    set[0].key = key;
    return set[0];
  }

  // The second table.
  static constexpr int64_t kMaxLongBytes = 31;
  static constexpr int64_t kMaxLongIds = 7;
  struct LongEntry {
    std::array<uint64_t, 4> key{};  // the word's length in the top byte; 0: free
    uint32_t count = 0;
    std::array<int32_t, kMaxLongIds> ids{};
  };
  static std::array<uint64_t, 4> long_key_of(std::string_view word) {
    std::array<uint64_t, 4> key{};
    std::memcpy(key.data(), word.data(), word.size());
    key[3] |= static_cast<uint64_t>(word.size()) << 56;
    return key;
  }
  // The entry where a word of this key is, or would be.
  LongEntry& long_slot(const std::array<uint64_t, 4>& key) {
    const uint64_t h = (key[0] ^ key[2] * 0x9E3779B97F4A7C15ULL) +
                       (key[1] ^ key[3] * 0xC2B2AE3D27D4EB4FULL) * 0xD6E8FEB86659FD93ULL;
    return long_[static_cast<size_t>((h ^ (h >> 31)) * 0x9E3779B97F4A7C15ULL >> (64 - kLongBits))];
  }

 private:
  using Set = std::array<Entry, 2>;  // one cache line, the latest used first
  static bool holds(const Entry& e, const Key& key) {
    return e.key.low == key.low && e.key.high == key.high;
  }
  static constexpr int kBits = 14;
  static constexpr int kLongBits = 13;
  static size_t index_of(const Key& key) {
    const uint64_t h = (key.low ^ (key.high * 0x9E3779B97F4A7C15ULL)) * 0xD6E8FEB86659FD93ULL;
    return static_cast<size_t>((h ^ (h >> 29)) * 0x9E3779B97F4A7C15ULL >> (64 - kBits));
  }

  std::vector<Set> sets_;
  std::vector<LongEntry> long_;
};

}  // namespace hearth::text
