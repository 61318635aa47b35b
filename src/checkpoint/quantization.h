// The "quantization" section of config.json: which module is stored how.
// Facts: spec/models/common.md section 10, spec/quantization.md sections 1 to 4.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "codec/affine.h"

namespace hearth {

enum class QuantizationMode : uint8_t { kAffine, kMxfp4, kMxfp8, kNvfp4 };
std::string_view name(QuantizationMode mode);

// How one module's weight is stored.
struct ModuleQuantization {
  QuantizationMode mode = QuantizationMode::kAffine;
  int bits = 4;
  int64_t group = 64;
  friend bool operator==(const ModuleQuantization&, const ModuleQuantization&) = default;
};
std::string to_string(const ModuleQuantization& q);  // "affine 4 bits group 64"

// A value. A section in a foreign format (awq, gptq, fp8, ...) is kept as a refusal, so that the
// checkpoint can be inspected; asking for a module's storage then throws it.
class QuantizationConfig {
 public:
  // Takes `quantization`, else `quantization_config`, at the top level, else inside `text_config`;
  // null is absent. Throws kCorruptData naming the key for values of the wrong kind or range.
  static QuantizationConfig parse(const Json& config);

  bool is_present() const { return is_present_; }
  const ModuleQuantization& global() const {
    return global_;
  }  // meaningful when present and not refused
  const std::string& refusal() const { return refusal_; }  // "" or why no module can be loaded
  int64_t override_count() const { return static_cast<int64_t>(overrides_.size()); }

  // How the module at `path` (parameter name without ".weight") is stored; nullopt = dense. A
  // per-module entry decides; otherwise the module is quantized iff `<path>.scales` exists. A
  // module with scales and no section at all is corrupt. Throws kUnsupported with the refusal,
  // kCorruptData.
  std::optional<ModuleQuantization> of(std::string_view path, bool has_scales) const;

 private:
  bool is_present_ = false;
  ModuleQuantization global_;
  std::string refusal_;
  std::vector<std::pair<std::string, std::optional<ModuleQuantization>>>
      overrides_;  // sorted by path
};

// The affine format of a module, checked: bits 2, 3, 4, 5, 6 or 8 and group 32, 64 or 128. Throws
// kUnsupported for the microscaled modes (not supported yet), kCorruptData for impossible numbers;
// both name the path.
codec::AffineFormat affine_format(const ModuleQuantization& q, std::string_view path);

}  // namespace hearth
