#include "cli/session.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <system_error>

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include "base/checked.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "base/paths.h"
#include "cli/terminal.h"
#include "starters/starters.h"

namespace hearth::cli {
namespace {

// Is the file on disk, byte for byte, what the binary holds?
bool is_laid_out(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  try {
    return std::ranges::equal(MappedFile::open(path)->bytes(), bytes);
  } catch (const Error&) {
    return false;
  }
}

// Files that are already there are kept, so that two processes share their pages.
bool lay_out(const std::filesystem::path& folder, std::span<const EmbeddedFile> files) {
  try {
    std::filesystem::create_directories(folder);
    for (const EmbeddedFile& f : files)
      if (!is_laid_out(folder / f.name, f.bytes)) write_file_atomic(folder / f.name, f.bytes);
    return true;
  } catch (const Error&) {
    return false;
  } catch (const std::filesystem::filesystem_error&) {
    return false;
  }
}

// For a read-only or absent home: a folder under the system's temporary one that is this user's alone.
std::optional<std::filesystem::path> private_temporary_folder() {
  std::error_code missing;
  const std::filesystem::path system = std::filesystem::temp_directory_path(missing);
  const std::filesystem::path path =
      (missing ? std::filesystem::path("/tmp") : system) / fmt::format("hearth-{}", ::getuid());
  ::mkdir(path.c_str(), 0700);  // it may be there from an earlier run; what counts is whose it is
  struct stat info{};
  const bool is_ours = ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
                       info.st_uid == ::getuid() && (info.st_mode & 077U) == 0;
  return is_ours ? std::optional(path) : std::nullopt;
}

std::filesystem::path starter_folder(const std::string& starter) {
  const auto files = starter_files(starter);
  HEARTH_CHECK(!files.empty(), "starter ", starter, " is not in this build");
  const std::filesystem::path usual = cache_dir();
  if (!usual.empty() && lay_out(usual / "starters" / starter, files))
    return usual / "starters" / starter;
  const std::optional<std::filesystem::path> fallback = private_temporary_folder();
  if (!fallback || !lay_out(*fallback / starter, files)) {
    fail(Code::kInvalidArgument, "can't lay out ", starter, " under ", usual.string(),
         " nor under the system's temporary folder; set HEARTH_HOME to a folder that can be "
         "written");
  }
  return *fallback / starter;
}

// The tokenizer's end-of-sequence token ends an answer too.
std::vector<int32_t> all_end_tokens(const LoadedModel& loaded, const Tokenizer& tokenizer) {
  std::vector<int32_t> ends = loaded.end_tokens;
  if (const auto eos = tokenizer.eos_id(); eos && std::ranges::find(ends, *eos) == ends.end())
    ends.push_back(*eos);
  return ends;
}

}  // namespace

void add_model_option(CLI::App& app, ModelOptions& options, std::string_view default_model) {
  options.model = default_model;
  app.add_option("--model,-m", options.model,
                 "starter-stories, starter-chat or a checkpoint's folder")
      ->capture_default_str();
}

void add_engine_options(CLI::App& app, ModelOptions& options) {
  app.add_option("--threads", options.threads, "Threads; 0 = all that this process may use")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--numerics", options.numerics,
                 "fast: 8-bit activations with quantized weights; exact: f32")
      ->check(CLI::IsMember({"fast", "exact"}))
      ->capture_default_str();
  app.add_option("--kv-dtype", options.kv_dtype,
                 "How keys and values are stored; auto = as the checkpoint computes")
      ->check(CLI::IsMember({"auto", "f32", "bf16", "f16"}))
      ->capture_default_str();
  app.add_option("--context", options.context_tokens,
                 fmt::format("Longest prompt and answer in tokens; 0 = the model's, at most {}",
                             kDefaultContext))
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 24))
      ->capture_default_str();
}

