// Seeded pseudo-random numbers for tests, synthetic weights and initialisation. Not for sampling tokens
// (sampling/ has keyed generators) and not for secrets.
#pragma once

#include <cmath>
#include <cstdint>

namespace hearth {

// SplitMix64 (Steele, Lea and Flood 2014): equidistributed 64-bit outputs, any seed is fine.
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

  // Uniform in [0, 1), 24 bits.
  float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24F; }

  // Uniform in [0, n), n > 0. The bias of at most n / 2^64 doesn't matter here.
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }

  // Standard normal (Box and Muller 1958).
  float normal() {
    const float u = 1.0F - uniform();
    const float v = uniform();
    return std::sqrt(-2.0F * std::log(u)) * std::cos(6.2831853F * v);
  }

 private:
  uint64_t state_;
};

}  // namespace hearth
