// The merges of a BPE vocabulary and the order in which they are applied to a word.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "text/tokenizer/tokenizer_file.h"

namespace hearth::text {

constexpr uint32_t kNoRank = UINT32_MAX;

// (left, right) -> (rank, product): open addressing, at most half full. A pair listed twice keeps its later rank, as in
// Hugging Face's library; merges whose product is in `without` are left out.
class MergeTable {
 public:
  MergeTable(std::span<const Merge> merges, const std::unordered_set<int32_t>& without);

  int64_t rank_count() const { return static_cast<int64_t>(products_.size()); }
  int32_t product(uint32_t rank) const { return products_[rank]; }

  struct Found {
    uint32_t rank;  // kNoRank: the pair does not merge
    int32_t product;
  };
  Found find(int32_t left, int32_t right) const {
    const uint64_t key = key_of(left, right);
    for (uint64_t s = slot_of(key);; s = (s + 1) & mask_) {
      const Slot& slot = slots_[s];
      if (slot.key == key) return {slot.rank, slot.product};
      if (slot.key == kFree) return {kNoRank, -1};
    }
  }

 private:
  struct Slot {
    uint64_t key;
    uint32_t rank;
    int32_t product;
  };
  static constexpr uint64_t kFree = UINT64_MAX;
  static uint64_t key_of(int32_t left, int32_t right) {
    return (uint64_t{static_cast<uint32_t>(left)} << 32) | static_cast<uint32_t>(right);
  }
  uint64_t slot_of(uint64_t key) const { return (key * 0x9E3779B97F4A7C15ULL) >> shift_; }

  std::vector<Slot> slots_;
  std::vector<int32_t> products_;  // by rank
  uint64_t mask_ = 0;
  int shift_ = 0;
};

// Applies merges to words; one thread's working memory.
class Merger {
 public:
  // Merges the symbols in place; returns how many are left.
  int64_t merge(const MergeTable& table, std::span<int32_t> symbols);

 private:
  // Where a symbol begins (and, `span` only, where it ends).
  struct Place {
    int32_t span;   // base symbols merged into it
    uint32_t rank;  // of its pair with the next symbol
  };
  struct Chunk {  // of a list of positions; one cache line
    static constexpr int32_t kPositions = 14;
    int32_t next;
    int32_t end;
    std::array<int32_t, kPositions> positions;
  };
  struct Bucket {
    uint32_t rank;
    int32_t head = -1;  // chunk; -1 when empty
    int32_t tail = -1;
    int32_t begin = 0;  // in the head chunk
    int32_t last = -1;  // greatest position in the list
  };
  static int64_t merge_short(const MergeTable& table, std::span<int32_t> symbols);
  static int64_t merge_sweeping(const MergeTable& table, std::span<int32_t> symbols);
  int64_t merge_long(const MergeTable& table, std::span<int32_t> symbols);
  // Finds the rank of the pair at `position` and queues it, unless it surely changes before its turn: its right half
  // is about to merge with what follows, at `current` rank.
  void update_pair(const MergeTable& table, std::span<const int32_t> symbols, int64_t position,
                   uint32_t current);
  void push(uint32_t rank, int32_t position);
  void append(Bucket& bucket, uint32_t number, int32_t position);
  // The waiting pair of lowest rank, of equals the leftmost; false when there is none.
  bool pop(uint32_t& rank, int32_t& position);
  int32_t take_head(uint32_t number);
  void begin(const MergeTable& table, int64_t symbols);
  void end(int64_t symbols);

  std::vector<Place> places_;
  // Waiting pairs. In a very long word: one list per rank in ascending position, and a heap of the ranks whose list is
  // not empty; a pair that comes out of order, and every pair of a word of medium length, waits in a heap of its own.
  // Runs of one character come in order, so that they take linear time.
  bool uses_buckets_ = false;
  std::vector<Bucket> buckets_;
  std::vector<uint32_t> bucket_of_rank_;  // bucket + 1; 0: none
  std::vector<uint64_t> ranks_;           // heap: rank << 32 | bucket
  std::vector<uint64_t> late_;            // heap: rank << 32 | position
  std::vector<Chunk> chunks_;
  int32_t free_chunk_ = -1;
};

}  // namespace hearth::text
