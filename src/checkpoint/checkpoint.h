// A model as it lies on disk: configuration and tensors by name, without reading tensor bytes.
// Facts: spec/models/common.md sections 1, 9 and 10.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "checkpoint/quantization.h"
#include "checkpoint/safetensors.h"
#include "tensor/tensor.h"
#include "tensor/weight.h"

namespace hearth {

// A tensor that a model asked for: what a checkpoint of its config must hold.
struct ExpectedTensor {
  std::string name;            // "model.norm.weight"
  std::vector<int64_t> shape;  // unpacked: [out, in] for a weight
  bool is_weight = false;      // asked for by weight(), so it may be quantized
};

// What Checkpoint::from_parts needs, for models that don't lie in a folder.
struct CheckpointParts {
  std::string name;                    // for messages
  std::string config_json;             // required
  std::string generation_config_json;  // "" = none
  std::vector<SafetensorsFile> files;
};

// Owned by one thread (it counts which tensors were taken). The tensors and weights it hands out
// are views that keep the mapping alive by themselves; the Checkpoint may die before them.
class Checkpoint {
 public:
  // Opens config.json (required), generation_config.json (ignored with a warning when malformed)
  // and every model*.safetensors of the folder. model.safetensors.index.json is optional; when
  // there, each of its entries must hold. Throws kNotFound (no folder, no config.json, no tensor
  // file), kCorruptData, kUnsupported (`model_file` asks for custom code), kIo.
  static Checkpoint open(const std::filesystem::path& folder);

  // The same checks on parts that are already in memory.
  static Checkpoint from_parts(CheckpointParts parts);

  // A checkpoint without files: every tensor asked for is granted as zeros that take no memory, and
  // recorded. Building a model from it tells which tensors its config needs: expected().
  static Checkpoint blueprint(Json config);

  Checkpoint(Checkpoint&&) noexcept;
  Checkpoint& operator=(Checkpoint&&) noexcept;
  ~Checkpoint();

  // ---- what it says

  const std::string& name() const;  // the folder as given, for messages
  const Json& config() const;       // config.json
  const Json& text_config() const;  // config.text_config of a multimodal checkpoint, else config
  const Json* generation_config() const;  // null when absent or malformed
  const QuantizationConfig& quantization() const;

  // config.model_type after the remapping of common.md 1.2 ("mistral" -> "llama"); throws
  // kCorruptData when config has none. Which types exist is for models/registry to say.
  std::string model_type() const;

  // See end_tokens.h; without the tokenizer's.
  const std::vector<int32_t>& end_token_ids() const;

  // max_position_embeddings of the text config.
  std::optional<int64_t> context_tokens() const;

  // ---- what it holds

  const std::vector<SafetensorsFile>& files() const;  // sorted by name
  std::vector<const TensorInfo*> tensors() const;     // all files, sorted by name
  const TensorInfo* find(std::string_view tensor_name) const;
  bool has(std::string_view tensor_name) const { return find(tensor_name) != nullptr; }
  int64_t tensor_bytes() const;

  // Changes when config, headers, file sizes or modification times do: a key for caches on disk.
  uint64_t fingerprint() const;

  // ---- loading

  // How the module at `path` (without ".weight") is stored; nullopt = dense. Throws as
  // QuantizationConfig::of.
  std::optional<ModuleQuantization> quantization_of(std::string_view path) const;

  // The [out, in] weight of the module at `path`: `path`.weight, with .scales and .biases when it
  // is quantized. Zero-copy. A missing tensor or a wrong shape is recorded for audit(), and zeros
  // of the right shape (which take no memory) are returned in its place, so that audit() can list
  // every fault at once. Throws kUnsupported for storage that can't be computed with (F8, F64,
  // integers, the microscaled modes, foreign quantization), kCorruptData for a quantization that
  // doesn't fit the row or for too many faults.
  Weight weight(std::string_view path, int64_t out, int64_t in);

  // A float tensor (norm, bias, ...) of exactly this shape, in its stored dtype. As weight().
  Tensor tensor(std::string_view tensor_name, std::span<const int64_t> shape);
  Tensor tensor(std::string_view tensor_name, std::initializer_list<int64_t> shape) {
    return tensor(tensor_name, std::span<const int64_t>(shape.begin(), shape.size()));
  }

  // The strict account, after a model took its tensors: throws kCorruptData listing what was
  // missing, had the wrong shape, or was never asked for and matches none of the `ignored` patterns
  // ('*' matches any run of characters: "*.rotary_emb.inv_freq", "lm_head.*"). Lists at most ten
  // names of a kind, and the count. A model isn't usable before this returned.
  void audit(std::span<const std::string_view> ignored = {}) const;
  void audit(std::initializer_list<std::string_view> ignored) const {
    audit(std::span<const std::string_view>(ignored.begin(), ignored.size()));
  }

  // What was asked for so far, in the order asked.
  const std::vector<ExpectedTensor>& expected() const;

 private:
  struct State;
  explicit Checkpoint(std::unique_ptr<State> state);
  Weight affine_weight(std::string_view path, int64_t out, int64_t in, codec::AffineFormat format);

  std::unique_ptr<State> state_;
};

// True when `pattern`, in which '*' matches any run of characters, matches the whole text.
bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace hearth
