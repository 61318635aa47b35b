// Arrays of floats for kernel and op tests: seeded contents, comparison by bits and by ulp.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random.h"

namespace hearth::test_support {

// n normal numbers times scale.
inline std::vector<float> normal_floats(int64_t n, uint64_t seed, float scale = 1.0F) {
  SplitMix64 random(seed);
  std::vector<float> v(static_cast<size_t>(n));
  for (float& x : v) x = random.normal() * scale;
  return v;
}

// Index of the first element whose bits differ, -1 if none does. NaN equals NaN of any payload.
inline int64_t first_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i]))
      return static_cast<int64_t>(i);
  }
  return -1;
}

// |got - want| in units of the last place of the float nearest to `want` (of subnormals: 2^-149).
inline double ulp_error(float got, double want) {
  const float near = static_cast<float>(want);
  if (std::isinf(near) || std::isnan(near)) {
    return std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(near) ? 0.0 : 1e9;
  }
  int exponent = 0;
  std::frexp(near, &exponent);
  if (near == 0.0F || exponent < -125) exponent = -125;
  return std::abs(static_cast<double>(got) - want) / std::ldexp(1.0, exponent - 24);
}

inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace hearth::test_support
