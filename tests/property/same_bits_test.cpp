// A row's bits depend on its tokens, its parameters, the weights, the numerics and the target, and on nothing else:
// not on company, chunking, threads or the order of arrival.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/random.h"
#include "engine/engine.h"
#include "support/paths.h"
#include "support/tiny_model.h"

namespace hearth {
namespace {

using test_support::TempDir;
using test_support::TinyShape;

struct Outcome {
  std::vector<int32_t> tokens;
  std::vector<float> log_probs;
};

Outcome outcome_of(const Generation& g) {
  REQUIRE(g.finish.has_value());
  Outcome o;
  for (const Sample& s : g.tokens) {
    o.tokens.push_back(s.token);
    o.log_probs.push_back(s.log_prob);
  }
  return o;
}

// A log-probability takes in every logit of its row, so equal bits here are equal bits there, but for freak chance.
bool is_same(const Outcome& a, const Outcome& b) {
  return a.tokens == b.tokens && a.log_probs.size() == b.log_probs.size() &&
         std::memcmp(a.log_probs.data(), b.log_probs.data(), a.log_probs.size() * sizeof(float)) ==
             0;
}

std::vector<GenerationRequest> random_requests(SplitMix64& random, int64_t vocab) {
  std::vector<GenerationRequest> requests;
  for (int64_t i = 0; i < 5; ++i) {
    GenerationRequest r;
    const int64_t length = 1 + random.below(i == 0 ? 150 : 40);
    for (int64_t t = 0; t < length; ++t)
      r.prompt.push_back(static_cast<int32_t>(random.below(vocab)));
    r.max_tokens = 1 + random.below(20);
    r.sampling = {.temperature = i % 2 == 0 ? 0.0F : 1.0F, .seed = random.next()};
    requests.push_back(std::move(r));
  }
  return requests;
}

void check_same_bits(const Model& model, Numerics numerics, DType kv_dtype, uint64_t seed) {
  SplitMix64 random(seed);
  const EngineOptions alone{.threads = 1, .numerics = numerics, .kv_dtype = kv_dtype, .limits = {}};
  const std::vector<GenerationRequest> requests = random_requests(random, model.vocab_size());
  std::vector<Outcome> expected;
  for (const GenerationRequest& r : requests) {
    Engine engine(model, alone);
    const auto g = engine.submit(r);
    engine.run();
    expected.push_back(outcome_of(*g));
  }
  for (int round = 0; round < 3; ++round) {
    EngineOptions options = alone;
    options.threads = 1 + static_cast<int>(random.below(3));
    options.limits = {.tokens = 1 + random.below(60), .rows = 1 + random.below(5)};
    Engine engine(model, options);
    std::vector<std::shared_ptr<const Generation>> running(requests.size());
    std::vector<size_t> order = {0, 1, 2, 3, 4};
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<size_t>(random.below(static_cast<int64_t>(i)))]);
    for (const size_t i : order) {
      running[i] = engine.submit(requests[i]);
      for (int64_t steps = random.below(4); steps > 0; --steps)
        engine.step();  // arrivals in the middle of others
    }
    engine.run();
    for (size_t i = 0; i < requests.size(); ++i) {
      CAPTURE(i);
      CAPTURE(round);
      CHECK(is_same(outcome_of(*running[i]), expected[i]));
    }
    CHECK(engine.pool().used_bytes() == 0);
  }
}

TEST_CASE(
    "a row has the same bits in any company, chunking and number of threads: affine weights") {
  for (const int bits : {2, 3, 4, 5, 6, 8}) {
    for (const int64_t group : {32, 64, 128}) {
      CAPTURE(bits);
      CAPTURE(group);
      const TempDir dir;
      const LoadedModel m = test_support::make_tiny_model(
          dir.path() / "m", test_support::tiny_config({.model_type = "qwen3"}),
          {.dtype = bits == 8 ? DType::kF16 : DType::kBF16,
           .affine = codec::AffineFormat{bits, group},
           .seed = 3});
      for (const Numerics numerics : {Numerics::kExact, Numerics::kFast})
        check_same_bits(*m.model, numerics, DType::kF32,
                        static_cast<uint64_t>(bits * 1000 + group));
    }
  }
}

TEST_CASE(
    "a row has the same bits in any company, chunking and number of threads: dense weights and "
    "page types") {
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    CAPTURE(dtype);
    const TempDir dir;
    const LoadedModel m =
        test_support::make_tiny_model(dir.path() / "m", test_support::tiny_config({}),
                                      {.dtype = dtype, .affine = std::nullopt, .seed = 4});
    check_same_bits(*m.model, Numerics::kFast, dtype, 17);
  }
}

TEST_CASE("a row has the same bits however a sliding window's pages come and go") {
  for (const int64_t window : {1, 20, 64, 70}) {
    CAPTURE(window);
    const TempDir dir;
    const LoadedModel m = test_support::make_tiny_model(
        dir.path() / "m",
        test_support::tiny_config({.layers = 3, .window = window, .is_tied = false}),
        {.dtype = DType::kF32, .affine = std::nullopt, .seed = 5});
    check_same_bits(*m.model, Numerics::kExact, DType::kF32, 18);
  }
}

TEST_CASE("odd shapes: one head, many query heads a KV head, head sizes off the vector width") {
  for (const TinyShape& shape : {TinyShape{.heads = 1, .kv_heads = 1, .head_dim = 8},
                                 TinyShape{.heads = 12, .kv_heads = 1, .head_dim = 20},
                                 TinyShape{.heads = 6, .kv_heads = 3, .head_dim = 80}}) {
    CAPTURE(shape.head_dim);
    const TempDir dir;
    const LoadedModel m =
        test_support::make_tiny_model(dir.path() / "m", test_support::tiny_config(shape),
                                      {.dtype = DType::kF32, .affine = std::nullopt, .seed = 6});
    check_same_bits(*m.model, Numerics::kExact, DType::kBF16, 19);
  }
}

}  // namespace
}  // namespace hearth
