// Checkpoints of random weights, for tests and benchmarks: any config, any storage.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/json.h"
#include "base/progress.h"
#include "checkpoint/checkpoint.h"
#include "codec/affine.h"

namespace hearth {

struct MakeCheckpointOptions {
  DType dtype = DType::kBF16;  // of dense tensors and of scales: kF32, kBF16 or kF16
  // Quantizes every weight whose row is a multiple of the group.
  std::optional<codec::AffineFormat> affine = std::nullopt;
  uint64_t seed = 0;
  int64_t shards = 1;  // files of about equal size
  int threads = 1;
  Progress* progress = nullptr;  // may be null; bytes written
};

// Writes a model folder: config.json (with its quantization section), model.safetensors or shards
// with their index. The tensors come from Checkpoint::blueprint of the same config, after a model
// was built from it. Weights are N(0, 1/in) (a sum of four uniforms), biases N(0, 0.02^2), other
// vectors 1 + N(0, 0.1^2): activations keep their size through the layers and logits have a
// standard deviation of about one. Values depend on seed and tensor name only, not on storage,
// shards or threads. Streamed: memory doesn't grow with the model. The folder appears at once when
// complete. Throws kInvalidArgument (bad options, no tensors, a folder that exists and isn't
// empty), kIo.
void make_checkpoint(const std::filesystem::path& folder, const Json& config,
                     std::span<const ExpectedTensor> tensors, const MakeCheckpointOptions& options);

// Configs of the shapes that benchmarks use: "110m", "llama-3.2-1b", "qwen3-0.6b".
std::span<const std::string_view> preset_names();
Json preset_config(std::string_view name);  // throws kInvalidArgument listing the names

}  // namespace hearth
