#include "text/tokenizer/merge_table.h"

#include <doctest/doctest.h>

#include <unordered_set>
#include <vector>

#include "base/random.h"

namespace hearth::text {
namespace {

// The definition: the lowest rank first, of equals the leftmost.
std::vector<int32_t> merge_plainly(const MergeTable& table, std::vector<int32_t> symbols) {
  while (true) {
    size_t best = symbols.size();
    uint32_t rank = kNoRank;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const uint32_t r = table.find(symbols[i], symbols[i + 1]).rank;
      if (r < rank) {
        rank = r;
        best = i;
      }
    }
    if (rank == kNoRank) return symbols;
    symbols[best] = table.find(symbols[best], symbols[best + 1]).product;
    symbols.erase(symbols.begin() + static_cast<int64_t>(best) + 1);
  }
}

// Merges of random symbols; products may be parts of earlier and of later merges.
std::vector<Merge> random_merges(SplitMix64& random, int32_t base, int32_t count) {
  std::vector<Merge> merges;
  for (int32_t i = 0; i < count; ++i) {
    const int64_t known = base + i;
    merges.push_back({static_cast<int32_t>(random.below(known)),
                      static_cast<int32_t>(random.below(known)), base + i});
  }
  for (size_t i = merges.size(); i > 1 && random.below(2) == 0;
       --i) {  // out of the order of making
    std::swap(merges[i - 1], merges[static_cast<size_t>(random.below(static_cast<int64_t>(i)))]);
  }
  return merges;
}

TEST_CASE("merging equals the definition for words of every length and any order of ranks") {
  SplitMix64 random(11);
  Merger merger;
  for (int round = 0; round < 400; ++round) {
    const auto base = static_cast<int32_t>(1 + random.below(6));
    const MergeTable table(random_merges(random, base, static_cast<int32_t>(random.below(60))), {});
    const int64_t length = round % 4 == 0 ? 1 + random.below(40) : 1 + random.below(400);
    std::vector<int32_t> word;
    while (static_cast<int64_t>(word.size()) < length) {
      // Runs as well as noise.
      const auto symbol = static_cast<int32_t>(random.below(base));
      const int64_t times = random.below(3) == 0 ? 1 + random.below(30) : 1;
      word.insert(word.end(), static_cast<size_t>(times), symbol);
    }
    const std::vector<int32_t> want = merge_plainly(table, word);
    word.resize(static_cast<size_t>(merger.merge(table, word)));
    CHECK(word == want);
  }
}

TEST_CASE("very long words merge as the definition says, in runs and in noise") {
  SplitMix64 random(12);
  Merger merger;
  for (int round = 0; round < 12; ++round) {
    const auto base = static_cast<int32_t>(1 + random.below(3));
    const MergeTable table(random_merges(random, base, 40), {});
    std::vector<int32_t> word;
    while (word.size() < 5500) {
      const int64_t times = round % 2 == 0 ? 5500 : 1 + random.below(40);
      word.insert(word.end(), static_cast<size_t>(times), static_cast<int32_t>(random.below(base)));
    }
    const std::vector<int32_t> want = merge_plainly(table, word);
    word.resize(static_cast<size_t>(merger.merge(table, word)));
    CHECK(word == want);
  }
}

TEST_CASE("a merge whose product ranks lower is applied at once, as in Gemma's runs") {
  // a^(n+1) = a^n + a with the longest first: ranks fall as the product grows.
  std::vector<Merge> merges;
  for (int32_t n = 30; n >= 1; --n) merges.push_back({n - 1, 0, n});
  const MergeTable table(merges, {});
  Merger merger;
  std::vector<int32_t> word(10'000, 0);
  word.resize(static_cast<size_t>(merger.merge(table, word)));
  std::vector<int32_t> want(10'000 / 31, 30);
  want.push_back(10'000 % 31 - 1);
  CHECK(word == want);
}

TEST_CASE("a pair that is listed twice has its later rank, and products left out don't merge") {
  const std::vector<Merge> merges = {{0, 1, 2}, {1, 1, 3}, {0, 1, 2}};
  CHECK(MergeTable(merges, {}).find(0, 1).rank == 2);
  CHECK(MergeTable(merges, {2}).find(0, 1).rank == kNoRank);
  CHECK(MergeTable(merges, {2}).find(1, 1).product == 3);
}

}  // namespace
}  // namespace hearth::text
