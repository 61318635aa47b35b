#include "kernels/norm.h"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "base/half.h"
#include "kernels/gather.h"
#include "kernels/table.h"
#include "support/floats.h"

namespace hearth::kernels {
namespace {

using test_support::first_difference;
using test_support::normal_floats;

// An array of one of the three stored types, and its values widened.
struct Stored {
  DType dtype;
  std::vector<float> floats;
  std::vector<uint16_t> halves;

  Stored(DType type, int64_t n, uint64_t seed) : dtype(type), floats(normal_floats(n, seed)) {
    for (float& x : floats) {
      if (dtype == DType::kBF16) {
        halves.push_back(to_bf16(x).bits);
        x = to_float(bf16{halves.back()});
      } else if (dtype == DType::kF16) {
        halves.push_back(to_f16(x).bits);
        x = to_float(f16{halves.back()});
      }
    }
  }
  const void* data() const {
    return dtype == DType::kF32 ? static_cast<const void*>(floats.data()) : halves.data();
  }
};

constexpr DType kStoredTypes[] = {DType::kF32, DType::kBF16, DType::kF16};
constexpr int64_t kWidths[] = {1, 2, 15, 16, 17, 64, 100, 257};

TEST_CASE("rms_norm follows its formula, strides respected, the same bits on every target") {
  const RunnableTables runnable = runnable_tables();
  for (const DType dtype : kStoredTypes) {
    for (const int64_t cols : kWidths) {
      const int64_t rows = 3;
      const int64_t stride = cols + 5;
      const std::vector<float> x = normal_floats(rows * stride, static_cast<uint64_t>(cols));
      const Stored w(dtype, cols, 2);
      std::vector<float> want(x.size(), 7.0F);
      kPortable.rms_norm(
          {x.data(), w.data(), dtype, want.data(), rows, cols, stride, stride, 1e-5F});
      for (int64_t r = 0; r < rows; ++r) {
        double squares = 0.0;
        for (int64_t c = 0; c < cols; ++c)
          squares += std::pow(static_cast<double>(x[r * stride + c]), 2);
        const double inverse = 1.0 / std::sqrt(squares / static_cast<double>(cols) + 1e-5);
        for (int64_t c = 0; c < cols; ++c) {
          const double y =
              static_cast<double>(x[r * stride + c]) * inverse * static_cast<double>(w.floats[c]);
          CHECK(std::abs(static_cast<double>(want[r * stride + c]) - y) <=
                1e-6 * (std::abs(y) + 1e-3));
        }
        for (int64_t c = cols; c < stride; ++c) CHECK(want[r * stride + c] == 7.0F);
      }
      for (int i = 0; i < runnable.count; ++i) {
        std::vector<float> got(x.size(), 7.0F);
        runnable.tables[i]->rms_norm(
            {x.data(), w.data(), dtype, got.data(), rows, cols, stride, stride, 1e-5F});
        CHECK(first_difference(got, want) == -1);
      }
    }
  }
}

TEST_CASE(
    "rms_norm without weight is the one with ones, works in place and does nothing for zero rows") {
  const std::vector<float> x = normal_floats(50, 3);
  const std::vector<float> ones(50, 1.0F);
  std::vector<float> a(50);
  table().rms_norm({x.data(), ones.data(), DType::kF32, a.data(), 1, 50, 50, 50, 1e-6F});
  std::vector<float> b = x;
  table().rms_norm({b.data(), nullptr, DType::kF32, b.data(), 0, 50, 50, 50, 1e-6F});
  CHECK(first_difference(b, x) == -1);
  table().rms_norm({b.data(), nullptr, DType::kF32, b.data(), 1, 50, 50, 50, 1e-6F});
  CHECK(first_difference(a, b) == -1);
}

TEST_CASE(
    "layer_norm follows its formula, with and without weight and bias, the same bits on every "
    "target") {
  const RunnableTables runnable = runnable_tables();
  for (const DType dtype : kStoredTypes) {
    for (const int64_t cols : kWidths) {
      const int64_t rows = 2;
      std::vector<float> x = normal_floats(rows * cols, static_cast<uint64_t>(cols) + 50);
      for (float& v : x) v += 3.0F;
      const Stored w(dtype, cols, 4);
      const Stored b(dtype, cols, 5);
      for (const bool is_affine : {false, true}) {
        const void* weight = is_affine ? w.data() : nullptr;
        const void* bias = is_affine ? b.data() : nullptr;
        std::vector<float> want(x.size());
        kPortable.layer_norm(
            {x.data(), weight, bias, dtype, want.data(), rows, cols, cols, cols, 1e-5F});
        for (int64_t r = 0; r < rows; ++r) {
          double mean = 0.0;
          for (int64_t c = 0; c < cols; ++c)
            mean += static_cast<double>(x[r * cols + c]) / static_cast<double>(cols);
          double variance = 0.0;
          for (int64_t c = 0; c < cols; ++c) {
            variance += std::pow(static_cast<double>(x[r * cols + c]) - mean, 2) /
                        static_cast<double>(cols);
          }
          for (int64_t c = 0; c < cols; ++c) {
            double y = (static_cast<double>(x[r * cols + c]) - mean) / std::sqrt(variance + 1e-5);
            if (is_affine)
              y = y * static_cast<double>(w.floats[c]) + static_cast<double>(b.floats[c]);
            CHECK(std::abs(static_cast<double>(want[r * cols + c]) - y) <= 1e-5);
          }
        }
        for (int i = 0; i < runnable.count; ++i) {
          std::vector<float> got = x;
          runnable.tables[i]->layer_norm(
              {got.data(), weight, bias, dtype, got.data(), rows, cols, cols, cols, 1e-5F});
          CHECK(first_difference(got, want) == -1);
        }
      }
    }
  }
}

TEST_CASE("gather_rows widens the rows that the ids name") {
  const RunnableTables runnable = runnable_tables();
  for (const DType dtype : kStoredTypes) {
    for (const int64_t cols : kWidths) {
      const Stored w(dtype, 9 * cols, 6);
      const std::vector<int32_t> ids = {8, 0, 3, 3};
      for (int i = 0; i < runnable.count; ++i) {
        std::vector<float> y(static_cast<size_t>(4 * cols));
        runnable.tables[i]->gather_rows({w.data(), dtype, ids.data(), y.data(), 4, cols});
        for (int64_t r = 0; r < 4; ++r) {
          for (int64_t c = 0; c < cols; ++c) CHECK(y[r * cols + c] == w.floats[ids[r] * cols + c]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace hearth::kernels
