#include <cstdint>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/random.h"
#include "kv/attention_state.h"
#include "kv/page_pool.h"
#include "kv/step.h"

namespace hearth {
namespace {

CacheLayout two_kinds() {
  CacheLayout layout(2, 8);
  layout.add_attention();
  layout.add_attention(100);
  layout.add_attention();
  return layout;
}

TEST_CASE("page pool: layers with one window share a page, side by side") {
  PagePool pool(two_kinds(), DType::kBF16, 1 << 20);
  REQUIRE(pool.group_count() == 2);
  const int64_t one_layer = 2 * (8 + 8) * 64 * 2;
  CHECK(pool.page_bytes(0) == 2 * one_layer);
  CHECK(pool.page_bytes(1) == one_layer);
  CHECK(pool.layer(2).base - pool.layer(0).base == one_layer);
  CHECK(pool.token_bytes() == 3 * one_layer / 64);
  CHECK(PagePool::token_bytes(two_kinds(), DType::kBF16) == pool.token_bytes());
}

TEST_CASE("page pool: the budget holds over both groups and is given back") {
  const int64_t one_layer = 2 * (8 + 8) * 64 * 4;
  PagePool pool(two_kinds(), DType::kF32, 5 * one_layer);
  const auto a = pool.acquire(0);
  const auto b = pool.acquire(0);
  REQUIRE((a && b));
  CHECK_FALSE(pool.acquire(0));
  const auto c = pool.acquire(1);
  REQUIRE(c);
  CHECK_FALSE(pool.acquire(1));
  pool.retain(0, *a);
  pool.release(0, *a);
  CHECK_FALSE(pool.acquire(0));
  pool.release(0, *a);
  CHECK(pool.acquire(0));
  CHECK_THROWS_AS(PagePool(two_kinds(), DType::kF32, 100), Error);
}

TEST_CASE("attention state: a sliding group gives pages back as soon as no later token sees them") {
  PagePool pool(two_kinds(), DType::kF32, 64 << 20);
  AttentionState state(pool);
  for (int64_t length = 0; length < 1000; ++length) {
    REQUIRE(state.reserve(1));
    state.advance(1);
    const auto pages = state.pages(1);
    for (int64_t i = 0; i < static_cast<int64_t>(pages.size()); ++i) {
      const bool is_needed =
          (i + 1) * 64 > state.length() - 100 + 1;  // holds a position that the next query sees
      CHECK((pages[static_cast<size_t>(i)] >= 0) == is_needed);
    }
  }
  CHECK_THROWS_AS(state.truncate(500), Error);
  state.truncate(995);
  CHECK(state.length() == 995);
}

TEST_CASE("attention state: forks share pages until one of them writes") {
  PagePool pool(two_kinds(), DType::kF32, 64 << 20);
  AttentionState a(pool);
  REQUIRE(a.reserve(70));
  a.advance(70);
  const int64_t before = pool.used_bytes();
  AttentionState b = a.fork();
  CHECK(pool.used_bytes() == before);
  REQUIRE(b.reserve(1));
  CHECK(a.pages(0)[0] == b.pages(0)[0]);
  CHECK(a.pages(0)[1] != b.pages(0)[1]);
  REQUIRE(a.reserve(1));
  CHECK(pool.used_bytes() == before + pool.page_bytes(0) + pool.page_bytes(1));
}

TEST_CASE("attention state: a dry pool changes nothing") {
  const int64_t one_layer = 2 * (8 + 8) * 64 * 4;
  PagePool pool(two_kinds(), DType::kF32, 6 * one_layer);
  AttentionState a(pool);
  REQUIRE(a.reserve(128));
  a.advance(128);
  CHECK_FALSE(a.reserve(1));
  CHECK(a.pages(0).size() == 2);
  CHECK(pool.used_bytes() == 6 * one_layer);
}

TEST_CASE("pages are neither lost nor doubled over random forks, cuts and ends") {
  SplitMix64 random(5);
  PagePool pool(two_kinds(), DType::kF32, 4 << 20);
  {
    std::vector<AttentionState> states;
    for (int i = 0; i < 2000; ++i) {
      const int64_t pick = states.empty() ? 0 : random.below(static_cast<int64_t>(states.size()));
      switch (random.below(5)) {
        case 0:
          states.emplace_back(pool);
          break;
        case 1:
          if (!states.empty() && states.size() < 20)
            states.push_back(states[static_cast<size_t>(pick)].fork());
          break;
        case 2:
        case 3:
          if (!states.empty()) {
            AttentionState& s = states[static_cast<size_t>(pick)];
            const int64_t rows = 1 + random.below(90);
            if (s.reserve(rows)) s.advance(rows);
          }
          break;
        default:
          if (!states.empty()) {
            AttentionState& s = states[static_cast<size_t>(pick)];
            s.truncate(s.length() - std::min<int64_t>(s.length(), random.below(2)));
          }
      }
      if (states.size() > 12) states.pop_back();
    }
  }
  CHECK(pool.used_bytes() == 0);
}

TEST_CASE("step: positions continue each sequence, tables name its pages") {
  PagePool pool(two_kinds(), DType::kF32, 4 << 20);
  AttentionState a(pool);
  AttentionState b(pool);
  REQUIRE(a.reserve(70));
  a.advance(70);
  REQUIRE(a.reserve(1));
  REQUIRE(b.reserve(3));
  const std::vector<int32_t> tokens = {7, 1, 2, 3};
  const std::vector<Slice> slices = {{&a, 0, 1}, {&b, 1, 3}};
  const StepContext step(pool, tokens, slices);
  const auto positions = step.positions().span<int32_t>();
  CHECK(std::vector<int32_t>(positions.begin(), positions.end()) ==
        std::vector<int32_t>{70, 0, 1, 2});
  const SliceTable& table = step.layer(1).slices();
  CHECK(step.layer(1).window() == 100);
  CHECK(table.pages.dim(1) == 2);
  CHECK(table.pages.span<int32_t>()[2] == b.pages(1)[0]);
  CHECK(table.pages.span<int32_t>()[3] == -1);
  CHECK(table.slices.span<int32_t>()[4] == 1);
}

}  // namespace
}  // namespace hearth
