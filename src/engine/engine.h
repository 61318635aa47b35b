// Generation. The only loop that produces tokens.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/thread_pool.h"
#include "engine/scheduler.h"
#include "kv/attention_state.h"
#include "kv/page_pool.h"
#include "models/model.h"
#include "sampling/sampler.h"
#include "tensor/compute.h"

namespace hearth {

struct EngineOptions {
  int threads = 0;  // 0 = as many as this process may use
  Numerics numerics = Numerics::kFast;
  DType kv_dtype = DType::kBF16;  // how pages store keys and values
  int64_t kv_budget_bytes = 1LL << 30;
  int64_t context_tokens = 4096;  // longest prompt and answer together
  StepLimits limits;              // .bytes is set by the engine
};

struct GenerationRequest {
  std::vector<int32_t> prompt;  // at least one token
  int64_t max_tokens = 256;     // to generate; 0 = none (the prompt is read, nothing comes)
  SamplingParams sampling;
  std::vector<int32_t> end_tokens;  // any of them ends the answer and is not part of it
};

enum class Finish : uint8_t {
  kStop,    // an end token was drawn
  kLength,  // max_tokens, or the context is full
  kCancelled,
  kError,
};
std::string_view name(Finish finish);  // "stop", "length", "cancelled", "error"

// What a request produced so far. Filled by step(); read between steps.
struct Generation {
  int64_t id = 0;
  int64_t prompt_tokens = 0;
  std::vector<Sample> tokens;    // grows
  std::optional<Finish> finish;  // set once
  std::string error;             // when finish is kError
};

// Owned by one thread. The model outlives it.
//
// Invariant: a row's tokens depend on its prompt, its parameters, the weights, the numerics and the kernel target, and
// on nothing else: not on the other rows, the cut of the prompt into steps, or the number of threads.
class Engine {
 public:
  // Throws kInvalidArgument when the budget can't hold one sequence of one page.
  Engine(const Model& model, EngineOptions options);
  ~Engine();

  // Throws kInvalidArgument for an empty prompt, a token outside the vocabulary, a prompt longer than the context, or
  // sampling parameters out of range; kResourceExhausted when it could never fit the KV budget. Numbers are named.
  std::shared_ptr<const Generation> submit(GenerationRequest request);

  // Computes one step. False when there was nothing to do. Failures end the rows that they concern (Finish::kError).
  bool step();

  // The row ends with what it has; nothing happens if it has ended.
  void cancel(int64_t id);

  // Steps until nothing is left to do.
  void run() {
    while (step()) {
    }
  }

  const PagePool& pool() const { return pool_; }
  int threads() const { return threads_.thread_count(); }

 private:
  struct Row;
  void finish(Row& row, Finish reason);
  void draw(Row& row, std::span<const float> logits);

  const Model* model_;
  EngineOptions options_;
  ThreadPool threads_;
  PagePool pool_;
  Scheduler scheduler_;
  Sampler sampler_;
  std::map<int64_t, std::unique_ptr<Row>> rows_;
  int64_t next_id_ = 1;
};

}  // namespace hearth
