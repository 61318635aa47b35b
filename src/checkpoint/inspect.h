// What a checkpoint is, in numbers, without reading its tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "checkpoint/checkpoint.h"

namespace hearth {

struct TensorSummary {
  std::string name;     // a quantized module's three tensors are one entry, under "<path>.weight"
  std::string storage;  // "BF16", "affine 4 bits group 64"
  std::vector<int64_t> shape;  // unpacked
  int64_t parameters = 0;
  int64_t bytes = 0;
};

struct StorageSummary {
  std::string storage;
  int64_t tensors = 0;
  int64_t parameters = 0;
  int64_t bytes = 0;
};

// Facts that config.json doesn't tell are nullopt.
struct CheckpointSummary {
  std::string name;
  std::string model_type;  // as in config.json
  int64_t parameters = 0;
  int64_t tensor_bytes = 0;
  double bits_per_weight = 0.0;  // everything: scales, norms, embeddings
  std::string quantization;  // "none", "affine 4 bits group 64, 7 exceptions", or why it is refused
  std::optional<int64_t> layers, hidden_size, heads, kv_heads, head_dim, vocab_size;
  std::optional<int64_t> context_tokens;
  // Keys and values of one token over all layers, were all of them full attention.
  std::optional<int64_t> kv_bytes_per_token_f32, kv_bytes_per_token_bf16;
  std::vector<int32_t> end_token_ids;
  std::vector<StorageSummary> by_storage;  // largest first
  std::vector<TensorSummary> tensors;      // sorted by name
  int64_t files = 0;
};

CheckpointSummary inspect(const Checkpoint& checkpoint);

// For --json: the fields above, under their own names.
Json to_json(const CheckpointSummary& summary);

}  // namespace hearth
