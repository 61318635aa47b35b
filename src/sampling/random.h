// Keyed random numbers: the draw for a token is a function of (seed, step) and of nothing else, so a row draws the same
// alone, in a batch and after resumption. Threefry-2x32 (Salmon et al. 2011, "Parallel random numbers: as easy as
// 1, 2, 3"); key schedule of spec/sampling.md section 5.
#pragma once

#include <cstdint>

namespace hearth {

struct Key {
  uint32_t high;
  uint32_t low;
  friend bool operator==(Key, Key) = default;
};

// The key of generated token number `step` (0 = the one drawn from the prefill's logits).
Key step_key(uint64_t seed, uint64_t step);

// The block cipher itself: two words of random bits for a counter.
Key threefry2x32(Key key, Key counter);

// Uniform in [0, 1), f32, one draw per key.
float uniform(Key key);

}  // namespace hearth
