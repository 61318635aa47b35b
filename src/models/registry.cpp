#include "models/registry.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "models/llama.h"

namespace hearth {
namespace {

struct Family {
  std::string_view model_type;
  std::unique_ptr<Model> (*make)(Checkpoint&);
};

// Listed by hand; nothing registers itself. Sorted by model_type.
constexpr std::array<Family, 3> kFamilies = {{
    {"llama", make_llama},
    {"qwen2", make_qwen2},
    {"qwen3", make_qwen3},
}};

// The type of the first float tensor that a model of this checkpoint computes with.
DType stored_float(const Checkpoint& checkpoint) {
  for (const TensorInfo* t : checkpoint.tensors())
    if (t->dtype == DType::kF32 || t->dtype == DType::kBF16 || t->dtype == DType::kF16)
      return t->dtype;
  return DType::kF32;
}

}  // namespace

std::vector<std::string> supported_model_types() {
  std::vector<std::string> types;
  for (const Family& f : kFamilies) types.emplace_back(f.model_type);
  return types;
}

std::unique_ptr<Model> make_model(Checkpoint& checkpoint) {
  const std::string type = checkpoint.model_type();
  const auto* family = std::ranges::find(kFamilies, type, &Family::model_type);
  if (family == kFamilies.end()) {
    std::string known;
    for (const std::string& t : supported_model_types()) known += (known.empty() ? "" : ", ") + t;
    fail(Code::kUnsupported, checkpoint.name(), "/config.json: \"model_type\" \"", type,
         "\" is not supported; supported are ", known);
  }
  try {
    return family->make(checkpoint);
  } catch (const Error& e) {
    if (e.message().starts_with(checkpoint.name())) throw;  // says already which checkpoint
    rethrow_with(checkpoint.name() + "/config.json");
  }
}

LoadedModel load_model(const std::filesystem::path& folder) {
  Checkpoint checkpoint = Checkpoint::open(folder);
  LoadedModel m;
  m.model = make_model(checkpoint);
  m.name = checkpoint.name();
  m.model_type = checkpoint.model_type();
  m.context_tokens = checkpoint.context_tokens();
  m.end_tokens = checkpoint.end_token_ids();
  if (const Json* generation = checkpoint.generation_config()) m.generation_config = *generation;
  m.activation_dtype = stored_float(checkpoint);
  m.tensor_bytes = checkpoint.tensor_bytes();
  return m;
}

}  // namespace hearth
