#include "text/tokenizer/merge_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

namespace hearth::text {
namespace {

constexpr int64_t kShort = 40;       // quadratic is faster up to here
constexpr int64_t kVeryLong = 4096;  // worth the lists per rank
constexpr int64_t kSpareSweeps =
    8;  // over enormous words: a run may have another character at its ends
constexpr int64_t kKeptSymbols = int64_t{1} << 18;  // working memory for longer words is given back

// Remembers the last pair, which in a run is the next one as well.
class PairMemo {
 public:
  explicit PairMemo(const MergeTable& table) : table_(table) {}
  uint32_t rank(int32_t left, int32_t right) {
    if (left != left_ || right != right_) {
      left_ = left;
      right_ = right;
      rank_ = table_.find(left, right).rank;
    }
    return rank_;
  }

 private:
  const MergeTable& table_;
  int32_t left_ = -1;
  int32_t right_ = -1;
  uint32_t rank_ = kNoRank;
};

}  // namespace

MergeTable::MergeTable(std::span<const Merge> merges, const std::unordered_set<int32_t>& without) {
  const size_t slots = std::bit_ceil(std::max<size_t>(merges.size() * 2, 16));
  slots_.assign(slots, Slot{kFree, kNoRank, -1});
  mask_ = slots - 1;
  shift_ = 64 - std::countr_zero(slots);
  products_.reserve(merges.size());
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const Merge& m = merges[rank];
    products_.push_back(m.product);
    if (without.contains(m.product)) continue;
    const uint64_t key = key_of(m.left, m.right);
    uint64_t s = slot_of(key);
    while (slots_[s].key != kFree && slots_[s].key != key) s = (s + 1) & mask_;
    slots_[s] = {key, static_cast<uint32_t>(rank), m.product};
  }
}

int64_t Merger::merge(const MergeTable& table, std::span<int32_t> symbols) {
  auto n = static_cast<int64_t>(symbols.size());
  if (n > kVeryLong) n = merge_sweeping(table, symbols);
  symbols = symbols.first(static_cast<size_t>(n));
  return n <= kShort ? merge_short(table, symbols) : merge_long(table, symbols);
}

// Merges all pairs of the lowest rank in one go over the word, from the left, as long as that takes away a good part of
// it: what happens in runs of one character, and then without any queue. Stops where a merge makes a pair of lower
// rank, since that one is next; the word is then exactly as merging one by one would have left it.
int64_t Merger::merge_sweeping(const MergeTable& table, std::span<int32_t> symbols) {
  auto n = static_cast<int64_t>(symbols.size());
  int64_t spare = n > kKeptSymbols ? kSpareSweeps : 0;
  for (bool may_go_on = true; may_go_on && n > kVeryLong;) {
    uint32_t lowest = kNoRank;
    int64_t count = 0;
    PairMemo pair(table);
    for (int64_t i = 0; i + 1 < n; ++i) {
      const uint32_t rank = pair.rank(symbols[i], symbols[i + 1]);
      if (rank > lowest) continue;
      count = rank == lowest ? count + 1 : 1;
      lowest = rank;
    }
    if (lowest == kNoRank) break;
    if (count < n / 8 && --spare < 0) break;
    PairMemo left_pair(table);
    PairMemo right_pair(table);
    int64_t to = 0;
    int64_t from = 0;
    while (from + 1 < n) {
      if (pair.rank(symbols[from], symbols[from + 1]) != lowest) {
        symbols[to++] = symbols[from++];
        continue;
      }
      symbols[to++] = table.product(lowest);
      from += 2;
      const bool lower_left = to > 1 && left_pair.rank(symbols[to - 2], symbols[to - 1]) < lowest;
      const bool lower_right = from < n && right_pair.rank(symbols[to - 1], symbols[from]) < lowest;
      if (!lower_left && !lower_right) continue;
      may_go_on = false;
      break;
    }
    while (from < n) symbols[to++] = symbols[from++];
    n = to;
  }
  return n;
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
  for (int64_t i = 0; i + 1 < n; ++i) update_pair(table, symbols, i, kNoRank);
  uint32_t rank = 0;
  int32_t at = 0;
  while (pop(rank, at)) {
    if (places_[at].rank != rank) continue;  // a neighbour has merged since
    Place& place = places_[at];
    Place& right = places_[at + place.span];
    symbols[at] = table.product(rank);
    place.span += right.span;
    right.rank = kNoRank;
    places_[at + place.span - 1].span = place.span;
    update_pair(table, symbols, at, rank);
    if (at > 0) update_pair(table, symbols, at - places_[at - 1].span, rank);
  }
  int64_t left = 0;
  for (int64_t i = 0; i < n; i += places_[i].span) symbols[left++] = symbols[i];
  end(n);
  return left;
}

