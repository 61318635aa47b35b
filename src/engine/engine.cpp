#include "engine/engine.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "engine/forward.h"

namespace hearth {

struct Engine::Row {
  Row(PagePool& pool, GenerationRequest r) : request(std::move(r)), state(pool) {}

  GenerationRequest request;
  AttentionState state;
  std::shared_ptr<Generation> out = std::make_shared<Generation>();
  int32_t last_token = 0;  // drawn, not yet computed

  // The tokens that come next: of the prompt, then the last drawn one.
  std::span<const int32_t> next_tokens(int64_t count) const {
    const int64_t done = state.length();
    if (done < static_cast<int64_t>(request.prompt.size()))
      return std::span(request.prompt)
          .subspan(static_cast<size_t>(done), static_cast<size_t>(count));
    return {&last_token, 1};
  }
};

std::string_view name(Finish finish) {
  switch (finish) {
    case Finish::kStop:
      return "stop";
    case Finish::kLength:
      return "length";
    case Finish::kCancelled:
      return "cancelled";
    case Finish::kError:
      return "error";
  }
  return "error";
}

namespace {

StepLimits with_bytes(StepLimits limits, int64_t bytes) {
  limits.bytes = bytes;
  return limits;
}

}  // namespace

Engine::Engine(const Model& model, EngineOptions options)
    : model_(&model),
      options_(options),
      threads_(options.threads > 0 ? options.threads : ThreadPool::available_threads()),
      pool_(model.cache_layout(), options.kv_dtype, options.kv_budget_bytes),
      scheduler_(with_bytes(options.limits, options.kv_budget_bytes)) {}

Engine::~Engine() = default;

std::shared_ptr<const Generation> Engine::submit(GenerationRequest request) {
  const int64_t prompt = static_cast<int64_t>(request.prompt.size());
  require(prompt >= 1, "the prompt is empty; give at least one token");
  require(request.max_tokens >= 0, "max_tokens ", request.max_tokens, " is negative");
  require(prompt <= options_.context_tokens, "the prompt has ", prompt,
          " tokens, the context holds ", options_.context_tokens,
          "; shorten the prompt or ask for a larger context");
  for (const int32_t token : request.prompt) {
    require(token >= 0 && token < model_->vocab_size(), "token ", token,
            " is outside the vocabulary of ", model_->vocab_size(),
            "; does the tokenizer belong to this model?");
  }
  check(request.sampling);
  request.max_tokens = std::min(request.max_tokens, options_.context_tokens - prompt);
  const int64_t bytes = pool_.bytes_for(prompt + request.max_tokens);
  if (bytes > options_.kv_budget_bytes) {
    fail(Code::kResourceExhausted, "KV cache: ", prompt, " prompt tokens and ", request.max_tokens,
         " to generate need ", bytes, " bytes, the budget is ", options_.kv_budget_bytes,
         "; ask for fewer tokens");
  }

  auto row = std::make_unique<Row>(pool_, std::move(request));
  const int64_t id = next_id_++;
  row->out->id = id;
  row->out->prompt_tokens = prompt;
  scheduler_.add(id, prompt, bytes);
  std::shared_ptr<const Generation> out = row->out;
  rows_.emplace(id, std::move(row));
  return out;
}

void Engine::finish(Row& row, Finish reason) {
  row.out->finish = reason;
  scheduler_.remove(row.out->id);
  rows_.erase(row.out->id);
}

void Engine::cancel(int64_t id) {
  if (const auto found = rows_.find(id); found != rows_.end())
    finish(*found->second, Finish::kCancelled);
}

// The row's pending tokens are computed; these are the logits of the last one.
void Engine::draw(Row& row, std::span<const float> logits) {
  const int64_t have = static_cast<int64_t>(row.out->tokens.size());
  if (have >= row.request.max_tokens) return finish(row, Finish::kLength);
  if (std::ranges::none_of(logits, [](float x) { return std::isfinite(x); })) {
    row.out->error = "no logit is a finite number: the weights or the config are damaged";
    return finish(row, Finish::kError);
  }
  const Sample sample = sampler_.sample(logits, row.request.sampling, static_cast<uint64_t>(have));
  if (std::ranges::find(row.request.end_tokens, sample.token) != row.request.end_tokens.end())
    return finish(row, Finish::kStop);
  row.out->tokens.push_back(sample);
  if (have + 1 == row.request.max_tokens) return finish(row, Finish::kLength);
  row.last_token = sample.token;
  scheduler_.drew_token(row.out->id);
}

bool Engine::step() {
  const StepPlan plan = scheduler_.plan();
  if (plan.entries.empty()) return false;
  std::vector<ForwardSlice> slices;
  for (const StepPlan::Entry& e : plan.entries) {
    Row& row = *rows_.at(e.row);
    slices.push_back(
        {&row.state, row.next_tokens(e.tokens), e.is_last ? LogitsOf::kLast : LogitsOf::kNone});
  }
  Tensor logits;
  try {
    const ComputeScope scope(
        {.pool = &threads_, .numerics = options_.numerics, .recorder = nullptr});
    logits = forward(*model_, pool_, slices);
  } catch (const Error& e) {
    for (const StepPlan::Entry& entry : plan.entries) {
      Row& row = *rows_.at(entry.row);
      row.out->error = e.message();
      finish(row, Finish::kError);
    }
    return true;
  }
  scheduler_.commit(plan);
  int64_t next = 0;
  for (const StepPlan::Entry& e : plan.entries) {
    if (!e.is_last) continue;
    const size_t width = static_cast<size_t>(logits.dim(1));
    draw(*rows_.at(e.row),
         logits.span<float>().subspan(static_cast<size_t>(next++) * width, width));
  }
  return true;
}

}  // namespace hearth
