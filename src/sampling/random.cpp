#include "sampling/random.h"

#include <algorithm>
#include <bit>

namespace hearth {

Key step_key(uint64_t seed, uint64_t step) {
  const uint64_t key = seed ^ ((step + 1) * 0x9E3779B97F4A7C15ULL);
  return {static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key)};
}

Key threefry2x32(Key key, Key counter) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t schedule[3] = {key.high, key.low, key.high ^ key.low ^ 0x1BD11BDAU};
  uint32_t a = counter.high + schedule[0];
  uint32_t b = counter.low + schedule[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (const int rotation : kRotations[group % 2]) {
      a += b;
      b = std::rotl(b, rotation) ^ a;
    }
    a += schedule[(group + 1) % 3];
    b += schedule[(group + 2) % 3] + group + 1;
  }
  return {a, b};
}

float uniform(Key key) {
  // One word: the middle of an odd count is the first output of counter (0, 0).
  const uint32_t bits = threefry2x32(key, {0, 0}).high;
  return std::min(static_cast<float>(bits) / 4294967296.0F, 0x1.fffffep-1F);
}

}  // namespace hearth
