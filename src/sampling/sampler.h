// Chooses a token from a row of logits (spec/sampling.md sections 1, 3 and 4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hearth {

// All filters look at log-probabilities at temperature 1, in the order top_p, min_p, top_k; the temperature comes last.
struct SamplingParams {
  float temperature = 0.0F;  // 0 = greedy; then nothing else matters
  float top_p = 0.0F;  // keep the most probable tokens whose mass reaches this; off at 0 and 1
  float min_p =
      0.0F;  // keep tokens at least this fraction as probable as the most probable; off at 0
  int64_t top_k = 0;  // keep this many; off at 0
  uint64_t seed = 0;
};

// Throws kInvalidArgument naming the parameter that is out of range or not a number.
void check(const SamplingParams& p);

struct Sample {
  int32_t token;
  float log_prob;  // at temperature 1, before filters
};

// Holds scratch memory only: draws depend on the arguments alone. Owned by one thread.
class Sampler {
 public:
  // logits [V], V >= 1, not changed; step = number of the token to be drawn, from 0. Ties go to the lowest id. NaN
  // logits count as impossible; if none is possible the result is token 0; an infinite one is certain.
  Sample sample(std::span<const float> logits, const SamplingParams& p, uint64_t step);

 private:
  struct Candidate {
    float log_prob;
    int32_t token;
  };
  void keep_top_p(float top_p);
  void keep_top_k(int64_t top_k);

  std::vector<Candidate> candidates_;
};

}  // namespace hearth
