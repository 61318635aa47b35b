#include "checkpoint/inspect.h"

#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "base/error.h"

namespace hearth {
namespace {

constexpr std::string_view kWeight = ".weight";

// How the module that owns this packed weight is stored; nullopt when it is no quantized weight
// that we can read.
std::optional<ModuleQuantization> packed_storage(const Checkpoint& c, const TensorInfo& weight) {
  if (weight.dtype != DType::kU32 || !weight.name.ends_with(kWeight) || weight.shape.empty())
    return std::nullopt;
  const std::string path = weight.name.substr(0, weight.name.size() - kWeight.size());
  if (!c.has(path + ".scales") || !c.quantization().is_present() ||
      !c.quantization().refusal().empty())
    return std::nullopt;
  return c.quantization().of(path, /*has_scales=*/true);
}

// The packed weight that a ".scales" or ".biases" tensor belongs to, else null.
const TensorInfo* owner_of(const Checkpoint& c, const TensorInfo& t) {
  for (const std::string_view suffix : {".scales", ".biases"}) {
    if (!t.name.ends_with(suffix)) continue;
    const TensorInfo* weight =
        c.find(t.name.substr(0, t.name.size() - suffix.size()) + std::string(kWeight));
    if (weight != nullptr && packed_storage(c, *weight)) return weight;
  }
  return nullptr;
}

TensorSummary summarise(const Checkpoint& c, const TensorInfo& t) {
  TensorSummary s{.name = t.name,
                  .storage = to_string(t.dtype),
                  .shape = t.shape,
                  .parameters = t.elements(),
                  .bytes = t.size_bytes()};
  const auto q = packed_storage(c, t);
  if (!q) return s;
  s.storage = to_string(*q);
  s.shape.back() = checked_mul(s.shape.back(), 32).value_or(0) / q->bits;
  s.parameters = t.elements() * 32 / q->bits;
  const std::string path = t.name.substr(0, t.name.size() - kWeight.size());
  for (const char* suffix : {".scales", ".biases"}) {
    if (const TensorInfo* part = c.find(path + suffix)) s.bytes += part->size_bytes();
  }
  return s;
}

std::string describe_quantization(const QuantizationConfig& q) {
  if (!q.is_present()) return "none";
  if (!q.refusal().empty()) return "refused: " + q.refusal();
  std::string out = to_string(q.global());
  if (q.override_count() > 0)
    out += ", " + std::to_string(q.override_count()) +
           (q.override_count() == 1 ? " exception" : " exceptions");
  return out;
}

std::optional<int64_t> positive_int(const Json& config, std::string_view key) {
  const Json* value = config.find_value(key);
  if (value == nullptr || !value->is_int() || value->as_int() < 1) return std::nullopt;
  return value->as_int();
}

void read_shape(const Json& config, CheckpointSummary& s) {
  s.layers = positive_int(config, "num_hidden_layers");
  s.hidden_size = positive_int(config, "hidden_size");
  s.heads = positive_int(config, "num_attention_heads");
  s.kv_heads = positive_int(config, "num_key_value_heads");
  s.head_dim = positive_int(config, "head_dim");
  s.vocab_size = positive_int(config, "vocab_size");
  if (!s.kv_heads) s.kv_heads = s.heads;
  if (!s.head_dim && s.hidden_size && s.heads) s.head_dim = *s.hidden_size / *s.heads;
  if (!s.layers || !s.kv_heads || !s.head_dim) return;
  const int64_t factors[] = {*s.layers, *s.kv_heads, *s.head_dim, 2,
                             4};  // keys and values, 4 bytes
  s.kv_bytes_per_token_f32 = checked_product(factors);
  if (s.kv_bytes_per_token_f32) s.kv_bytes_per_token_bf16 = *s.kv_bytes_per_token_f32 / 2;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace

CheckpointSummary inspect(const Checkpoint& checkpoint) {
  CheckpointSummary s;
  s.name = checkpoint.name();
  const Json* type = checkpoint.config().find_value("model_type");
  if (type != nullptr && type->is_string()) s.model_type = type->as_string();
  s.tensor_bytes = checkpoint.tensor_bytes();
  s.quantization = describe_quantization(checkpoint.quantization());
  s.context_tokens = checkpoint.context_tokens();
  s.end_token_ids = checkpoint.end_token_ids();
  s.files = std::ssize(checkpoint.files());
  read_shape(checkpoint.text_config(), s);
  for (const TensorInfo* t : checkpoint.tensors()) {
    if (owner_of(checkpoint, *t) != nullptr) continue;
    s.tensors.push_back(summarise(checkpoint, *t));
    const TensorSummary& last = s.tensors.back();
    s.parameters += last.parameters;
    auto group = std::ranges::find(s.by_storage, last.storage, &StorageSummary::storage);
    if (group == s.by_storage.end()) {
      s.by_storage.push_back({.storage = last.storage});
      group = s.by_storage.end() - 1;
    }
    ++group->tensors;
    group->parameters += last.parameters;
    group->bytes += last.bytes;
  }
  std::ranges::stable_sort(s.by_storage, std::ranges::greater{}, &StorageSummary::bytes);
  if (s.parameters > 0)
    s.bits_per_weight =
        8.0 * static_cast<double>(s.tensor_bytes) / static_cast<double>(s.parameters);
  return s;
}

Json to_json(const CheckpointSummary& s) {
  Json out = Json::object({
      {"name", Json(s.name)},
      {"model_type", Json(s.model_type)},
      {"parameters", Json(s.parameters)},
      {"tensor_bytes", Json(s.tensor_bytes)},
      {"bits_per_weight", Json(s.bits_per_weight)},
      {"quantization", Json(s.quantization)},
      {"layers", or_null(s.layers)},
      {"hidden_size", or_null(s.hidden_size)},
      {"heads", or_null(s.heads)},
      {"kv_heads", or_null(s.kv_heads)},
      {"head_dim", or_null(s.head_dim)},
      {"vocab_size", or_null(s.vocab_size)},
      {"context_tokens", or_null(s.context_tokens)},
      {"kv_bytes_per_token_f32", or_null(s.kv_bytes_per_token_f32)},
      {"kv_bytes_per_token_bf16", or_null(s.kv_bytes_per_token_bf16)},
      {"files", Json(s.files)},
  });
  Json ids = Json::array(), storages = Json::array(), tensors = Json::array();
  for (const int32_t id : s.end_token_ids) ids.push_back(Json(id));
  for (const StorageSummary& g : s.by_storage) {
    storages.push_back(Json::object({{"storage", Json(g.storage)},
                                     {"tensors", Json(g.tensors)},
                                     {"parameters", Json(g.parameters)},
                                     {"bytes", Json(g.bytes)}}));
  }
  for (const TensorSummary& t : s.tensors) {
    Json shape = Json::array();
    for (const int64_t extent : t.shape) shape.push_back(Json(extent));
    tensors.push_back(Json::object({{"name", Json(t.name)},
                                    {"storage", Json(t.storage)},
                                    {"shape", std::move(shape)},
                                    {"parameters", Json(t.parameters)},
                                    {"bytes", Json(t.bytes)}}));
  }
  out.set("end_token_ids", std::move(ids));
  out.set("by_storage", std::move(storages));
  out.set("tensors", std::move(tensors));
  return out;
}

}  // namespace hearth
