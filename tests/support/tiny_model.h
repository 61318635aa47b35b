// Small models of random weights, for properties that hold whatever the weights are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/json.h"
#include "checkpoint/make_checkpoint.h"
#include "models/registry.h"

namespace hearth::test_support {

struct TinyShape {
  std::string model_type = "llama";
  int64_t layers = 2;
  int64_t hidden = 128;
  int64_t intermediate = 256;
  int64_t heads = 4;
  int64_t kv_heads = 2;
  int64_t head_dim = 32;
  int64_t vocab = 160;
  int64_t window = 0;  // > 0: every other layer slides
  bool is_tied = true;
};

Json tiny_config(const TinyShape& shape);

// Writes the checkpoint to `folder` (which must not exist) and loads it.
LoadedModel make_tiny_model(const std::filesystem::path& folder, const Json& config,
                            const MakeCheckpointOptions& options);

}  // namespace hearth::test_support
