// The two-way table of tokens and ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hearth::text {

// 64-bit hash of bytes, good enough for open addressing; the same in every process.
uint64_t hash_bytes(const char* data, size_t size);
inline uint64_t hash_bytes(std::string_view s) { return hash_bytes(s.data(), s.size()); }

// Tokens in one string arena with an open-addressing hash to their ids. Filled once, then read from any thread.
// Memory follows the number of tokens, never the size of an id: ids far beyond the count go to a hash map.
class Vocab {
 public:
  void reserve(int64_t tokens, int64_t text_bytes);
  enum class Added : uint8_t { kNew, kSame, kTokenTaken, kIdTaken };
  // kTokenTaken: the token has another id already; kIdTaken: the id has another token. Both change nothing.
  Added add(std::string_view token, int32_t id);
  // A further spelling-less entry: the id of a token that find() already gives to another id (Unigram lists repeat
  // pieces). Only token_of() sees it.
  Added add_hidden(std::string_view token, int32_t id);

  // -1 when unknown.
  int32_t find(std::string_view token) const { return find_hashed(token, hash_bytes(token)); }
  std::optional<std::string_view> token_of(int32_t id) const;
  struct Item {
    std::string_view token;
    int32_t id;
  };
  // Entry `i` in the order of adding, 0 <= i < size().
  Item item(int64_t i) const {
    const Entry& e = entries_[static_cast<size_t>(i)];
    return {text_of(e), e.id};
  }
  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  int32_t id_end() const { return id_end_; }  // highest id + 1
  int64_t longest_bytes() const { return longest_; }

 private:
  struct Entry {
    uint32_t offset;
    uint32_t length;
    int32_t id;
  };
  // All that a look-up compares, so that it costs two cache misses: the slot and the text.
  struct Slot {
    uint32_t tag;  // upper half of the hash
    uint32_t offset;
    uint32_t length;
    int32_t id;  // -1: free
  };
  int32_t find_hashed(std::string_view token, uint64_t hash) const;
  void put(const Entry& entry, uint64_t hash);
  int64_t entry_of(int32_t id) const;  // -1 when none
  void index_id(int32_t id, int64_t entry);
  void rehash(size_t slots);
  std::string_view text_of(const Entry& e) const {
    return std::string_view(arena_).substr(e.offset, e.length);
  }
  void append(std::string_view token, int32_t id);

  std::string arena_;
  std::vector<Entry> entries_;
  std::vector<Slot> slots_;      // open addressing, a power of two, at most two thirds full
  std::vector<uint32_t> dense_;  // id -> entry + 1, for ids below a small multiple of the count
  std::unordered_map<int32_t, uint32_t> sparse_;
  int32_t id_end_ = 0;
  int64_t longest_ = 0;
};

}  // namespace hearth::text
