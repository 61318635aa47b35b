// Products with f32 activations, on every target, against the order that dense_linear.h promises.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "base/random.h"
#include "kernels/affine_linear.h"
#include "kernels/dense_linear.h"
#include "kernels/table.h"
#include "support/affine_matrix.h"

namespace hearth::kernels {
namespace {

using test_support::AffineMatrix;
using test_support::Scratch;

bool same_bits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

std::vector<float> random(int64_t count, SplitMix64& rng) {
  std::vector<float> v(static_cast<size_t>(count));
  for (float& x : v) x = rng.normal();
  return v;
}

// A dense matrix in a buffer of exactly its size; `values` are what the stored elements widen to.
struct Dense {
  std::vector<float> values;
  DType dtype;
  std::unique_ptr<uint16_t[]> halves;

  Dense(std::vector<float> w, DType type) : values(std::move(w)), dtype(type) {
    if (dtype == DType::kF32) return;
    halves = std::make_unique<uint16_t[]>(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      halves[i] = dtype == DType::kBF16 ? to_bf16(values[i]).bits : to_f16(values[i]).bits;
      values[i] = dtype == DType::kBF16 ? to_float(bf16{halves[i]}) : to_float(f16{halves[i]});
    }
  }
  const void* data() const {
    return dtype == DType::kF32 ? static_cast<const void*>(values.data()) : halves.get();
  }
};

float dot_by_definition(const float* x, const float* w, int64_t k) {
  float lanes[8] = {};
  for (int64_t i = 0; i < (k + 7) / 8 * 8; ++i) {
    lanes[i % 8] = std::fma(i < k ? x[i] : 0.0F, i < k ? w[i] : 0.0F, lanes[i % 8]);
  }
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

std::vector<float> by_definition(const std::vector<float>& x, const std::vector<float>& w,
                                 const float* bias, int64_t m, int64_t n, int64_t k) {
  std::vector<float> y;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const float total = dot_by_definition(x.data() + i * k, w.data() + j * k, k);
      y.push_back(bias == nullptr ? total : total + bias[j]);
    }
  }
  return y;
}

std::vector<float> dx_by_definition(const std::vector<float>& dy, const std::vector<float>& w,
                                    int64_t m, int64_t n, int64_t k) {
  std::vector<float> dx(static_cast<size_t>(m * k), 0.0F);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t c = 0; c < k; ++c) {
        float& sum = dx[static_cast<size_t>(i * k + c)];
        sum = std::fma(dy[static_cast<size_t>(i * n + j)], w[static_cast<size_t>(j * k + c)], sum);
      }
    }
  }
  return dx;
}

void check_equal(const std::vector<float>& got, const std::vector<float>& want) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) REQUIRE(same_bits(got[i], want[i]));
}

template <class Body>
void for_each_target(const Body& body) {
  const RunnableTables runnable = runnable_tables();
  for (int i = 0; i < runnable.count; ++i) {
    CAPTURE(runnable.tables[i]->target);
    body(*runnable.tables[i]);
  }
}

TEST_CASE("dense_linear: every dtype and any k gives the promised bits in any batch and split") {
  SplitMix64 rng(41);
  const Scratch scratch(kLinearScratchBytes);
  const int64_t n = 29;
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (const int64_t k : {0, 1, 7, 8, 12, 32, 172, 512, 519, 1100}) {
      CAPTURE(k);
      const Dense w(random(n * k, rng), dtype);
      const std::vector<float> bias = random(n, rng);
      for (const int64_t m : {1, 2, 3, 4, 6, 139}) {
        if (m == 139 && k != 519) continue;  // more tokens than a block, once
        CAPTURE(m);
        const std::vector<float> x = random(m * k, rng);
        const std::vector<float> want = by_definition(x, w.values, bias.data(), m, n, k);
        for_each_target([&](const KernelTable& t) {
          std::vector<float> y(want.size(), -7.0F);
          for (const auto& [from, to] : {std::pair<int64_t, int64_t>{0, 2}, {2, 28}, {28, 29}}) {
            t.dense_linear({x.data(), w.data(), dtype, bias.data(), y.data(), m, from, to, k, k, n,
                            scratch.get()});
          }
          check_equal(y, want);
        });
      }
    }
  }
}

