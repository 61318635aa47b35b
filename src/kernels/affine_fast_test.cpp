// The integer products, on every target, against the order that their header promises.
#include "kernels/affine_fast.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "base/random.h"
#include "kernels/dense_linear.h"
#include "kernels/table.h"
#include "support/affine_matrix.h"

namespace hearth::kernels {
namespace {

using test_support::AffineMatrix;
using test_support::Scratch;

constexpr int kAllBits[] = {2, 3, 4, 5, 6, 8};
constexpr int64_t kAllGroups[] = {32, 64, 128};
constexpr DType kScaleTypes[] = {DType::kBF16, DType::kF16, DType::kF32};

bool same_bits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

// The header's formulas, written with a table of codes and no regard for speed.
std::vector<float> by_definition(const std::vector<float>& x, const AffineView& w,
                                 const float* bias, int64_t m) {
  const int64_t groups = w.cols / w.group;
  std::vector<float> y;
  std::vector<uint8_t> codes(static_cast<size_t>(w.cols));
  const auto scale_at = [&](const void* p, int64_t i) {
    if (w.scale_dtype == DType::kF32) return static_cast<const float*>(p)[i];
    const uint16_t bits = static_cast<const uint16_t*>(p)[i];
    return w.scale_dtype == DType::kBF16 ? to_float(bf16{bits}) : to_float(f16{bits});
  };
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t n = 0; n < w.rows; ++n) {
      codec::unpack_codes(w.packed + n * codec::packed_words(w.cols, w.bits), w.cols, w.bits,
                          codes.data());
      float lanes[8] = {};
      for (int64_t g = 0; g < groups; ++g) {
        const float* xg = x.data() + i * w.cols + g * w.group;
        float max = 0.0F;
        bool finite = true;
        for (int64_t k = 0; k < w.group; ++k) {
          max = std::fmax(max, std::fabs(xg[k]));
          finite = finite && std::isfinite(xg[k]);
        }
        const bool is_zero = max < 0x1p-100F;
        int32_t dot = 0;
        int32_t sum = 0;
        for (int64_t k = 0; k < w.group && finite && !is_zero; ++k) {
          const int32_t a = static_cast<int32_t>(std::nearbyint(xg[k] * (127.0F / max)));
          sum += a;
          dot += a * codes[static_cast<size_t>(g * w.group + k)];
        }
        const float d = !finite   ? std::numeric_limits<float>::quiet_NaN()
                        : is_zero ? 0.0F
                                  : max / 127.0F;
        const float sigma = d * static_cast<float>(sum);
        float& lane = lanes[g % 8];
        lane = std::fma(static_cast<float>(dot), scale_at(w.scales, n * groups + g) * d, lane);
        lane = std::fma(scale_at(w.biases, n * groups + g), sigma, lane);
      }
      const float total = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
                          ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
      y.push_back(bias == nullptr ? total : total + bias[n]);
    }
  }
  return y;
}

// y [m, rows] by table t, rows of the output split at `split`.
std::vector<float> run(const KernelTable& t, const std::vector<float>& x, const AffineView& w,
                       const float* bias, int64_t m, int64_t split) {
  const Scratch memory(quantized_activation_bytes(m, w.cols, w.group));
  const QuantizedActivations q =
      place_quantized_activations(memory.get(), m, w.cols, w.bits, w.group);
  t.quantize_activations({x.data(), q, 0, m, w.cols, w.cols});
  const Scratch scratch(affine_linear_fast_scratch_bytes(w.cols, w.group));
  std::vector<float> y(static_cast<size_t>(m * w.rows), -7.0F);
  t.affine_linear_fast({q, w, bias, y.data(), m, 0, split, w.rows, scratch.get()});
  t.affine_linear_fast({q, w, bias, y.data(), m, split, w.rows, w.rows, scratch.get()});
  return y;
}

void check_all_targets(const std::vector<float>& x, const AffineView& w, const float* bias,
                       std::initializer_list<int64_t> batches) {
  const int64_t most = static_cast<int64_t>(x.size()) / w.cols;
  const std::vector<float> want = by_definition(x, w, bias, most);
  const RunnableTables runnable = runnable_tables();
  for (int i = 0; i < runnable.count; ++i) {
    CAPTURE(runnable.tables[i]->target);
    for (const int64_t m : batches) {
      CAPTURE(m);
      const std::vector<float> got = run(*runnable.tables[i], x, w, bias, m, m % w.rows);
      for (size_t at = 0; at < got.size(); ++at) REQUIRE(same_bits(got[at], want[at]));
    }
  }
}

TEST_CASE(
    "affine_fast: every width, group and scale type gives the promised bits in any batch and "
    "split") {
  SplitMix64 rng(31);
  int next_type = 0;
  for (const int bits : kAllBits) {
    for (const int64_t group : kAllGroups) {
      for (const int64_t groups : {1, 3, 8, 12, 17}) {
        const DType dtype = kScaleTypes[next_type++ % 3];
        CAPTURE(bits);
        CAPTURE(group);
        CAPTURE(groups);
        const int64_t cols = groups * group;
        const int64_t rows = 37;
        const AffineMatrix w(rows, cols, {bits, group}, dtype, rng);
        std::vector<float> x(static_cast<size_t>(11 * cols));
        for (float& v : x) v = rng.normal();
        std::vector<float> bias(static_cast<size_t>(rows));
        for (float& v : bias) v = rng.normal();
        check_all_targets(x, w.view(), groups == 3 ? nullptr : bias.data(),
                          {1, 2, 3, 4, 5, 6, 7, 11});
      }
    }
  }
}

