// The quantizer of activations, on every target, against the formulas of its header.
#include "kernels/activations.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "base/random.h"
#include "kernels/table.h"
#include "support/affine_matrix.h"

namespace hearth::kernels {
namespace {

struct Expected {
  float d;
  float sigma;
  int32_t sum;
};

// One group by the header's words.
Expected by_definition(const float* x, int64_t group) {
  float max = 0.0F;
  bool finite = true;
  for (int64_t i = 0; i < group; ++i) {
    finite = finite && std::isfinite(x[i]);
    max = std::fmax(max, std::fabs(x[i]));
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  if (!finite) return {nan, nan, 0};
  if (max < 0x1p-100F) return {0.0F, 0.0F, 0};
  int32_t sum = 0;
  for (int64_t i = 0; i < group; ++i)
    sum += static_cast<int32_t>(std::nearbyint(x[i] * (127.0F / max)));
  const float d = max / 127.0F;
  return {d, d * static_cast<float>(sum), sum};
}

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void check_rows(const KernelTable& t, const std::vector<float>& x, int64_t m, int64_t k, int bits,
                int64_t group) {
  const test_support::Scratch memory(quantized_activation_bytes(m, k, group));
  const QuantizedActivations q = place_quantized_activations(memory.get(), m, k, bits, group);
  t.quantize_activations({x.data(), q, 0, m / 2, k, k});
  t.quantize_activations({x.data(), q, m / 2, m, k, k});
  for (int64_t i = 0; i < m; ++i) {
    int64_t total_codes = 0;
    int64_t total_sums = 0;
    for (int64_t g = 0; g < q.group_stride; ++g) {
      const int64_t at = i * q.group_stride + g;
      const bool is_padding = g >= k / group;
      const Expected want =
          is_padding ? Expected{} : by_definition(x.data() + i * k + g * group, group);
      REQUIRE(same(q.d[at], want.d));
      REQUIRE(same(q.sigma[at], want.sigma));
      REQUIRE(q.sums[at] == want.sum);
      total_sums += want.sum;
    }
    for (int64_t c = 0; c < q.code_stride; ++c) {
      const int8_t code = q.codes[i * q.code_stride + c];
      REQUIRE(code >= -127);
      total_codes += code;
      if (c >= (k + 127) / 128 * 128) REQUIRE(code == 0);
    }
    REQUIRE(total_codes == total_sums);  // the order is the target's, the codes are not
  }
}

TEST_CASE("activations: scale, sigma and sum are the header's, bit for bit, on every target") {
  SplitMix64 rng(21);
  const RunnableTables runnable = runnable_tables();
  for (const int64_t group : {32, 64, 128}) {
    for (const int64_t groups : {1, 3, 8, 17}) {
      const int64_t k = groups * group;
      const int64_t m = 5;
      std::vector<float> x(static_cast<size_t>(m * k));
      for (float& v : x) v = rng.normal();
      for (int i = 0; i < runnable.count; ++i) {
        for (const int bits : {2, 3, 4, 5, 6, 8})
          check_rows(*runnable.tables[i], x, m, k, bits, group);
      }
    }
  }
}

TEST_CASE("activations: zero, denormal, huge, tied and non-finite groups") {
  const int64_t k = 32 * 9;
  std::vector<float> x(static_cast<size_t>(k), 0.0F);
  const auto fill = [&](int64_t group, auto&& value) {
    for (int64_t i = 0; i < 32; ++i)
      x[static_cast<size_t>(group * 32 + i)] = value(static_cast<float>(i));
  };
  fill(1, [](float i) { return i * 1e-43F; });
  fill(2, [](float i) { return (i - 16.0F) * 2e37F; });
  fill(3, [](float i) { return i == 0.0F ? 127.0F : i + 0.5F; });  // halves round to even
  fill(4, [](float i) { return i == 3.0F ? std::numeric_limits<float>::quiet_NaN() : i; });
  fill(5, [](float i) { return i == 31.0F ? std::numeric_limits<float>::infinity() : i; });
  fill(6, [](float i) { return i == 30.0F ? -std::numeric_limits<float>::infinity() : i; });
  fill(7, [](float i) { return (i + 1.0F) * 0x1p-105F; });
  fill(8, [](float i) { return (i + 1.0F) * 0x1p-99F; });
  const RunnableTables runnable = runnable_tables();
  for (int i = 0; i < runnable.count; ++i) {
    for (const int bits : {4, 8}) check_rows(*runnable.tables[i], x, 1, k, bits, 32);
  }
}

TEST_CASE("activations: no rows, nothing written") {
  const test_support::Scratch memory(64);
  const QuantizedActivations q = place_quantized_activations(memory.get(), 0, 64, 4, 64);
  table().quantize_activations({nullptr, q, 0, 0, 64, 64});
  CHECK(memory.get()[0] == std::byte{0xFF});
}

}  // namespace
}  // namespace hearth::kernels
