#include "kernels/rope.h"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/table.h"
#include "support/floats.h"

namespace hearth::kernels {
namespace {

using test_support::first_difference;
using test_support::normal_floats;
using test_support::ulp_error;

struct Table {
  std::vector<float> cos, sin;

  Table(const KernelTable& t, const std::vector<int32_t>& positions,
        const std::vector<float>& inv_freq, float scale)
      : cos(positions.size() * inv_freq.size()), sin(cos.size()) {
    t.rope_table({positions.data(), inv_freq.data(), scale, cos.data(), sin.data(),
                  static_cast<int64_t>(positions.size()), static_cast<int64_t>(inv_freq.size())});
  }
};

std::vector<float> default_inv_freq(int64_t pairs, double base) {
  std::vector<float> f;
  for (int64_t j = 0; j < pairs; ++j) {
    f.push_back(
        static_cast<float>(std::pow(base, -static_cast<double>(j) / static_cast<double>(pairs))));
  }
  return f;
}

TEST_CASE(
    "cos and sin are within one ulp for every angle a position can give, and equal on every "
    "target") {
  std::vector<int32_t> positions = {0,      1,      2,        3,          1000, 32767,
                                    131071, 999999, 16777217, 2147483647, -5};
  for (int32_t p = 4; p < 3000; p += 7) positions.push_back(p);
  const std::vector<float> inv_freq = default_inv_freq(48, 10000.0);
  for (const float scale : {1.0F, 0.25F}) {
    const Table want(kPortable, positions, inv_freq, scale);
    double worst = 0.0;
    for (size_t t = 0; t < positions.size(); ++t) {
      for (size_t j = 0; j < inv_freq.size(); ++j) {
        const float position = scale * static_cast<float>(positions[t]);
        const double angle = static_cast<double>(position * inv_freq[j]);
        const size_t at = t * inv_freq.size() + j;
        worst = std::max(worst, ulp_error(want.cos[at], std::cos(angle)));
        worst = std::max(worst, ulp_error(want.sin[at], std::sin(angle)));
      }
    }
    CHECK(worst <= 0.51);
    const RunnableTables runnable = runnable_tables();
    for (int i = 0; i < runnable.count; ++i) {
      const Table got(*runnable.tables[i], positions, inv_freq, scale);
      CHECK(first_difference(got.cos, want.cos) == -1);
      CHECK(first_difference(got.sin, want.sin) == -1);
    }
  }
}

TEST_CASE("rope rotates pairs and copies the rest, the same bits on every target and in place") {
  const RunnableTables runnable = runnable_tables();
  const std::vector<int32_t> positions = {0, 5, 31};
  for (const int64_t head_dim : {8, 20, 64, 80, 128}) {
    for (const int64_t pairs : {head_dim / 4, head_dim / 2}) {
      for (const bool interleaved : {false, true}) {
        CAPTURE(head_dim);
        CAPTURE(pairs);
        CAPTURE(interleaved);
        const int64_t heads = 3;
        const int64_t stride = heads * head_dim + 4;
        const std::vector<float> x = normal_floats(3 * stride, 8);
        const Table table_(kPortable, positions, default_inv_freq(pairs, 500.0), 1.0F);
        const float input_scale = 1.25F;
        std::vector<float> want(x.size(), 5.0F);
        const auto args = [&](const float* from, float* to, float sign) {
          return RopeArgs{from,
                          table_.cos.data(),
                          table_.sin.data(),
                          to,
                          3,
                          heads,
                          head_dim,
                          pairs,
                          stride,
                          stride,
                          input_scale,
                          sign,
                          interleaved};
        };
        kPortable.rope(args(x.data(), want.data(), 1.0F));
        for (int64_t t = 0; t < 3; ++t) {
          for (int64_t h = 0; h < heads; ++h) {
            const int64_t head = t * stride + h * head_dim;
            for (int64_t j = 0; j < pairs; ++j) {
              const int64_t ia = head + (interleaved ? 2 * j : j);
              const int64_t ib = head + (interleaved ? 2 * j + 1 : j + pairs);
              const double a = 1.25 * static_cast<double>(x[ia]);
              const double b = 1.25 * static_cast<double>(x[ib]);
              const double c = static_cast<double>(table_.cos[t * pairs + j]);
              const double s = static_cast<double>(table_.sin[t * pairs + j]);
              CHECK(std::abs(static_cast<double>(want[ia]) - (a * c - b * s)) <= 1e-6);
              CHECK(std::abs(static_cast<double>(want[ib]) - (a * s + b * c)) <= 1e-6);
            }
            for (int64_t d = 2 * pairs; d < head_dim; ++d) CHECK(want[head + d] == x[head + d]);
          }
          for (int64_t d = heads * head_dim; d < stride; ++d) CHECK(want[t * stride + d] == 5.0F);
        }
        for (int i = 0; i < runnable.count; ++i) {
          std::vector<float> got(x.size(), 5.0F);
          runnable.tables[i]->rope(args(x.data(), got.data(), 1.0F));
          CHECK(first_difference(got, want) == -1);
          std::vector<float> in_place = x;
          runnable.tables[i]->rope(args(in_place.data(), in_place.data(), 1.0F));
          for (size_t d = 0; d < x.size(); ++d) {
            if (want[d] != 5.0F) CHECK(in_place[d] == want[d]);
          }
          // Backwards with the same scale: the rotation undone, the scale twice.
          runnable.tables[i]->rope(args(want.data(), got.data(), -1.0F));
          for (int64_t j = 0; j < 2 * pairs; ++j)
            CHECK(got[j] == doctest::Approx(static_cast<double>(x[j]) * 1.5625).epsilon(1e-5));
        }
      }
    }
  }
}

}  // namespace
}  // namespace hearth::kernels
