#include "sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "sampling/random.h"

namespace hearth {
namespace {

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

// log(sum(exp(x))), the sum in double; NaN counts as -inf.
float log_sum_exp(std::span<const float> logits, float max) {
  double sum = 0;
  for (const float x : logits)
    if (x > kImpossible) sum += std::exp(static_cast<double>(x - max));
  return max + static_cast<float>(std::log(sum));
}

}  // namespace

void check(const SamplingParams& p) {
  require(p.temperature >= 0.0F && p.temperature <= 100.0F, "temperature ", p.temperature,
          " is out of range; use a number from 0 (greedy) to 100");
  require(p.top_p >= 0.0F && p.top_p <= 1.0F, "top_p ", p.top_p,
          " is out of range; use a number from 0 to 1");
  require(p.min_p >= 0.0F && p.min_p <= 1.0F, "min_p ", p.min_p,
          " is out of range; use a number from 0 to 1");
  require(p.top_k >= 0, "top_k ", p.top_k, " is out of range; use 0 (off) or a positive count");
}

// Keeps token t iff the mass of the tokens ranked above it is under top_p. Among equals the higher id ranks higher,
// as in a stable ascending sort.
void Sampler::keep_top_p(float top_p) {
  const auto ranks_lower = [](const Candidate& a, const Candidate& b) {
    return a.log_prob != b.log_prob ? a.log_prob < b.log_prob : a.token < b.token;
  };
  // A heap finds the few tokens that carry the mass without sorting the vocabulary.
  std::ranges::make_heap(candidates_, ranks_lower);
  auto end = candidates_.end();
  double above = 0;
  while (end != candidates_.begin() && above < static_cast<double>(top_p)) {
    above += std::exp(static_cast<double>(candidates_.front().log_prob));
    std::pop_heap(candidates_.begin(), end, ranks_lower);
    --end;
  }
  candidates_.erase(candidates_.begin(), end);
}

void Sampler::keep_top_k(int64_t top_k) {
  if (top_k >= static_cast<int64_t>(candidates_.size())) return;
  const auto last = candidates_.begin() + top_k;
  std::nth_element(candidates_.begin(), last, candidates_.end(),
                   [](const Candidate& a, const Candidate& b) {
                     return a.log_prob != b.log_prob ? a.log_prob > b.log_prob : a.token < b.token;
                   });
  candidates_.erase(last, candidates_.end());
}

Sample Sampler::sample(std::span<const float> logits, const SamplingParams& p, uint64_t step) {
  float max = kImpossible;
  for (const float x : logits) max = x > max ? x : max;
  if (max == kImpossible) return {0, 0.0F};
  // An overflowed logit beats every finite one; log-probabilities beside it would not be numbers.
  if (max == std::numeric_limits<float>::infinity())
    return {static_cast<int32_t>(std::ranges::find(logits, max) - logits.begin()), 0.0F};
  const float total = log_sum_exp(logits, max);

  // Below about 3e-39 the inverse overflows; what it would leave is the most probable token.
  const float inverse_temperature = 1.0F / p.temperature;
  if (std::isinf(inverse_temperature)) {
    // On log-probabilities, not logits: the subtraction may round two neighbours to a tie, which goes to the lower id.
    int32_t best = 0;
    float best_log_prob = kImpossible;
    for (size_t i = 0; i < logits.size(); ++i) {
      if (const float log_prob = logits[i] - total; log_prob > best_log_prob) {
        best = static_cast<int32_t>(i);
        best_log_prob = log_prob;
      }
    }
    return {best, best_log_prob};
  }

  candidates_.clear();
  const float least = p.min_p > 0.0F ? max - total + std::log(p.min_p) : kImpossible;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (const float log_prob = logits[i] - total; log_prob > kImpossible)
      candidates_.push_back({log_prob, static_cast<int32_t>(i)});
  }
  if (p.top_p > 0.0F && p.top_p < 1.0F) keep_top_p(p.top_p);
  if (p.min_p > 0.0F)
    std::erase_if(candidates_, [&](const Candidate& c) { return c.log_prob < least; });
  if (p.top_k > 0) keep_top_k(p.top_k);
  std::ranges::sort(candidates_, {}, &Candidate::token);

  // Inverse of the cumulative distribution at one uniform draw.
  const auto weight = [&](const Candidate& c) {
    return std::exp(static_cast<double>((c.log_prob - (max - total)) * inverse_temperature));
  };
  double mass = 0;
  for (const Candidate& c : candidates_) mass += weight(c);
  const double target = static_cast<double>(uniform(step_key(p.seed, step))) * mass;
  double sum = 0;
  for (const Candidate& c : candidates_) {
    sum += weight(c);
    if (target < sum) return {c.token, c.log_prob};
  }
  return {candidates_.back().token, candidates_.back().log_prob};
}

}  // namespace hearth
