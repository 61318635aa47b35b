#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "checkpoint/checkpoint.h"
#include "checkpoint/inspect.h"
#include "cli/session.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace hearth::cli {
namespace {

struct Options {
  std::string model;
  bool is_json = false;
  bool with_tensors = false;
};

std::string count(int64_t n) {
  if (n >= 1'000'000'000) return fmt::format("{:.2f} G", static_cast<double>(n) / 1e9);
  if (n >= 1'000'000) return fmt::format("{:.1f} M", static_cast<double>(n) / 1e6);
  if (n >= 10'000) return fmt::format("{:.1f} k", static_cast<double>(n) / 1e3);
  return fmt::format("{}", n);
}

void line(std::string_view label, const std::string& value) {
  write_line(fmt::format("{:<18}{}", label, value));
}

void optional_line(std::string_view label, const std::optional<int64_t>& value) {
  if (value) line(label, fmt::format("{}", *value));
}

void print(const CheckpointSummary& s, bool with_tensors) {
  line("model", s.name);
  line("model_type", s.model_type);
  line("parameters", count(s.parameters));
  line("tensors", fmt::format("{} in {} file{}, {}B", s.tensors.size(), s.files,
                              s.files == 1 ? "" : "s", count(s.tensor_bytes)));
  line("bits per weight", fmt::format("{:.2f}", s.bits_per_weight));
  line("quantization", s.quantization);
  optional_line("layers", s.layers);
  optional_line("hidden size", s.hidden_size);
  if (s.heads && s.kv_heads && s.head_dim)
    line("heads",
         fmt::format("{} of {}, {} for keys and values", *s.heads, *s.head_dim, *s.kv_heads));
  optional_line("vocabulary", s.vocab_size);
  optional_line("context", s.context_tokens);
  if (s.kv_bytes_per_token_bf16 && s.kv_bytes_per_token_f32) {
    line("KV per token", fmt::format("{}B in 16 bit, {}B in f32", count(*s.kv_bytes_per_token_bf16),
                                     count(*s.kv_bytes_per_token_f32)));
    if (s.context_tokens) {
      line("memory",
           fmt::format("{}B for weights and a context of {} in 16 bit",
                       count(s.tensor_bytes + *s.kv_bytes_per_token_bf16 * *s.context_tokens),
                       *s.context_tokens));
    }
  }
  std::string ends;
  for (const int32_t id : s.end_token_ids)
    ends += fmt::format("{}{}", ends.empty() ? "" : ", ", id);
  if (!ends.empty()) line("end tokens", ends);
  for (const StorageSummary& storage : s.by_storage) {
    line("stored as",
         fmt::format("{}: {} tensors, {} parameters, {}B", storage.storage, storage.tensors,
                     count(storage.parameters), count(storage.bytes)));
  }
  if (!with_tensors) return;
  write_line("");
  for (const TensorSummary& t : s.tensors) {
    std::string shape;
    for (const int64_t n : t.shape) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", n);
    write_line(fmt::format("{:<56} {:<28} [{}]", printable_message(t.name), t.storage, shape));
  }
}

int run(const Options& o) {
  const CheckpointSummary summary = inspect(Checkpoint::open(model_folder(o.model)));
  if (o.is_json)
    write_line(to_json(summary).dump({.indent = 2}));
  else
    print(summary, o.with_tensors);
  return 0;
}

}  // namespace

std::function<int()> setup_inspect(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("model,--model,-m", o->model,
                 "A checkpoint's folder, starter-stories or starter-chat")
      ->required();
  app.add_flag("--tensors", o->with_tensors, "List every tensor");
  app.add_flag("--json", o->is_json, "One JSON object instead of text");
  return [o] { return run(*o); };
}

}  // namespace hearth::cli