TEST_CASE("affine_fast: the largest codes and activations overflow nothing") {
  SplitMix64 rng(32);
  for (const int bits : kAllBits) {
    for (const int64_t group : kAllGroups) {
      CAPTURE(bits);
      CAPTURE(group);
      const int64_t cols = 9 * group;
      const AffineMatrix w(3, cols, {bits, group}, DType::kF32, rng);
      auto* packed = const_cast<uint32_t*>(w.view().packed);
      for (int64_t i = 0; i < 3 * codec::packed_words(cols, bits); ++i) packed[i] = 0xFFFFFFFFU;
      for (const float sign : {1.0F, -1.0F}) {
        const std::vector<float> x(static_cast<size_t>(5 * cols), sign);
        check_all_targets(x, w.view(), nullptr, {1, 5});
      }
      for (int64_t i = 0; i < 3 * codec::packed_words(cols, bits); ++i) packed[i] = 0;
      const std::vector<float> x(static_cast<size_t>(5 * cols), -1.0F);
      check_all_targets(x, w.view(), nullptr, {1, 5});
    }
  }
}

TEST_CASE(
    "affine_fast: NaN, infinity, zero and denormal scales and activations give the promised bits") {
  SplitMix64 rng(33);
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const int bits : {3, 4, 8}) {
    AffineMatrix w(6, 12 * 64, {bits, 64}, DType::kF32, rng);
    w.set(0, 9, 0.0F, 0.0F);
    w.set(1, 0, 1e-40F, -1e-40F);
    w.set(2, 11, kNan, 0.0F);
    w.set(3, 2, kInf, -kInf);
    w.set(4, 3, -0.0F, kNan);
    std::vector<float> x(static_cast<size_t>(6 * 12 * 64));
    for (float& v : x) v = rng.normal();
    const auto fill = [&](int64_t row, int64_t from, int64_t to, float value) {
      for (int64_t k = from; k < to; ++k) x[static_cast<size_t>(row * 768 + k)] = value;
    };
    fill(0, 0, 768, 0.0F);
    fill(1, 700, 701, kNan);
    fill(2, 0, 1, kInf);
    fill(3, 64, 128, 1e-41F);
    fill(4, 0, 768, -1e-38F);
    check_all_targets(x, w.view(), nullptr, {1, 3, 4, 6});
    const std::vector<float> y = run(table(), x, w.view(), nullptr, 6, 3);
    CHECK(y[5] == 0.0F);           // a row of zeros
    CHECK(std::isnan(y[6 + 5]));   // NaN reaches every output of its row
    CHECK(std::isnan(y[12 + 5]));  // so does infinity, as NaN
    CHECK(std::isfinite(y[18 + 5]));
  }
}

TEST_CASE("affine_fast: no tokens and no rows write nothing") {
  SplitMix64 rng(34);
  const AffineMatrix w(4, 64, {4, 64}, DType::kBF16, rng);
  const Scratch memory(quantized_activation_bytes(1, 64, 64));
  const Scratch scratch(affine_linear_fast_scratch_bytes(64, 64));
  const QuantizedActivations q = place_quantized_activations(memory.get(), 1, 64, 4, 64);
  const std::vector<float> x(64, 1.0F);
  const RunnableTables runnable = runnable_tables();
  for (int i = 0; i < runnable.count; ++i) {
    const KernelTable& t = *runnable.tables[i];
    t.quantize_activations({x.data(), q, 0, 1, 64, 64});
    float y = -7.0F;
    t.affine_linear_fast({q, w.view(), nullptr, &y, 0, 0, 4, 4, scratch.get()});
    t.affine_linear_fast({q, w.view(), nullptr, &y, 1, 2, 2, 4, scratch.get()});
    CHECK(y == -7.0F);
  }
}

TEST_CASE("affine_fast: stays within 1 % of the output's rms of the exact product at 4 bits") {
  SplitMix64 rng(35);
  const int64_t cols = 2048;
  const int64_t rows = 128;
  const AffineMatrix w(rows, cols, {4, 64}, DType::kBF16, rng);
  std::vector<float> x(static_cast<size_t>(4 * cols));
  for (float& v : x) v = rng.normal();
  const std::vector<float> fast = run(table(), x, w.view(), nullptr, 4, rows);
  std::vector<float> exact(fast.size());
  const Scratch scratch(kLinearScratchBytes);
  table().affine_linear_exact(
      {x.data(), w.view(), nullptr, exact.data(), 4, 0, rows, cols, rows, scratch.get()});
  double error = 0.0;
  double power = 0.0;
  for (size_t i = 0; i < fast.size(); ++i) {
    const double gap = static_cast<double>(fast[i]) - static_cast<double>(exact[i]);
    error += gap * gap;
    power += static_cast<double>(exact[i]) * static_cast<double>(exact[i]);
  }
  CHECK(std::sqrt(error / power) < 0.01);
}

}  // namespace
}  // namespace hearth::kernels
