// A model ready for use: weights, tokenizer, template, engine settings. Shared by the verbs that run one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/engine.h"
#include "models/registry.h"
#include "sampling/sampler.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace CLI {
class App;
}

namespace hearth::cli {

// Options that every verb with a model has.
struct ModelOptions {
  std::string model;  // "starter-stories", "starter-chat" or a folder
  int threads = 0;
  std::string numerics = "fast";
  std::string kv_dtype = "auto";
  int64_t context_tokens = 0;  // 0 = the model's own, up to kDefaultContext
};
inline constexpr int64_t kDefaultContext = 8192;

void add_model_option(CLI::App& app, ModelOptions& options, std::string_view default_model);
void add_engine_options(CLI::App& app, ModelOptions& options);

struct SamplingOptions {
  std::optional<float> temperature;
  std::optional<float> top_p;
  std::optional<float> min_p;
  std::optional<int64_t> top_k;
  std::optional<uint64_t> seed;
};
void add_sampling_options(CLI::App& app, SamplingOptions& options);

// The folder that --model means. A starter's files are laid out once under Hearth's cache folder, byte for byte as
// they are in the binary. Throws kNotFound naming what would be right.
std::filesystem::path model_folder(const std::string& model);
bool is_starter(const std::string& model);

// The engine that the options ask for: its pages hold one full context.
EngineOptions engine_options(const LoadedModel& loaded, const ModelOptions& options);

struct Session {
  LoadedModel loaded;
  Tokenizer tokenizer;
  std::optional<ChatTemplate> chat;  // absent: a base model
  std::vector<int32_t> end_tokens;   // configs and tokenizer together
  EngineOptions engine;
  double open_seconds = 0;

  // Says on stderr which model it is, and of a starter that it is a tiny demonstration.
  static Session open(const ModelOptions& options);

  // Option, else generation_config.json, else off (temperature: greedy).
  SamplingParams sampling(const SamplingOptions& options) const;
};

// "kv_dtype" of the command line; `auto` stores what the checkpoint computes in.
DType parse_kv_dtype(const std::string& text, DType activation);
Numerics parse_numerics(const std::string& text);

}  // namespace hearth::cli
