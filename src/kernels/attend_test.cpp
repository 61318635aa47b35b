// Attention against a plain double-precision reference, and its order promise bit by bit.
#include "kernels/attend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/table.h"
#include "support/floats.h"
#include "support/paged_sequence.h"

namespace hearth::kernels {
namespace {

using test_support::first_difference;
using test_support::kInfinity;
using test_support::kNaN;
using test_support::normal_floats;
using test_support::PagedSequence;

struct Options {
  int64_t window = 0;
  float softcap = 0.0F;
  bool has_sinks = false;
};

// A sequence of `length` tokens in pages, its queries, and how to attend.
struct Case {
  codec::KvPageLayout layout;
  int64_t group_size;
  int64_t length;
  Options options;
  float scale;
  PagedSequence sequence;
  std::vector<float> q;      // [length, Nq, k_dim]
  std::vector<float> sinks;  // [Nq]

  Case(codec::KvPageLayout page_layout, int64_t group, int64_t tokens, Options how,
       uint64_t seed = 1)
      : layout(page_layout),
        group_size(group),
        length(tokens),
        options(how),
        scale(1.0F / std::sqrt(static_cast<float>(layout.k_dim))),
        sequence(layout, tokens, seed),
        q(normal_floats(tokens * heads() * layout.k_dim, seed + 100, 1.5F)),
        sinks(normal_floats(heads(), seed + 200)) {}

  int64_t heads() const { return layout.kv_heads * group_size; }

  AttendArgs args(int64_t first, int64_t rows, int64_t kv_head, float* y,
                  std::vector<float>& scratch) const {
    scratch.resize(static_cast<size_t>(attend_scratch_floats(layout)), kNaN);
    return {.q = q.data() + first * heads() * layout.k_dim,
            .y = y + first * heads() * layout.v_dim,
            .q_row_stride = heads() * layout.k_dim,
            .y_row_stride = heads() * layout.v_dim,
            .pages = sequence.pages(),
            .layout = layout,
            .kv_head = kv_head,
            .group_size = group_size,
            .rows = rows,
            .first_position = first,
            .scale = scale,
            .window = options.window,
            .softcap = options.softcap,
            .sinks = options.has_sinks ? sinks.data() : nullptr,
            .scratch = scratch.data()};
  }

  // Rows [first, first + rows) in chunks of `chunk`; the rest of the result stays NaN.
  std::vector<float> run(const KernelTable& t, int64_t first, int64_t rows, int64_t chunk) const {
    std::vector<float> y(static_cast<size_t>(length * heads() * layout.v_dim), kNaN);
    std::vector<float> scratch;
    for (int64_t at = first; at < first + rows; at += chunk) {
      const int64_t count = std::min(chunk, first + rows - at);
      for (int64_t h = 0; h < layout.kv_heads; ++h) t.attend(args(at, count, h, y.data(), scratch));
    }
    return y;
  }

  // The same through attend_range and attend_merge, ranges in reverse order.
  std::vector<float> run_in_ranges(const KernelTable& t, int64_t first, int64_t rows) const {
    std::vector<float> y(static_cast<size_t>(length * heads() * layout.v_dim), kNaN);
    std::vector<float> scratch;
    const AttendRanges ranges = attend_ranges(first, rows, options.window);
    const int64_t size = rows * group_size * attend_partial_stride(layout);
    std::vector<float> partials(static_cast<size_t>(size * ranges.count), kNaN);
    for (int64_t h = 0; h < layout.kv_heads; ++h) {
      const AttendArgs a = args(first, rows, h, y.data(), scratch);
      for (int64_t i = ranges.count - 1; i >= 0; --i) {
        t.attend_range(
            {.attend = a, .range = ranges.first + i, .partial = partials.data() + i * size});
      }
      t.attend_merge(
          {.attend = a, .partials = partials.data(), .range_stride = size, .ranges = ranges.count});
    }
    return y;
  }

  double score(int64_t position, int64_t head, int64_t j) const {
    double s = 0.0;
    for (int64_t d = 0; d < layout.k_dim; ++d) {
      s += static_cast<double>(q[(position * heads() + head) * layout.k_dim + d]) *
           sequence.k(j, head / group_size, d);
    }
    s *= static_cast<double>(scale);
    const double cap = static_cast<double>(options.softcap);
    return cap > 0.0 ? cap * std::tanh(s / cap) : s;
  }