TEST_CASE("affine_linear_exact equals the product with the dequantized matrix, bit for bit") {
  SplitMix64 rng(42);
  const Scratch scratch(kLinearScratchBytes);
  const int64_t n = 29;
  const DType types[] = {DType::kBF16, DType::kF16, DType::kF32};
  int next_type = 0;
  for (const int bits : {2, 3, 4, 5, 6, 8}) {
    for (const int64_t group : {32, 64, 128}) {
      for (const int64_t groups : {1, 3, 9}) {
        CAPTURE(bits);
        CAPTURE(group);
        CAPTURE(groups);
        const int64_t k = groups * group;
        const AffineMatrix w(n, k, {bits, group}, types[next_type++ % 3], rng);
        const std::vector<float> dequantized = w.dequantized();
        for (const int64_t m : {1, 2, 3, 5, 8}) {
          const std::vector<float> x = random(m * k, rng);
          const std::vector<float> want = by_definition(x, dequantized, nullptr, m, n, k);
          for_each_target([&](const KernelTable& t) {
            std::vector<float> y(want.size(), -7.0F);
            t.affine_linear_exact(
                {x.data(), w.view(), nullptr, y.data(), m, 0, m, k, n, scratch.get()});
            t.affine_linear_exact(
                {x.data(), w.view(), nullptr, y.data(), m, m, n, k, n, scratch.get()});
            check_equal(y, want);
          });
        }
        for_each_target([&](const KernelTable& t) {
          std::vector<float> rows(static_cast<size_t>(n * k));
          t.affine_dequantize({w.view(), 0, 7, rows.data()});
          t.affine_dequantize({w.view(), 7, n, rows.data() + 7 * k});
          check_equal(rows, dequantized);
        });
      }
    }
  }
}

TEST_CASE("dx products add one fma per row in order, in any batch and split of columns") {
  SplitMix64 rng(43);
  const Scratch scratch(kLinearScratchBytes);
  for (const int64_t n : {0, 1, 37, 300}) {
    for (const int64_t m : {1, 4, 7}) {
      CAPTURE(n);
      CAPTURE(m);
      const std::vector<float> dy = random(m * n, rng);
      for (const int64_t k : {1, 172, 224}) {
        for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
          const Dense w(random(n * k, rng), dtype);
          const std::vector<float> want = dx_by_definition(dy, w.values, m, n, k);
          for_each_target([&](const KernelTable& t) {
            std::vector<float> dx(want.size(), -7.0F);
            t.dense_linear_dx(
                {dy.data(), w.data(), dtype, dx.data(), m, n, k, 0, k / 3, n, k, scratch.get()});
            t.dense_linear_dx(
                {dy.data(), w.data(), dtype, dx.data(), m, n, k, k / 3, k, n, k, scratch.get()});
            check_equal(dx, want);
          });
        }
      }
      for (const int bits : {2, 3, 4, 5, 6, 8}) {
        const AffineMatrix w(n, 256, {bits, 64}, DType::kBF16, rng);
        const std::vector<float> want = dx_by_definition(dy, w.dequantized(), m, n, 256);
        for_each_target([&](const KernelTable& t) {
          std::vector<float> dx(want.size(), -7.0F);
          t.affine_linear_dx({dy.data(), w.view(), dx.data(), m, 0, 96, n, 256, scratch.get()});
          t.affine_linear_dx({dy.data(), w.view(), dx.data(), m, 96, 256, n, 256, scratch.get()});
          check_equal(dx, want);
        });
      }
    }
  }
}

TEST_CASE("NaN and infinity reach the outputs of their row or weight and no other") {
  SplitMix64 rng(44);
  const Scratch scratch(kLinearScratchBytes);
  const int64_t k = 100;
  std::vector<float> x = random(5 * k, rng);
  std::vector<float> w = random(7 * k, rng);
  x[static_cast<size_t>(2 * k + 99)] = std::numeric_limits<float>::quiet_NaN();
  w[static_cast<size_t>(3 * k + 50)] = std::numeric_limits<float>::infinity();
  for_each_target([&](const KernelTable& t) {
    std::vector<float> y(35);
    t.dense_linear(
        {x.data(), w.data(), DType::kF32, nullptr, y.data(), 5, 0, 7, k, k, 7, scratch.get()});
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 7; ++j) {
        const float value = y[static_cast<size_t>(i * 7 + j)];
        CHECK(std::isnan(value) == (i == 2));
        CHECK(std::isinf(value) == (i != 2 && j == 3));
      }
    }
  });
}

TEST_CASE("strides of x and y are respected, and nothing else is written") {
  SplitMix64 rng(45);
  const Scratch scratch(kLinearScratchBytes);
  const int64_t k = 40;
  const std::vector<float> w = random(6 * k, rng);
  const std::vector<float> wide = random(4 * 50, rng);
  std::vector<float> tight;
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t c = 0; c < k; ++c) tight.push_back(wide[static_cast<size_t>(i * 50 + c)]);
  }
  const std::vector<float> want = by_definition(tight, w, nullptr, 4, 6, k);
  for_each_target([&](const KernelTable& t) {
    std::vector<float> y(4 * 9, -7.0F);
    t.dense_linear(
        {wide.data(), w.data(), DType::kF32, nullptr, y.data(), 4, 1, 5, k, 50, 9, scratch.get()});
    t.dense_linear(
        {wide.data(), w.data(), DType::kF32, nullptr, y.data(), 0, 0, 6, k, 50, 9, scratch.get()});
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t j = 0; j < 9; ++j) {
        const float value = y[static_cast<size_t>(i * 9 + j)];
        if (j >= 1 && j < 5)
          CHECK(value == want[static_cast<size_t>(i * 6 + j)]);
        else
          CHECK(value == -7.0F);
      }
    }
  });
}

}  // namespace
}  // namespace hearth::kernels