void add_sampling_options(CLI::App& app, SamplingOptions& options) {
  app.add_option("--temp,--temperature", options.temperature, "Temperature; 0 = greedy")
      ->check(CLI::Range(0.0, 100.0));
  app.add_option("--top-p", options.top_p, "Keep the most probable tokens up to this mass")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--min-p", options.min_p,
                 "Keep tokens at least this fraction as probable as the best")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--top-k", options.top_k, "Keep this many tokens; 0 = all")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seed", options.seed, "Seed of the draws; without it every run differs");
}

bool is_starter(const std::string& model) { return !starter_files(model).empty(); }

std::filesystem::path model_folder(const std::string& model) {
  if (is_starter(model)) return starter_folder(model);
  std::error_code ignored;
  if (std::filesystem::is_directory(model, ignored)) return model;
  fail(Code::kNotFound, "--model ", model,
       " is not a folder; give a checkpoint's folder (with config.json), ",
       "starter-stories or starter-chat");
}

DType parse_kv_dtype(const std::string& text, DType activation) {
  if (text == "f32") return DType::kF32;
  if (text == "bf16") return DType::kBF16;
  if (text == "f16") return DType::kF16;
  return activation;
}

Numerics parse_numerics(const std::string& text) {
  return text == "exact" ? Numerics::kExact : Numerics::kFast;
}

EngineOptions engine_options(const LoadedModel& loaded, const ModelOptions& options) {
  EngineOptions engine;
  engine.threads = options.threads;
  engine.numerics = parse_numerics(options.numerics);
  engine.kv_dtype = parse_kv_dtype(options.kv_dtype, loaded.activation_dtype);
  const int64_t own = loaded.context_tokens.value_or(kDefaultContext);
  engine.context_tokens =
      options.context_tokens > 0 ? options.context_tokens : std::min(own, kDefaultContext);
  // Two pages more than the context fills, since a sequence's last page may be half empty.
  const std::optional<int64_t> bytes =
      checked_mul(PagePool::token_bytes(loaded.model->cache_layout(), engine.kv_dtype),
                  engine.context_tokens + 128);
  require(bytes.has_value(), "--context ", engine.context_tokens,
          " needs more memory than there are addresses");
  engine.kv_budget_bytes = *bytes;
  return engine;
}

Session Session::open(const ModelOptions& options) {
  const Stopwatch watch;
  const std::filesystem::path folder = model_folder(options.model);
  LoadedModel loaded = load_model(folder);
  Tokenizer tokenizer = Tokenizer::load(folder);
  std::optional<ChatTemplate> chat = ChatTemplate::find(folder);
  Session s{.loaded = std::move(loaded),
            .tokenizer = std::move(tokenizer),
            .chat = std::move(chat),
            .end_tokens = {},
            .engine = {},
            .open_seconds = 0};
  s.end_tokens = all_end_tokens(s.loaded, s.tokenizer);
  s.engine = engine_options(s.loaded, options);
  s.open_seconds = watch.seconds();
  if (is_starter(options.model)) {
    log_info(fmt::format(
        "model {}: a tiny demonstration model that is part of this program (see models/README.md); "
        "choose another with --model FOLDER",
        options.model));
  } else {
    log_info(fmt::format("model {}", options.model));
  }
  return s;
}

SamplingParams Session::sampling(const SamplingOptions& options) const {
  const Json& defaults = loaded.generation_config;
  SamplingParams p;
  try {
    p.temperature = defaults.get_float("temperature", 0.0F);
    p.top_p = defaults.get_float("top_p", 0.0F);
    p.top_k = defaults.get_int("top_k", 0);
    check(p);
  } catch (const Error&) {
    rethrow_with(loaded.name + "/generation_config.json");
  }
  p.temperature = options.temperature.value_or(p.temperature);
  p.top_p = options.top_p.value_or(p.top_p);
  p.min_p = options.min_p.value_or(0.0F);
  p.top_k = options.top_k.value_or(p.top_k);
  p.seed = options.seed ? *options.seed : std::random_device{}();
  check(p);
  return p;
}

}  // namespace hearth::cli
