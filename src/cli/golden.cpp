#include "cli/golden.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "base/error.h"
#include "base/thread_pool.h"
#include "cli/golden_cases.h"
#include "engine/forward.h"
#include "models/registry.h"
#include "tensor/compute.h"

namespace hearth::cli {
namespace {

constexpr double kExactTolerance =
    1e-3;                         // between two f32 implementations; more is a defect, not rounding
constexpr double kFastKl = 2e-3;  // for activations rounded to 8 bits
constexpr double kFastMargin = 0.3;

// The logits of a case at every position, [tokens, V].
using Logits = std::vector<float>;

// Reads the prompts of all cases side by side in chunks of at most `chunk` tokens, then feeds the rest one by one.
std::vector<Logits> run_packed(const Model& model, std::span<const GoldenCase* const> cases,
                               int64_t chunk) {
  int64_t longest = 0;
  for (const GoldenCase* c : cases) longest += static_cast<int64_t>(c->tokens.size()) + 64;
  const CacheLayout layout = model.cache_layout();
  PagePool pool(layout, DType::kF32, PagePool::token_bytes(layout, DType::kF32) * (longest + 64));
  std::vector<AttentionState> states;
  for (size_t i = 0; i < cases.size(); ++i) states.emplace_back(pool);
  std::vector<Logits> logits(cases.size());
  for (;;) {
    std::vector<ForwardSlice> slices;
    std::vector<size_t> owners;
    for (size_t i = 0; i < cases.size(); ++i) {
      const int64_t done = states[i].length();
      const int64_t left = static_cast<int64_t>(cases[i]->tokens.size()) - done;
      if (left == 0) continue;
      const int64_t rows =
          done < cases[i]->prompt_tokens ? std::min(chunk, cases[i]->prompt_tokens - done) : 1;
      slices.push_back({&states[i],
                        std::span(cases[i]->tokens)
                            .subspan(static_cast<size_t>(done), static_cast<size_t>(rows)),
                        LogitsOf::kAll});
      owners.push_back(i);
    }
    if (slices.empty()) return logits;
    const Tensor out = forward(model, pool, slices);
    size_t at = 0;
    for (size_t s = 0; s < slices.size(); ++s) {
      const size_t count = slices[s].tokens.size() * static_cast<size_t>(out.dim(1));
      const auto rows = out.span<float>().subspan(at, count);
      logits[owners[s]].insert(logits[owners[s]].end(), rows.begin(), rows.end());
      at += count;
    }
  }
}

bool is_same_bits(const Logits& a, const Logits& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

double log_sum_exp(std::span<const float> x) {
  const double max = static_cast<double>(*std::ranges::max_element(x));
  double sum = 0;
  for (const float v : x) sum += std::exp(static_cast<double>(v) - max);
  return max + std::log(sum);
}

double kl_divergence(std::span<const float> reference, std::span<const float> ours) {
  const double lse_reference = log_sum_exp(reference);
  const double lse_ours = log_sum_exp(ours);
  double kl = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    const double log_p = static_cast<double>(reference[i]) - lse_reference;
    kl += std::exp(log_p) * (log_p - (static_cast<double>(ours[i]) - lse_ours));
  }
  return kl;
}

// Best minus second-best logit.
double margin(std::span<const float> row) {
  float first = -std::numeric_limits<float>::infinity();
  float second = first;
  for (const float v : row) {
    if (v > first)
      second = std::exchange(first, v);
    else
      second = std::max(second, v);
  }
  return static_cast<double>(first - second);
}

GoldenPromptReport compare(const GoldenCase& c, const Logits& ours, int64_t vocab,
                           Numerics numerics) {
  GoldenPromptReport report{.name = c.name};
  const auto row_at = [&](int64_t position) {
    return std::span(ours).subspan(static_cast<size_t>(position * vocab),
                                   static_cast<size_t>(vocab));
  };
  for (const GoldenCase::Row& row : c.rows) {
    require_data(static_cast<int64_t>(row.logits.size()) == vocab && row.position >= 0 &&
                     row.position < static_cast<int64_t>(c.tokens.size()),
                 c.name, ": recorded logits have ", row.logits.size(), " entries at position ",
                 row.position, ", the model's vocabulary is ", vocab);
    const auto own = row_at(row.position);
    for (size_t i = 0; i < own.size(); ++i) {
      const double error =
          std::abs(static_cast<double>(own[i]) - static_cast<double>(row.logits[i]));
      report.max_error = error <= report.max_error ? report.max_error : error;  // NaN counts
    }
    report.mean_kl += kl_divergence(row.logits, own);
    ++report.rows;
  }
  if (report.rows > 0) report.mean_kl /= static_cast<double>(report.rows);
  const double clear = numerics == Numerics::kExact ? 2 * report.max_error : kFastMargin;
  for (size_t i = 0; i < c.greedy.size(); ++i) {
    const int64_t position = c.prompt_tokens - 1 + static_cast<int64_t>(i);
    const auto own = row_at(position);
    const auto recorded = std::ranges::find(c.rows, position, &GoldenCase::Row::position);
    const double distance =
        margin(recorded != c.rows.end() ? std::span<const float>(recorded->logits) : own);
    if (!(distance > clear)) continue;
    ++report.greedy_compared;
    report.greedy_equal += std::ranges::max_element(own) - own.begin() == c.greedy[i];
  }
  return report;
}

}  // namespace

GoldenReport verify_golden(const std::filesystem::path& folder, const GoldenOptions& options) {
  const LoadedModel loaded = load_model(folder);
  const Model& model = *loaded.model;
  const std::vector<GoldenCase> cases = read_golden_cases(folder, loaded.activation_dtype);
  for (const GoldenCase& c : cases) {
    require_data(!c.tokens.empty() && c.prompt_tokens > 0, folder.string(), ": ", c.name,
                 " has no prompt");
    for (const int32_t token : c.tokens)
      require_data(token < model.vocab_size(), folder.string(), ": ", c.name, ": token ", token,
                   " is outside the vocabulary");
  }
  ThreadPool threads(options.threads > 0 ? options.threads : ThreadPool::available_threads());
  const ComputeScope scope({.pool = &threads, .numerics = options.numerics, .recorder = nullptr});

  // All cases side by side, and the first once more, so that even a single one has company.
  std::vector<const GoldenCase*> together;
  for (const GoldenCase& c : cases) together.push_back(&c);
  if (!cases.empty()) together.push_back(&cases.front());
  const std::vector<Logits> packed = run_packed(model, together, 13);

  GoldenReport report{
      .folder = folder.string(), .prompts = {}, .error = {}, .numerics = options.numerics};
  for (size_t i = 0; i < cases.size(); ++i) {
    const GoldenCase* const one[] = {&cases[i]};
    const Logits whole = run_packed(model, one, INT64_MAX).front();
    const Logits in_chunks = run_packed(model, one, 7).front();
    GoldenPromptReport prompt = compare(cases[i], whole, model.vocab_size(), options.numerics);
    prompt.has_same_bits = is_same_bits(whole, in_chunks) && is_same_bits(whole, packed[i]);
    report.prompts.push_back(std::move(prompt));
  }
  return report;
}

double GoldenReport::max_error() const {
  double max = 0;
  for (const GoldenPromptReport& p : prompts) max = p.max_error <= max ? max : p.max_error;
  return max;
}

double GoldenReport::mean_kl() const {
  double sum = 0;
  for (const GoldenPromptReport& p : prompts) sum += p.mean_kl;
  return prompts.empty() ? 0.0 : sum / static_cast<double>(prompts.size());
}

bool GoldenReport::has_passed() const {
  if (!error.empty() || prompts.empty()) return false;
  return std::ranges::all_of(prompts, [&](const GoldenPromptReport& p) {
    const bool is_close =
        numerics == Numerics::kExact ? p.max_error <= kExactTolerance : p.mean_kl <= kFastKl;
    return is_close && p.greedy_equal == p.greedy_compared && p.has_same_bits && p.rows > 0;
  });
}

Json GoldenPromptReport::to_json() const {
  return Json::object({{"name", name},
                       {"rows", rows},
                       {"max_error", max_error},
                       {"mean_kl", mean_kl},
                       {"greedy_compared", greedy_compared},
                       {"greedy_equal", greedy_equal},
                       {"same_bits", has_same_bits}});
}

Json GoldenReport::to_json() const {
  Json list = Json::array();
  for (const GoldenPromptReport& p : prompts) list.push_back(p.to_json());
  Json j = Json::object({{"folder", folder}, {"passed", has_passed()}, {"max_error", max_error()}});
  if (!error.empty()) j.set("error", error);
  j.set("prompts", std::move(list));
  return j;
}

}  // namespace hearth::cli
