#include "sampling/sampler.h"

#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/random.h"
#include "sampling/random.h"

namespace hearth {
namespace {

std::vector<float> log_of(const std::vector<float>& probabilities) {
  std::vector<float> out;
  for (const float p : probabilities)
    out.push_back(std::log(p) + 3.0F);  // the constant must not matter
  return out;
}

// How often each token comes over many steps.
std::vector<double> frequencies(const std::vector<float>& logits, const SamplingParams& p,
                                int draws = 20000) {
  Sampler sampler;
  std::vector<double> f(logits.size());
  for (int i = 0; i < draws; ++i)
    f[static_cast<size_t>(sampler.sample(logits, p, static_cast<uint64_t>(i)).token)] +=
        1.0 / draws;
  return f;
}

TEST_CASE("threefry2x32 gives the published test vectors") {
  // Random123 distribution, kat_vectors: threefry2x32 with 20 rounds.
  CHECK(threefry2x32({0, 0}, {0, 0}) == Key{0x6b200159U, 0x99ba4efeU});
  CHECK(threefry2x32({0xffffffffU, 0xffffffffU}, {0xffffffffU, 0xffffffffU}) ==
        Key{0x1cb996fcU, 0xbb002be7U});
  CHECK(threefry2x32({0x13198a2eU, 0x03707344U}, {0x243f6a88U, 0x85a308d3U}) ==
        Key{0xc4923a9cU, 0x483df7a0U});
}

TEST_CASE("greedy takes the largest logit, the lowest id of several") {
  Sampler sampler;
  CHECK(sampler.sample(std::vector<float>{1, 5, 2, 5}, {}, 0).token == 1);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(sampler.sample(std::vector<float>{nan, 5, 7, nan}, {}, 0).token == 2);
  CHECK(sampler.sample(std::vector<float>{nan}, {}, 0).token == 0);
  CHECK(sampler.sample(log_of({0.25F, 0.75F}), {}, 0).log_prob == doctest::Approx(std::log(0.75)));
}

TEST_CASE("temperature 1 draws with the model's probabilities") {
  const std::vector<float> p = {0.1F, 0.2F, 0.05F, 0.4F, 0.25F};
  const auto f = frequencies(log_of(p), {.temperature = 1.0F, .seed = 7});
  double chi2 = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const double expected = 20000.0 * static_cast<double>(p[i]);
    chi2 += std::pow(20000.0 * f[i] - expected, 2) / expected;
  }
  CHECK(chi2 < 18.5);  // chi-square with 4 degrees of freedom, p = 0.001
}

TEST_CASE("temperature is applied after the filters see probabilities at temperature 1") {
  const std::vector<float> logits = log_of({0.5F, 0.3F, 0.15F, 0.05F});
  // At temperature 10 the four are nearly even; top_p 0.75 still keeps the first two only.
  const auto f = frequencies(logits, {.temperature = 10.0F, .top_p = 0.75F, .seed = 3});
  CHECK(f[0] + f[1] == doctest::Approx(1.0));
  CHECK(f[1] == doctest::Approx(0.487).epsilon(0.05));
}

TEST_CASE("top_p keeps the token that crosses the mass, and always one") {
  const std::vector<float> logits = log_of({0.5F, 0.3F, 0.15F, 0.05F});
  CHECK(frequencies(logits, {.temperature = 1.0F, .top_p = 0.79F, .seed = 1})[2] == 0.0);
  CHECK(frequencies(logits, {.temperature = 1.0F, .top_p = 0.81F, .seed = 1})[2] > 0.1);
  CHECK(frequencies(logits, {.temperature = 1.0F, .top_p = 0.0001F, .seed = 1})[0] ==
        doctest::Approx(1.0));
}

TEST_CASE("min_p cuts at a fraction of the best, top_k at a count with ties to lower ids") {
  const std::vector<float> logits = log_of({0.4F, 0.2F, 0.2F, 0.2F});
  CHECK(frequencies(logits, {.temperature = 1.0F, .min_p = 0.51F, .seed = 1})[1] == 0.0);
  CHECK(frequencies(logits, {.temperature = 1.0F, .min_p = 0.49F, .seed = 1})[3] > 0.15);
  const auto f = frequencies(logits, {.temperature = 1.0F, .top_k = 2, .seed = 1});
  CHECK(f[1] > 0.3);
  CHECK(f[2] + f[3] == 0.0);
}

TEST_CASE("a draw depends on seed and step only") {
  SplitMix64 random(1);
  std::vector<float> logits(1000);
  for (float& x : logits) x = random.normal() * 2;
  Sampler a;
  Sampler b;
  const SamplingParams p{.temperature = 0.8F, .top_p = 0.9F, .seed = 42};
  std::vector<int32_t> first;
  for (uint64_t step = 0; step < 50; ++step) first.push_back(a.sample(logits, p, step).token);
  for (uint64_t step = 50; step-- > 0;) CHECK(b.sample(logits, p, step).token == first[step]);
  CHECK(a.sample(logits, {.temperature = 0.8F, .top_p = 0.9F, .seed = 43}, 0).token != first[0]);
}

TEST_CASE("an infinite logit is drawn, whatever the parameters") {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> logits{1.0F, -infinity, infinity, 2.0F, infinity};
  Sampler sampler;
  CHECK(sampler.sample(logits, {}, 0).token == 2);
  CHECK(sampler.sample(logits, {.temperature = 1.0F, .top_p = 0.9F, .top_k = 3}, 0).token == 2);
}

TEST_CASE("a temperature whose inverse overflows is greedy") {
  Sampler sampler;
  CHECK(sampler.sample(log_of({0.25F, 0.5F, 0.25F}), {.temperature = 1e-39F}, 0).token == 1);
}

TEST_CASE("parameters out of range are refused by name") {
  CHECK_THROWS_WITH_AS(check({.temperature = -1.0F}), doctest::Contains("temperature"), Error);
  CHECK_THROWS_WITH_AS(check({.top_p = 1.5F}), doctest::Contains("top_p"), Error);
  CHECK_THROWS_WITH_AS(check({.min_p = std::numeric_limits<float>::quiet_NaN()}),
                       doctest::Contains("min_p"), Error);
  CHECK_THROWS_WITH_AS(check({.top_k = -1}), doctest::Contains("top_k"), Error);
}

}  // namespace
}  // namespace hearth