  // One row and head of the result, by definition.
  std::vector<double> reference(int64_t position, int64_t head) const {
    const int64_t oldest =
        options.window > 0 ? std::max<int64_t>(0, position - options.window + 1) : 0;
    std::vector<double> s;
    double m = options.has_sinks ? static_cast<double>(sinks[head])
                                 : -std::numeric_limits<double>::infinity();
    for (int64_t j = oldest; j <= position; ++j) {
      s.push_back(score(position, head, j));
      m = std::max(m, s.back());
    }
    double total = options.has_sinks ? std::exp(static_cast<double>(sinks[head]) - m) : 0.0;
    std::vector<double> y(static_cast<size_t>(layout.v_dim));
    for (int64_t j = oldest; j <= position; ++j) {
      const double p = std::exp(s[j - oldest] - m);
      total += p;
      for (int64_t d = 0; d < layout.v_dim; ++d) y[d] += p * sequence.v(j, head / group_size, d);
    }
    for (double& x : y) x /= total;
    return y;
  }

  // Largest deviation from the reference over some rows.
  double error(const std::vector<float>& y, const std::vector<int64_t>& rows) const {
    double worst = 0.0;
    for (const int64_t row : rows) {
      for (int64_t head = 0; head < heads(); ++head) {
        const std::vector<double> want = reference(row, head);
        for (int64_t d = 0; d < layout.v_dim; ++d) {
          const double got = static_cast<double>(y[(row * heads() + head) * layout.v_dim + d]);
          const double off = std::abs(got - want[d]);
          worst = off <= worst ? worst : off;  // NaN counts as worse
        }
      }
    }
    return worst;
  }
};

constexpr DType kPageTypes[] = {DType::kF32, DType::kBF16, DType::kF16};
const Options kOptions[] = {{},
                            {.window = 5},
                            {.window = 70},
                            {.softcap = 3.0F},
                            {.has_sinks = true},
                            {.window = 64, .softcap = 20.0F, .has_sinks = true}};

TEST_CASE(
    "attention agrees with the reference over head sizes, groups, windows, caps, sinks and "
    "codecs") {
  const RunnableTables runnable = runnable_tables();
  const std::vector<int64_t> rows = {0, 1, 4, 5, 62, 63, 64, 65, 70, 127, 128, 133};
  const int64_t dims[][2] = {{8, 8}, {20, 20}, {64, 64}, {80, 72}, {128, 128}, {192, 128}, {7, 3}};
  uint64_t seed = 1;
  for (const auto& [k_dim, v_dim] : dims) {
    for (const int64_t group : {1, 3, 4, 7}) {
      for (const Options& options : kOptions) {
        const DType dtype = kPageTypes[seed % 3];
        const Case c({.dtype = dtype, .kv_heads = 2, .k_dim = k_dim, .v_dim = v_dim}, group, 134,
                     options, ++seed);
        CAPTURE(k_dim);
        CAPTURE(group);
        CAPTURE(options.window);
        for (int i = 0; i < runnable.count; ++i) {
          CAPTURE(runnable.tables[i]->target);
          const std::vector<float> y = c.run(*runnable.tables[i], 0, c.length, c.length);
          CHECK(c.error(y, rows) <= 3e-6);
        }
      }
    }
  }
}

TEST_CASE("attention is right for large heads and across ranges") {
  const Case large({.dtype = DType::kBF16, .kv_heads = 1, .k_dim = 512, .v_dim = 512}, 2, 70, {},
                   4);
  CHECK(large.error(large.run(table(), 0, 70, 70), {0, 33, 63, 64, 69}) <= 3e-6);
  for (const Options& options :
       {Options{}, Options{.window = 600}, Options{.window = 100, .has_sinks = true}}) {
    const Case deep({.dtype = DType::kF16, .kv_heads = 1, .k_dim = 32, .v_dim = 32}, 4, 1200,
                    options, 5);
    CHECK(deep.error(deep.run(table(), 0, 1200, 1200),
                     {0, 511, 512, 575, 1023, 1024, 1100, 1199}) <= 3e-6);
  }
}

TEST_CASE("attention has the same bits on every target") {
  const RunnableTables runnable = runnable_tables();
  uint64_t seed = 50;
  for (const DType dtype : kPageTypes) {
    for (const int64_t group : {1, 2, 5, 6, 8, 13}) {
      const Options& options = kOptions[seed % 6];
      const Case c({.dtype = dtype, .kv_heads = 1, .k_dim = 40, .v_dim = 24}, group, 150, options,
                   ++seed);
      const std::vector<float> want = c.run(kPortable, 0, c.length, c.length);
      for (int i = 0; i < runnable.count; ++i) {
        CAPTURE(runnable.tables[i]->target);
        CHECK(first_difference(c.run(*runnable.tables[i], 0, c.length, c.length), want) == -1);
      }
    }
  }
}

TEST_CASE("a row has the same bits however rows are chunked and ranges are spread") {
  uint64_t seed = 80;
  for (const DType dtype : kPageTypes) {
    for (const int64_t group : {1, 4, 7}) {
      for (const Options& options :
           {Options{}, Options{.window = 100}, Options{.softcap = 5.0F, .has_sinks = true}}) {
        const Case c({.dtype = dtype, .kv_heads = 2, .k_dim = 48, .v_dim = 40}, group, 1100,
                     options, ++seed);
        const std::vector<float> whole = c.run(table(), 0, c.length, c.length);
        for (const int64_t chunk : {int64_t{1}, int64_t{7}, int64_t{64}, int64_t{500}}) {
          CAPTURE(chunk);
          const int64_t first = chunk == 1 ? 1000 : 0;  // single rows: the last hundred are enough
          std::vector<float> want = whole;
          std::fill(want.begin(), want.begin() + first * c.heads() * 40, kNaN);
          CHECK(first_difference(c.run(table(), first, c.length - first, chunk), want) == -1);
        }
        std::vector<float> last(whole.size(), kNaN);
        std::copy(whole.end() - 3 * c.heads() * 40, whole.end(), last.end() - 3 * c.heads() * 40);
        CHECK(first_difference(c.run_in_ranges(table(), c.length - 3, 3), last) == -1);
        CHECK(first_difference(c.run_in_ranges(table(), 0, c.length), whole) == -1);
      }
    }
  }
}

TEST_CASE("tokens after a row, and pages that its window left, never influence it") {
  const RunnableTables runnable = runnable_tables();
  for (const DType dtype : kPageTypes) {
    for (const int64_t window : {0, 80}) {
      const Case c({.dtype = dtype, .kv_heads = 1, .k_dim = 24, .v_dim = 20}, 3, 300,
                   {.window = window}, 9);
      for (int i = 0; i < runnable.count; ++i) {
        const KernelTable& t = *runnable.tables[i];
        const std::vector<float> whole = c.run(t, 0, c.length, c.length);
        // Poisoned: everything from token 200 on, in the middle of a page.
        Case poisoned = c;
        poisoned.sequence.fill(200, 300, kNaN);
        std::vector<float> y = poisoned.run(t, 0, 300, 300);
        CHECK(first_difference({y.begin(), y.begin() + 200 * 60},
                               {whole.begin(), whole.begin() + 200 * 60}) == -1);
        CHECK(std::isnan(y[200 * 60]));
        poisoned.sequence.fill(200, 300, kInfinity);
        y = poisoned.run(t, 190, 10, 10);
        CHECK(first_difference({y.begin() + 190 * 60, y.begin() + 200 * 60},
                               {whole.begin() + 190 * 60, whole.begin() + 200 * 60}) == -1);
        if (window == 0) continue;
        // Rows 210.. see tokens 131.. only: the pages before are gone, the tokens before in its page are NaN.
        Case slid = c;
        slid.sequence.fill(0, 131, kNaN);
        slid.sequence.drop_page(0);
        slid.sequence.drop_page(1);
        y = slid.run(t, 210, 90, 90);
        CHECK(first_difference({y.begin() + 210 * 60, y.end()},
                               {whole.begin() + 210 * 60, whole.end()}) == -1);
      }
    }
  }
}

TEST_CASE("zero rows touch nothing") {
  const Case c({.dtype = DType::kF32, .kv_heads = 1, .k_dim = 8, .v_dim = 8}, 1, 4, {}, 3);
  for (const float y : c.run(table(), 2, 0, 1)) CHECK(std::isnan(y));
  std::vector<float> scratch;
  std::vector<float> y(32, kNaN);
  AttendArgs args = c.args(0, 0, 0, y.data(), scratch);
  args.q = nullptr;
  args.pages = nullptr;
  table().attend(args);
  CHECK(std::isnan(y[0]));
}

}  // namespace
}  // namespace hearth::kernels