void Merger::update_pair(const MergeTable& table, std::span<const int32_t> symbols,
                         int64_t position, uint32_t current) {
  Place& place = places_[position];
  const int64_t next = position + place.span;
  if (next >= static_cast<int64_t>(symbols.size())) {
    place.rank = kNoRank;
    return;
  }
  place.rank = table.find(symbols[position], symbols[next]).rank;
  if (place.rank == kNoRank) return;
  // Pairs to the right of `next` have had no lower rank than `current` since its turn began, so that `next` merges
  // with its successor first, and this pair is looked at again then.
  if (current != kNoRank && places_[next].rank == current && place.rank > current) return;
  push(place.rank, static_cast<int32_t>(position));
}

void Merger::push(uint32_t rank, int32_t position) {
  if (uses_buckets_) {
    uint32_t& number = bucket_of_rank_[rank];
    if (number == 0) {
      buckets_.push_back({rank});
      number = static_cast<uint32_t>(buckets_.size());
    }
    Bucket& bucket = buckets_[number - 1];
    if (bucket.head < 0 || bucket.last < position) {
      append(bucket, number - 1, position);
      return;
    }
  }
  late_.push_back((uint64_t{rank} << 32) | static_cast<uint32_t>(position));
  std::push_heap(late_.begin(), late_.end(), std::greater<>());
}

void Merger::append(Bucket& bucket, uint32_t number, int32_t position) {
  bucket.last = position;
  if (bucket.head >= 0 && chunks_[bucket.tail].end < Chunk::kPositions) [[likely]] {
    Chunk& tail = chunks_[bucket.tail];
    tail.positions[tail.end++] = position;
    return;
  }
  int32_t fresh = free_chunk_;
  if (fresh >= 0) {
    free_chunk_ = chunks_[fresh].next;
  } else {
    fresh = static_cast<int32_t>(chunks_.size());
    chunks_.emplace_back();
  }
  Chunk& chunk = chunks_[fresh];
  chunk.next = -1;
  chunk.end = 1;
  chunk.positions[0] = position;
  if (bucket.head >= 0) {
    chunks_[bucket.tail].next = fresh;
  } else {
    bucket.head = fresh;
    bucket.begin = 0;
    ranks_.push_back((uint64_t{bucket.rank} << 32) | number);
    std::push_heap(ranks_.begin(), ranks_.end(), std::greater<>());
  }
  bucket.tail = fresh;
}

int32_t Merger::take_head(uint32_t number) {
  Bucket& bucket = buckets_[number];
  Chunk& head = chunks_[bucket.head];
  const int32_t position = head.positions[bucket.begin++];
  if (bucket.begin < head.end) return position;
  const int32_t next = head.next;
  head.next = free_chunk_;
  free_chunk_ = bucket.head;
  bucket.head = next;
  bucket.begin = 0;
  if (next < 0) {
    std::pop_heap(ranks_.begin(), ranks_.end(), std::greater<>());
    ranks_.pop_back();
  }
  return position;
}

bool Merger::pop(uint32_t& rank, int32_t& position) {
  uint64_t listed = UINT64_MAX;
  uint32_t number = 0;
  if (!ranks_.empty()) {
    number = static_cast<uint32_t>(ranks_.front() & UINT32_MAX);
    const Bucket& bucket = buckets_[number];
    listed = (uint64_t{bucket.rank} << 32) |
             static_cast<uint32_t>(chunks_[bucket.head].positions[bucket.begin]);
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
    take_head(number);
  }
  return true;
}

void Merger::begin(const MergeTable& table, int64_t symbols) {
  places_.assign(static_cast<size_t>(symbols), Place{1, kNoRank});
  uses_buckets_ = symbols >= kVeryLong;
  if (!uses_buckets_) return;
  bucket_of_rank_.resize(static_cast<size_t>(table.rank_count()), 0);
  chunks_.reserve(static_cast<size_t>(symbols / Chunk::kPositions + 64));
}

void Merger::end(int64_t symbols) {
  for (const Bucket& bucket : buckets_) bucket_of_rank_[bucket.rank] = 0;
  buckets_.clear();
  chunks_.clear();
  free_chunk_ = -1;
  if (symbols > kKeptSymbols) *this = Merger();
}

}  // namespace hearth::text
