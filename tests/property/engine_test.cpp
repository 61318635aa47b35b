// The engine's contract with its callers.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"
#include "engine/engine.h"
#include "support/paths.h"
#include "support/tiny_model.h"

namespace hearth {
namespace {

struct Fixture {
  test_support::TempDir dir;
  LoadedModel loaded =
      test_support::make_tiny_model(dir.path() / "m", test_support::tiny_config({}),
                                    {.dtype = DType::kF32, .affine = std::nullopt, .seed = 1});
  const Model& model = *loaded.model;
};

TEST_CASE_FIXTURE(Fixture, "a generation ends at an end token, which is not part of it") {
  Engine engine(model, {.threads = 1, .limits = {}});
  const auto free =
      engine.submit({.prompt = {1, 2, 3}, .max_tokens = 8, .sampling = {}, .end_tokens = {}});
  engine.run();
  REQUIRE(free->tokens.size() == 8);
  CHECK(*free->finish == Finish::kLength);
  const int32_t third = free->tokens[2].token;
  const auto ended =
      engine.submit({.prompt = {1, 2, 3}, .max_tokens = 8, .sampling = {}, .end_tokens = {third}});
  engine.run();
  CHECK(*ended->finish == Finish::kStop);
  CHECK(ended->tokens.size() <= 2);
}

TEST_CASE_FIXTURE(
    Fixture,
    "a full context ends a generation with length, a longer prompt is refused with the numbers") {
  Engine engine(model, {.threads = 1, .context_tokens = 10, .limits = {}});
  const auto g =
      engine.submit({.prompt = {1, 2, 3, 4}, .max_tokens = 100, .sampling = {}, .end_tokens = {}});
  engine.run();
  CHECK(g->tokens.size() == 6);
  CHECK(*g->finish == Finish::kLength);
  CHECK_THROWS_WITH_AS(engine.submit({.prompt = std::vector<int32_t>(11, 1),
                                      .max_tokens = 1,
                                      .sampling = {},
                                      .end_tokens = {}}),
                       doctest::Contains("11 tokens, the context holds 10"), Error);
}

TEST_CASE_FIXTURE(Fixture, "bad requests are refused before anything changes") {
  Engine engine(model, {.threads = 1, .limits = {}});
  CHECK_THROWS_AS(engine.submit({}), Error);
  CHECK_THROWS_WITH_AS(engine.submit({.prompt = {1, 160}, .sampling = {}, .end_tokens = {}}),
                       doctest::Contains("160 is outside the vocabulary"), Error);
  CHECK_THROWS_AS(engine.submit({.prompt = {-1}, .sampling = {}, .end_tokens = {}}), Error);
  CHECK_THROWS_WITH_AS(
      engine.submit({.prompt = {1}, .sampling = {.temperature = -1}, .end_tokens = {}}),
      doctest::Contains("temperature"), Error);
  CHECK_FALSE(engine.step());
}

TEST_CASE_FIXTURE(Fixture,
                  "a request that can never fit is refused, one that can waits for its pages") {
  const PagePool probe(model.cache_layout(), DType::kF32, 1 << 30);
  const EngineOptions options{.threads = 1,
                              .kv_dtype = DType::kF32,
                              .kv_budget_bytes = 3 * 64 * probe.token_bytes(),
                              .limits = {}};
  Engine engine(model, options);
  CHECK_THROWS_WITH_AS(
      engine.submit({.prompt = {1}, .max_tokens = 200, .sampling = {}, .end_tokens = {}}),
      doctest::Contains("the budget is"), Error);
  const auto a =
      engine.submit({.prompt = {1}, .max_tokens = 100, .sampling = {}, .end_tokens = {}});
  const auto b =
      engine.submit({.prompt = {1}, .max_tokens = 100, .sampling = {}, .end_tokens = {}});
  engine.step();
  CHECK(a->tokens.size() == 1);
  CHECK(b->tokens.empty());
  engine.run();
  CHECK(*a->finish == Finish::kLength);
  CHECK(*b->finish == Finish::kLength);
  CHECK(engine.pool().used_bytes() == 0);
}

TEST_CASE_FIXTURE(Fixture, "cancel frees a row at once, waiting or running") {
  Engine engine(model, {.threads = 1, .limits = {.tokens = 512, .rows = 1}});
  const auto a =
      engine.submit({.prompt = {1}, .max_tokens = 100, .sampling = {}, .end_tokens = {}});
  const auto b =
      engine.submit({.prompt = {1}, .max_tokens = 100, .sampling = {}, .end_tokens = {}});
  engine.step();
  engine.cancel(b->id);
  CHECK(*b->finish == Finish::kCancelled);
  engine.cancel(a->id);
  CHECK(*a->finish == Finish::kCancelled);
  CHECK(a->tokens.size() == 1);
  CHECK(engine.pool().used_bytes() == 0);
  CHECK_FALSE(engine.step());
  engine.cancel(a->id);
}

TEST_CASE_FIXTURE(Fixture, "no tokens asked for: the prompt is read and nothing comes") {
  Engine engine(model, {.threads = 1, .limits = {}});
  const auto g =
      engine.submit({.prompt = {1, 2}, .max_tokens = 0, .sampling = {}, .end_tokens = {}});
  engine.run();
  CHECK(g->tokens.empty());
  CHECK(*g->finish == Finish::kLength);
}

}  // namespace
}  // namespace hearth
