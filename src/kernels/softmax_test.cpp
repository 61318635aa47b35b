#include "kernels/softmax.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/table.h"
#include "support/floats.h"

namespace hearth::kernels {
namespace {

using test_support::first_difference;
using test_support::kInfinity;
using test_support::kNaN;
using test_support::normal_floats;

constexpr int64_t kWidths[] = {1, 3, 15, 16, 17, 63, 64, 1000, 32001};

TEST_CASE("softmax and logsumexp follow their formulas, the same bits on every target") {
  const RunnableTables runnable = runnable_tables();
  for (const int64_t cols : kWidths) {
    CAPTURE(cols);
    const int64_t rows = 2;
    const int64_t stride = cols + 3;
    std::vector<float> x = normal_floats(rows * stride, static_cast<uint64_t>(cols), 6.0F);
    if (cols > 2) x[1] = -kInfinity;
    std::vector<float> want(x.size(), 9.0F);
    std::vector<float> want_lse(static_cast<size_t>(rows));
    kPortable.softmax({x.data(), want.data(), rows, cols, stride, stride});
    kPortable.logsumexp({x.data(), want_lse.data(), rows, cols, stride});
    for (int64_t r = 0; r < rows; ++r) {
      const float* row = x.data() + r * stride;
      const double m = static_cast<double>(*std::max_element(row, row + cols));
      double total = 0.0;
      for (int64_t c = 0; c < cols; ++c) total += std::exp(static_cast<double>(row[c]) - m);
      for (int64_t c = 0; c < cols; ++c) {
        const double p = std::exp(static_cast<double>(row[c]) - m) / total;
        CHECK(std::abs(static_cast<double>(want[r * stride + c]) - p) <= 6e-6 * p);
      }
      CHECK(static_cast<double>(want_lse[r]) == doctest::Approx(m + std::log(total)).epsilon(1e-6));
      CHECK(want[r * stride + cols] == 9.0F);
    }
    for (int i = 0; i < runnable.count; ++i) {
      const KernelTable& t = *runnable.tables[i];
      std::vector<float> got(x.size(), 9.0F);
      std::vector<float> lse(want_lse.size());
      t.softmax({x.data(), got.data(), rows, cols, stride, stride});
      t.logsumexp({x.data(), lse.data(), rows, cols, stride});
      CHECK(first_difference(got, want) == -1);
      CHECK(first_difference(lse, want_lse) == -1);
      std::vector<float> in_place(x.begin(), x.begin() + cols);
      t.softmax({in_place.data(), in_place.data(), 1, cols, cols, cols});
      CHECK(first_difference(in_place, {want.begin(), want.begin() + cols}) == -1);
    }
  }
}

TEST_CASE("logsumexp of nothing, of -inf, of +inf and of NaN") {
  const RunnableTables runnable = runnable_tables();
  for (int i = 0; i < runnable.count; ++i) {
    const KernelTable& t = *runnable.tables[i];
    const std::vector<float> x = {-kInfinity, -kInfinity, 1.0F, kInfinity, 1.0F, kNaN, kNaN, kNaN};
    std::vector<float> y(4);
    t.logsumexp({x.data(), y.data(), 4, 2, 2});
    CHECK(y[0] == -kInfinity);
    CHECK(y[1] == kInfinity);
    CHECK(std::isnan(y[2]));
    CHECK(std::isnan(y[3]));
    t.logsumexp({x.data(), y.data(), 1, 0, 0});
    CHECK(y[0] == -kInfinity);
  }
}

TEST_CASE("argmax takes the lowest index of the largest value and passes over NaN") {
  const RunnableTables runnable = runnable_tables();
  for (int i = 0; i < runnable.count; ++i) {
    const KernelTable& t = *runnable.tables[i];
    int64_t found = -1;
    for (const int64_t cols : kWidths) {
      std::vector<float> x = normal_floats(cols, 77);
      for (const int64_t at : {int64_t{0}, cols / 3, cols / 2, cols - 1}) {
        std::vector<float> y = x;
        y[at] = 50.0F;
        y[cols - 1] = 50.0F;
        t.argmax({y.data(), &found, 1, cols, cols});
        CHECK(found == at);
      }
      const std::vector<float> nans(static_cast<size_t>(cols), kNaN);
      t.argmax({nans.data(), &found, 1, cols, cols});
      CHECK(found == 0);
      std::vector<float> mixed = nans;
      mixed[cols - 1] = -3.0F;
      t.argmax({mixed.data(), &found, 1, cols, cols});
      CHECK(found == cols - 1);
      const std::vector<float> lowest(static_cast<size_t>(cols), -kInfinity);
      t.argmax({lowest.data(), &found, 1, cols, cols});
      CHECK(found == 0);
    }
    t.argmax({nullptr, &found, 1, 0, 0});
    CHECK(found == 0);
  }
}

}  // namespace
}  // namespace hearth::kernels
