#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include "base/random.h"
#include "cli/session.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "kernels/table.h"

namespace hearth::cli {
namespace {

struct Options {
  ModelOptions model;
  int64_t prompt = 128;
  int64_t tokens = 64;
  int64_t rows = 1;
  int repeat = 5;
  bool is_json = false;
};

struct Run {
  double prefill_per_second;
  double decode_per_second;
};

Run measure(const Model& model, const EngineOptions& options, const Options& o) {
  Engine engine(model, options);
  SplitMix64 random(1);
  std::vector<std::shared_ptr<const Generation>> rows;
  const Stopwatch watch;
  for (int64_t i = 0; i < o.rows; ++i) {
    std::vector<int32_t> prompt;
    for (int64_t t = 0; t < o.prompt; ++t)
      prompt.push_back(static_cast<int32_t>(random.below(model.vocab_size())));
    rows.push_back(engine.submit({.prompt = std::move(prompt),
                                  .max_tokens = o.tokens + 1,
                                  .sampling = {},
                                  .end_tokens = {}}));
  }
  const auto all_started = [&] {
    return std::ranges::all_of(rows, [](const auto& r) { return !r->tokens.empty(); });
  };
  while (!all_started() && engine.step()) {
  }
  const double prefill = watch.seconds();
  int64_t before = 0;
  for (const auto& r : rows) before += static_cast<int64_t>(r->tokens.size());
  engine.run();
  const double decode = watch.seconds() - prefill;
  int64_t after = 0;
  for (const auto& r : rows) after += static_cast<int64_t>(r->tokens.size());
  return {static_cast<double>(o.rows * o.prompt) / prefill,
          static_cast<double>(after - before) / decode};
}

// Of this process, mapped files included; 0 when the system doesn't say.
int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");  // pages: size resident ...
  int64_t size = 0;
  int64_t resident = 0;
  file >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

int run(const Options& o) {
  const Stopwatch watch;
  const LoadedModel loaded =
      load_model(model_folder(o.model.model));  // random tokens need no tokenizer
  const double open_seconds = watch.seconds();
  const int64_t open_bytes = resident_bytes();
  ModelOptions chosen = o.model;
  chosen.context_tokens = std::max(o.model.context_tokens, o.prompt + o.tokens + 1);
  EngineOptions options = engine_options(loaded, chosen);
  options.kv_budget_bytes *= o.rows;
  std::vector<double> prefill;
  std::vector<double> decode;
  for (int i = 0; i < o.repeat; ++i) {
    const Run r = measure(*loaded.model, options, o);
    prefill.push_back(r.prefill_per_second);
    decode.push_back(r.decode_per_second);
  }
  const auto [p_min, p_max] = std::ranges::minmax(prefill);
  const auto [d_min, d_max] = std::ranges::minmax(decode);
  const int threads = o.model.threads > 0 ? o.model.threads : ThreadPool::available_threads();
  if (o.is_json) {
    const auto figure = [](double mid, double low, double high) {
      return Json::object({{"median", mid}, {"min", low}, {"max", high}});
    };
    write_line(Json::object({{"model", o.model.model},
                             {"target", kernels::table().target},
                             {"threads", threads},
                             {"numerics", o.model.numerics},
                             {"rows", o.rows},
                             {"prompt_tokens", o.prompt},
                             {"generated_tokens", o.tokens},
                             {"open_seconds", open_seconds},
                             {"open_resident_bytes", open_bytes},
                             {"prefill_tokens_per_second", figure(median(prefill), p_min, p_max)},
                             {"decode_tokens_per_second", figure(median(decode), d_min, d_max)}})
                   .dump());
    return 0;
  }
  write_line(fmt::format("{} threads, target {}, numerics {}, opened in {:.1f} ms", threads,
                         kernels::table().target, o.model.numerics, open_seconds * 1e3));
  write_line(fmt::format("prefill  {} x {:>5} tokens  {:>10.1f} tokens/s  ({:.1f} to {:.1f})",
                         o.rows, o.prompt, median(prefill), p_min, p_max));
  write_line(fmt::format("decode   {} x {:>5} tokens  {:>10.1f} tokens/s  ({:.1f} to {:.1f})",
                         o.rows, o.tokens, median(decode), d_min, d_max));
  return 0;
}

}  // namespace

std::function<int()> setup_bench(CLI::App& app) {
  auto o = std::make_shared<Options>();
  add_model_option(app, o->model, "starter-stories");
  app.add_option("--prompt", o->prompt, "Tokens of the prompt")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->capture_default_str();
  app.add_option("--tokens", o->tokens, "Tokens to generate")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->capture_default_str();
  app.add_option("--rows", o->rows, "Sequences at once")
      ->check(CLI::Range(int64_t{1}, int64_t{64}))
      ->capture_default_str();
  app.add_option("--repeat", o->repeat, "Runs; the median is shown")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--json", o->is_json, "One JSON object instead of text");
  add_engine_options(app, o->model);
  return [o] { return run(*o); };
}

}  // namespace hearth::cli
