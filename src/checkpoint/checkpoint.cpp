#include "checkpoint/checkpoint.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "checkpoint/checkpoint_state.h"

namespace hearth {
namespace {

// Beyond this many faults the files don't belong to the config; listing more helps nobody, and a
// hostile config with a billion layers must end.
constexpr size_t kMaxFaults = 256;
constexpr size_t kMaxExpected = 1'000'000;
constexpr size_t kMaxListed = 10;

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kRemap = {{
    {"mistral", "llama"},
    {"llava", "mistral3"},
    {"phi-msft", "phixtral"},
    {"falcon_mamba", "mamba"},
    {"joyai_llm_flash", "deepseek_v3"},
    {"kimi_k2", "deepseek_v3"},
    {"qwen2_5_vl", "qwen2_vl"},
    {"minimax_m2", "minimax"},
    {"iquestcoder", "llama"},
    {"gemma4_unified", "gemma4"},
}};

bool is_computable(DType t) { return t == DType::kF32 || t == DType::kBF16 || t == DType::kF16; }

// Refuses a stored type that no op reads, with the reason.
void check_float(const TensorInfo& info, const std::string& where) {
  if (is_computable(info.dtype)) return;
  const std::string culprit =
      where + ": tensor " + printable(info.name) + " is stored as " + to_string(info.dtype);
  if (info.dtype == DType::kF8E4M3 || info.dtype == DType::kF8E5M2) {
    fail(Code::kUnsupported, culprit,
         ": 8-bit floating-point weights are not supported yet; use the BF16 checkpoint or its MLX "
         "affine conversion");
  }
  if (info.dtype == DType::kU32 || info.dtype == DType::kI32) {
    fail(Code::kCorruptData, culprit,
         " (packed codes?), but the \"quantization\" section of config.json doesn't say that it is "
         "quantized; use the "
         "config.json that came with these weights");
  }
  fail(Code::kUnsupported, culprit,
       ", which is not supported for weights; convert it to F32, BF16 or F16");
}

// "missing (12): a, b, c, ...; "
void append_list(std::string& out, std::string_view what, const std::vector<std::string>& names) {
  if (names.empty()) return;
  if (!out.empty()) out += "; ";
  out += std::string(what) + " (" + std::to_string(names.size()) + "): ";
  for (size_t i = 0; i < std::min(names.size(), kMaxListed); ++i)
    out += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kMaxListed) out += ", ...";
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0;
  size_t star = std::string_view::npos,
         resume = 0;  // the last '*', and where its run was assumed to end
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// ---- state

Checkpoint::State::Entry* Checkpoint::State::find(std::string_view tensor_name) {
  const auto at = std::ranges::lower_bound(
      entries, tensor_name, {}, [](const Entry& e) -> std::string_view { return e.info->name; });
  return at != entries.end() && at->info->name == tensor_name ? &*at : nullptr;
}

void Checkpoint::State::expect(std::string tensor_name, std::span<const int64_t> shape,
                               bool is_weight) {
  require_data(expected.size() < kMaxExpected, name, ": config.json asks for more than ",
               kMaxExpected, " tensors");
  const auto elements = checked_product(shape);
  require_data(elements.has_value() && *elements <= INT64_MAX / 8, name,
               ": config.json asks for tensor ", tensor_name, " of shape ",
               shape_text({shape.begin(), shape.end()}), ", which is larger than any file");
  expected.push_back({std::move(tensor_name), {shape.begin(), shape.end()}, is_weight});
}

Tensor Checkpoint::State::placeholder(std::string_view tensor_name, std::span<const int64_t> shape,
                                      DType dtype) {
  const Shape s(shape);
  const int64_t bytes = s.size() * bytes_of(dtype);
  try {
    if (!zeros.keep_alive || std::ssize(zeros.bytes) < bytes) zeros = ZeroPages::map(bytes);
  } catch (const Error&) {
    rethrow_with(name + ": config.json asks for tensor " + std::string(tensor_name));
  }
  return Tensor::view(zeros.bytes.first(static_cast<size_t>(bytes)), s, dtype, zeros.keep_alive);
}

Tensor Checkpoint::State::take(std::string_view tensor_name, std::span<const int64_t> shape,
                               DType otherwise) {
  Entry* entry = is_blueprint ? nullptr : find(tensor_name);
  if (entry != nullptr) {
    entry->is_taken = true;
    if (std::ranges::equal(entry->info->shape, shape)) return entry->file->tensor(*entry->info);
    misshapen.push_back(printable(tensor_name) + " is " + shape_text(entry->info->shape) +
                        ", expected " + shape_text({shape.begin(), shape.end()}));
  } else if (!is_blueprint) {
    missing.push_back(printable(tensor_name));
  }
  return placeholder(tensor_name, shape, otherwise);
}

// ---- what it says

Checkpoint::Checkpoint(std::unique_ptr<State> state) : state_(std::move(state)) {}
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;
Checkpoint::~Checkpoint() = default;

const std::string& Checkpoint::name() const { return state_->name; }
const Json& Checkpoint::config() const { return state_->config; }

const Json& Checkpoint::text_config() const {
  const Json* text = state_->config.find_value("text_config");
  return text != nullptr ? *text : state_->config;
}

const Json* Checkpoint::generation_config() const {
  return state_->generation_config ? &*state_->generation_config : nullptr;
}

const QuantizationConfig& Checkpoint::quantization() const { return state_->quantization; }
const std::vector<int32_t>& Checkpoint::end_token_ids() const { return state_->end_token_ids; }
const std::vector<SafetensorsFile>& Checkpoint::files() const { return state_->files; }
const std::vector<ExpectedTensor>& Checkpoint::expected() const { return state_->expected; }
uint64_t Checkpoint::fingerprint() const { return state_->fingerprint; }

std::string Checkpoint::model_type() const {
  const Json* type = state_->config.find_value("model_type");
  require_data(type != nullptr && type->is_string(), name(),
               ": config.json needs \"model_type\", which says what architecture this is");
  const auto* mapped =
      std::ranges::find(kRemap, type->as_string(), &decltype(kRemap)::value_type::first);
  return mapped != kRemap.end() ? std::string(mapped->second) : type->as_string();
}

std::optional<int64_t> Checkpoint::context_tokens() const {
  const Json* length = text_config().find_value("max_position_embeddings");
  if (length == nullptr || !length->is_int() || length->as_int() < 1) return std::nullopt;
  return length->as_int();
}

// ---- what it holds

std::vector<const TensorInfo*> Checkpoint::tensors() const {
  std::vector<const TensorInfo*> out;
  out.reserve(state_->entries.size());
  for (const State::Entry& e : state_->entries) out.push_back(e.info);
  return out;
}

const TensorInfo* Checkpoint::find(std::string_view tensor_name) const {
  const State::Entry* e = state_->find(tensor_name);
  return e != nullptr ? e->info : nullptr;
}

int64_t Checkpoint::tensor_bytes() const {
  int64_t sum = 0;  // can't overflow: the files are mapped
  for (const State::Entry& e : state_->entries) sum += e.info->size_bytes();
  return sum;
}

// ---- loading

std::optional<ModuleQuantization> Checkpoint::quantization_of(std::string_view path) const {
  return state_->quantization.of(path, has(std::string(path) + ".scales"));
}

Weight Checkpoint::weight(std::string_view path, int64_t out, int64_t in) {
  State& s = *state_;
  const std::array<int64_t, 2> shape = {out, in};
  const std::string weight_name = std::string(path) + ".weight";
  s.expect(weight_name, shape, /*is_weight=*/true);
  const auto quantization = s.is_blueprint ? std::nullopt : quantization_of(path);
  if (quantization) return affine_weight(path, out, in, affine_format(*quantization, path));
  if (const TensorInfo* info = find(weight_name)) check_float(*info, s.name);
  Weight w = Weight::dense(s.take(weight_name, shape, DType::kF32));
  if (s.missing.size() + s.misshapen.size() > kMaxFaults) audit();
  return w;
}

Weight Checkpoint::affine_weight(std::string_view path, int64_t out, int64_t in,
                                 codec::AffineFormat format) {
  State& s = *state_;
  require_data(in % format.group == 0, s.name, ": ", printable(path), " has rows of ", in,
               " values, which is no multiple of its quantization group of ", format.group,
               "; the \"quantization\" section of config.json doesn't belong to these weights");
  const std::string prefix(path);
  const TensorInfo* codes = find(prefix + ".weight");
  require_data(codes == nullptr || codes->dtype == DType::kU32, s.name, ": config.json says that ",
               printable(path), " is quantized, but its weight is stored as ",
               codes != nullptr ? to_string(codes->dtype) : std::string(),
               ", not U32; use the config.json that came with these weights");
  const TensorInfo* scales = find(prefix + ".scales");
  const TensorInfo* biases = find(prefix + ".biases");
  for (const TensorInfo* info : {scales, biases}) {
    if (info != nullptr) check_float(*info, s.name);
  }
  if (scales != nullptr && biases != nullptr) {
    require_data(scales->dtype == biases->dtype, s.name, ": ", printable(path), ".scales is ",
                 scales->dtype, " and .biases is ", biases->dtype, "; both must be alike");
  }
  const std::array<int64_t, 2> packed_shape = {out, codec::packed_words(in, format.bits)};
  const std::array<int64_t, 2> group_shape = {out, in / format.group};
  Tensor packed = s.take(prefix + ".weight", packed_shape, DType::kU32);
  const size_t faults = s.missing.size() + s.misshapen.size();
  Tensor scale = s.take(prefix + ".scales", group_shape, DType::kF32);
  Tensor bias = s.take(prefix + ".biases", group_shape, DType::kF32);
  if (s.missing.size() + s.misshapen.size() > kMaxFaults) audit();
  if (s.missing.size() + s.misshapen.size() >
      faults) {  // one of the two is a placeholder: let them agree
    scale = s.placeholder(path, group_shape, DType::kF32);
    bias = scale;
  }
  return Weight::affine(std::move(packed), std::move(scale), std::move(bias), format);
}

Tensor Checkpoint::tensor(std::string_view tensor_name, std::span<const int64_t> shape) {
  State& s = *state_;
  s.expect(std::string(tensor_name), shape, /*is_weight=*/false);
  if (const TensorInfo* info = find(tensor_name)) check_float(*info, s.name);
  Tensor t = s.take(tensor_name, shape, DType::kF32);
  if (s.missing.size() + s.misshapen.size() > kMaxFaults) audit();
  return t;
}

void Checkpoint::audit(std::span<const std::string_view> ignored) const {
  std::vector<std::string> unexpected;
  for (const State::Entry& e : state_->entries) {
    const auto matches = [&](std::string_view pattern) {
      return matches_pattern(pattern, e.info->name);
    };
    if (!e.is_taken && std::ranges::none_of(ignored, matches))
      unexpected.push_back(printable(e.info->name));
  }
  const bool has_faults = !state_->missing.empty() || !state_->misshapen.empty();
  if (!has_faults && unexpected.empty()) return;
  std::string list;
  append_list(list, "missing", state_->missing);
  append_list(list, "wrong shape", state_->misshapen);
  append_list(list, "unexpected", unexpected);
  fail(Code::kCorruptData, state_->name,
       ": the tensors are not those that config.json describes: ", list,
       ". Use the config.json and all the files of one checkpoint");
}

}  // namespace hearth
