#include "text/tokenizer/merge_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

namespace hearth::text {
namespace {

constexpr int64_t kShort = 40;                      // quadratic is faster up to here
constexpr int64_t kVeryLong = 4096;                 // worth the lists per rank
constexpr int64_t kKeptSymbols = int64_t{1} << 18;  // working memory for longer words is given back

}  // namespace

MergeTable::MergeTable(std::span<const Merge> merges, const std::unordered_set<int32_t>& without)
    : rank_count_(static_cast<int64_t>(merges.size())) {
  const size_t slots = std::bit_ceil(std::max<size_t>(merges.size() * 2, 16));
  slots_.assign(slots, Slot{kFree, kNoRank, -1});
  mask_ = slots - 1;
  shift_ = 64 - std::countr_zero(slots);
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const Merge& m = merges[rank];
    if (without.contains(m.product)) continue;
    const uint64_t key = key_of(m.left, m.right);
    uint64_t s = slot_of(key);
    while (slots_[s].key != kFree && slots_[s].key != key) s = (s + 1) & mask_;
    slots_[s] = {key, static_cast<uint32_t>(rank), m.product};
  }
}

int64_t Merger::merge(const MergeTable& table, std::span<int32_t> symbols) {
  const auto n = static_cast<int64_t>(symbols.size());
  return n <= kShort ? merge_short(table, symbols) : merge_long(table, symbols);
}

int64_t Merger::merge_short(const MergeTable& table, std::span<int32_t> symbols) {
  auto n = static_cast<int64_t>(symbols.size());
  std::array<MergeTable::Found, kShort> pairs;
  for (int64_t i = 0; i + 1 < n; ++i) pairs[i] = table.find(symbols[i], symbols[i + 1]);
  while (n > 1) {
    int64_t best = 0;
    for (int64_t i = 1; i + 1 < n; ++i) {
      if (pairs[i].rank < pairs[best].rank) best = i;
    }
    if (pairs[best].rank == kNoRank) break;
    symbols[best] = pairs[best].product;
    std::copy(symbols.begin() + best + 2, symbols.begin() + n, symbols.begin() + best + 1);
    std::copy(pairs.begin() + best + 1, pairs.begin() + n - 1, pairs.begin() + best);
    --n;
    if (best + 1 < n) pairs[best] = table.find(symbols[best], symbols[best + 1]);
    if (best > 0) pairs[best - 1] = table.find(symbols[best - 1], symbols[best]);
  }
  return n;
}

int64_t Merger::merge_long(const MergeTable& table, std::span<int32_t> symbols) {
  const auto n = static_cast<int64_t>(symbols.size());
  begin(table, n);
  for (int64_t i = 0; i + 1 < n; ++i) update_pair(table, symbols, i);
  uint32_t rank = 0;
  int32_t at = 0;
  while (pop(rank, at)) {
    if (pair_rank_[at] != rank) continue;  // a neighbour has merged since
    const int64_t right = at + span_[at];
    const int32_t span = span_[at] + span_[right];
    symbols[at] = table.find(symbols[at], symbols[right]).product;
    pair_rank_[right] = kNoRank;
    span_[at] = span;
    span_[at + span - 1] = span;
    update_pair(table, symbols, at);
    if (at > 0) update_pair(table, symbols, at - span_[at - 1]);
  }
  int64_t left = 0;
  for (int64_t i = 0; i < n; i += span_[i]) symbols[left++] = symbols[i];
  end(n);
  return left;
}

void Merger::update_pair(const MergeTable& table, std::span<const int32_t> symbols,
                         int64_t position) {
  const int64_t next = position + span_[position];
  const uint32_t rank = next < static_cast<int64_t>(symbols.size())
                            ? table.find(symbols[position], symbols[next]).rank
                            : kNoRank;
  pair_rank_[position] = rank;
  if (rank != kNoRank) push(rank, static_cast<int32_t>(position));
}

void Merger::push(uint32_t rank, int32_t position) {
  const auto push_late = [&] {
    late_.push_back((uint64_t{rank} << 32) | static_cast<uint32_t>(position));
    std::push_heap(late_.begin(), late_.end(), std::greater<>());
  };
  if (!uses_buckets_) return push_late();
  uint32_t& number = bucket_of_rank_[rank];
  if (number == 0) {
    buckets_.push_back({rank});
    number = static_cast<uint32_t>(buckets_.size());
  }
  Bucket& bucket = buckets_[number - 1];
  if (bucket.tail >= 0 && nodes_[bucket.tail].position >= position) return push_late();
  int32_t node = free_node_;
  if (node >= 0) {
    free_node_ = nodes_[node].next;
    nodes_[node] = {position, -1};
  } else {
    node = static_cast<int32_t>(nodes_.size());
    nodes_.push_back({position, -1});
  }
  if (bucket.tail >= 0) {
    nodes_[bucket.tail].next = node;
  } else {
    bucket.head = node;
    ranks_.push_back((uint64_t{rank} << 32) | (number - 1));
    std::push_heap(ranks_.begin(), ranks_.end(), std::greater<>());
  }
  bucket.tail = node;
}

int32_t Merger::take_head(uint32_t number) {
  Bucket& bucket = buckets_[number];
  const int32_t node = bucket.head;
  bucket.head = nodes_[node].next;
  nodes_[node].next = free_node_;
  free_node_ = node;
  if (bucket.head < 0) {
    bucket.tail = -1;
    std::pop_heap(ranks_.begin(), ranks_.end(), std::greater<>());
    ranks_.pop_back();
  }
  return nodes_[node].position;
}

bool Merger::pop(uint32_t& rank, int32_t& position) {
  uint64_t listed = UINT64_MAX;
  if (!ranks_.empty()) {
    const Bucket& bucket = buckets_[ranks_.front() & UINT32_MAX];
    listed = (uint64_t{bucket.rank} << 32) | static_cast<uint32_t>(nodes_[bucket.head].position);
  }
  const uint64_t late = late_.empty() ? UINT64_MAX : late_.front();
  const uint64_t first = std::min(listed, late);
  if (first == UINT64_MAX) return false;
  rank = static_cast<uint32_t>(first >> 32);
  position = static_cast<int32_t>(first & UINT32_MAX);
  if (late <= listed) {
    std::pop_heap(late_.begin(), late_.end(), std::greater<>());
    late_.pop_back();
  } else {
    take_head(static_cast<uint32_t>(ranks_.front() & UINT32_MAX));
  }
  return true;
}

void Merger::begin(const MergeTable& table, int64_t symbols) {
  span_.assign(static_cast<size_t>(symbols), 1);
  pair_rank_.assign(static_cast<size_t>(symbols), kNoRank);
  uses_buckets_ = symbols >= kVeryLong;
  if (uses_buckets_) bucket_of_rank_.resize(static_cast<size_t>(table.rank_count()), 0);
}

void Merger::end(int64_t symbols) {
  for (const Bucket& bucket : buckets_) bucket_of_rank_[bucket.rank] = 0;
  buckets_.clear();
  nodes_.clear();
  free_node_ = -1;
  if (symbols > kKeptSymbols) *this = Merger();
}

}  // namespace hearth::text
