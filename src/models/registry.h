// From a folder to a loaded model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/json.h"
#include "models/model.h"

namespace hearth {

class Checkpoint;

// A model and what its configs say about using it.
struct LoadedModel {
  std::unique_ptr<Model> model;
  std::string name;        // for messages: the folder
  std::string model_type;  // after remapping
  std::optional<int64_t> context_tokens;
  std::vector<int32_t> end_tokens;  // of config and generation_config
  Json generation_config;           // an object, or null
  DType activation_dtype =
      DType::kF32;  // what the reference would compute in: the stored type of floats
  int64_t tensor_bytes = 0;
};

// The model of a checkpoint, weights loaded as views. Throws kUnsupported for an unknown model_type, naming those
// that are known; else as the family's constructor.
std::unique_ptr<Model> make_model(Checkpoint& checkpoint);

// Opens the folder's checkpoint and makes its model.
LoadedModel load_model(const std::filesystem::path& folder);

// Known model types, sorted.
std::vector<std::string> supported_model_types();

}  // namespace hearth
