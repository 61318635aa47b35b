#include <cstdint>
#include <memory>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/make_checkpoint.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "models/registry.h"

namespace hearth::cli {
namespace {

struct Options {
  std::string folder;
  std::string preset;
  std::string config;
  std::string dtype = "bf16";
  int bits = 0;
  int64_t group = 64;
  int64_t shards = 1;
  uint64_t seed = 0;
};

constexpr int64_t kMaxConfigBytes = 16 << 20;

int run(const Options& o) {
  require(o.preset.empty() != o.config.empty(), "give either --preset or --config");
  const Json config = o.preset.empty() ? Json::parse(read_text_file(o.config, kMaxConfigBytes),
                                                     {.allow_nonfinite = true})
                                       : preset_config(o.preset);
  MakeCheckpointOptions options;
  options.dtype = o.dtype == "f32" ? DType::kF32 : o.dtype == "f16" ? DType::kF16 : DType::kBF16;
  if (o.bits != 0) options.affine = codec::AffineFormat{o.bits, o.group};
  options.seed = o.seed;
  options.shards = o.shards;
  options.threads = ThreadPool::available_threads();
  // Building the model from a checkpoint without files tells which tensors its config needs.
  Checkpoint blueprint = Checkpoint::blueprint(config);
  make_model(blueprint);
  const Stopwatch watch;
  {
    ProgressLine progress;
    options.progress = &progress;
    make_checkpoint(o.folder, config, blueprint.expected(), options);
  }
  log_info(fmt::format("wrote {} in {:.1f} s", o.folder, watch.seconds()));
  return 0;
}

}  // namespace

std::function<int()> setup_make_checkpoint(CLI::App& app) {
  auto o = std::make_shared<Options>();
  std::string names;
  for (const std::string_view name : preset_names())
    names += (names.empty() ? "" : ", ") + std::string(name);
  app.add_option("folder", o->folder, "Folder to write; must not exist or be empty")->required();
  app.add_option("--preset", o->preset, "Shape of a known model: " + names);
  app.add_option("--config", o->config, "config.json of the model to imitate");
  app.add_option("--dtype", o->dtype, "Type of dense tensors and of scales")
      ->check(CLI::IsMember({"f32", "bf16", "f16"}))
      ->capture_default_str();
  app.add_option("--bits", o->bits, "Quantize to 2, 3, 4, 5, 6 or 8 bits")
      ->check(CLI::IsMember({2, 3, 4, 5, 6, 8}));
  app.add_option("--group", o->group, "Quantization group")
      ->check(CLI::IsMember({32, 64, 128}))
      ->capture_default_str();
  app.add_option("--shards", o->shards, "Files to write")
      ->check(CLI::Range(int64_t{1}, int64_t{1000}))
      ->capture_default_str();
  app.add_option("--seed", o->seed, "Seed of the weights")->capture_default_str();
  return [o] { return run(*o); };
}

}  // namespace hearth::cli
