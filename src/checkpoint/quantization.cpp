#include "checkpoint/quantization.h"

#include <algorithm>

#include "base/error.h"
#include "checkpoint/safetensors_header.h"

namespace hearth {
namespace {

constexpr QuantizationMode kModes[] = {QuantizationMode::kAffine, QuantizationMode::kMxfp4,
                                       QuantizationMode::kMxfp8, QuantizationMode::kNvfp4};

// What a section that names only its mode means (common.md 10.1).
ModuleQuantization defaults_of(QuantizationMode mode) {
  switch (mode) {
    case QuantizationMode::kAffine:
      return {.mode = mode, .bits = 4, .group = 64};
    case QuantizationMode::kMxfp4:
      return {.mode = mode, .bits = 4, .group = 32};
    case QuantizationMode::kMxfp8:
      return {.mode = mode, .bits = 8, .group = 32};
    case QuantizationMode::kNvfp4:
      return {.mode = mode, .bits = 4, .group = 16};
  }
  return {};
}

// One dictionary, global or of a module. A missing mode is affine, also in a module of an mxfp4
// checkpoint.
ModuleQuantization parse_entry(const Json& entry, const std::string& where) {
  try {
    const std::string text = entry.get_string("mode", "affine");
    const auto* mode = std::ranges::find(kModes, text, [](QuantizationMode m) { return name(m); });
    if (mode == std::ranges::end(kModes)) {
      fail(Code::kUnsupported, "mode \"", printable(text), "\" is not known; affine is supported");
    }
    ModuleQuantization q = defaults_of(*mode);
    q.bits = static_cast<int>(entry.get_int("bits", q.bits, {.min = 1, .max = 32}));
    q.group = entry.get_int("group_size", q.group, {.min = 1, .max = 1 << 20});
    return q;
  } catch (const Error&) {
    rethrow_with(where);
  }
}

// The section that counts, and where it was found; null when there is none.
std::pair<const Json*, std::string> find_section(const Json& config) {
  const Json* text = config.find_value("text_config");
  for (const Json* level : {&config, text}) {
    if (level == nullptr || !level->is_object()) continue;
    for (const char* key : {"quantization", "quantization_config"}) {
      const Json* section = level->find_value(key);
      if (section == nullptr || *section == Json(false)) continue;
      return {section, std::string("config.json: ") + (level == text ? "text_config." : "") + key};
    }
  }
  return {nullptr, {}};
}

}  // namespace

std::string_view name(QuantizationMode mode) {
  switch (mode) {
    case QuantizationMode::kAffine:
      return "affine";
    case QuantizationMode::kMxfp4:
      return "mxfp4";
    case QuantizationMode::kMxfp8:
      return "mxfp8";
    case QuantizationMode::kNvfp4:
      return "nvfp4";
  }
  return "?";
}

std::string to_string(const ModuleQuantization& q) {
  return std::string(name(q.mode)) + " " + std::to_string(q.bits) + " bits group " +
         std::to_string(q.group);
}

QuantizationConfig QuantizationConfig::parse(const Json& config) {
  QuantizationConfig out;
  const auto [section, where] = find_section(config);
  if (section == nullptr) return out;
  require_data(section->is_object(), where, " must be an object, not ", section->kind());
  out.is_present_ = true;
  if (const Json* method = section->find_value("quant_method")) {
    const std::string text =
        method->is_string() ? printable(method->as_string()) : method->dump().substr(0, 40);
    out.refusal_ = "weights quantized with quant_method \"" + text +
                   "\" are not supported yet; use the unquantized checkpoint or its MLX conversion";
    return out;
  }
  out.global_ = parse_entry(*section, where);
  for (const auto& [key, value] : section->as_object()) {
    // Booleans that are flags of another tool name no module and so do no harm.
    if (value.is_object()) {
      out.overrides_.emplace_back(key, parse_entry(value, where + "." + printable(key)));
    } else if (value.is_bool()) {
      out.overrides_.emplace_back(key, value.as_bool() ? std::optional(out.global_) : std::nullopt);
    }
  }
  std::ranges::sort(out.overrides_, {},
                    [](const auto& o) -> const std::string& { return o.first; });
  return out;
}

std::optional<ModuleQuantization> QuantizationConfig::of(std::string_view path,
                                                         bool has_scales) const {
  if (!refusal_.empty()) fail(Code::kUnsupported, "config.json: ", refusal_);
  const auto at = std::ranges::lower_bound(
      overrides_, path, {}, [](const auto& o) -> std::string_view { return o.first; });
  if (at != overrides_.end() && at->first == path) return at->second;
  if (!has_scales) return std::nullopt;
  require_data(is_present_, "tensor ", printable(path),
               ".scales says that the module is quantized, but config.json has no \"quantization\" "
               "section that says "
               "how; use the config.json that came with these weights");
  return global_;
}

codec::AffineFormat affine_format(const ModuleQuantization& q, std::string_view path) {
  if (q.mode != QuantizationMode::kAffine) {
    fail(Code::kUnsupported, printable(path), " is quantized in the mode ", name(q.mode),
         ", which is not supported yet; use an affine quantized or unquantized checkpoint");
  }
  const codec::AffineFormat format{.bits = q.bits, .group = q.group};
  require_data(codec::is_valid(format), "config.json: quantization of ", printable(path), " has ",
               q.bits, " bits and group_size ", q.group,
               "; affine quantization has 2, 3, 4, 5, 6 or 8 bits and groups of 32, 64 or 128");
  return format;
}

}  // namespace hearth
