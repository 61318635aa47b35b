// Element types of tensors and files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth {

enum class DType : uint8_t {
  kF32,
  kBF16,
  kF16,
  kF64,
  kF8E4M3,
  kF8E5M2,
  kBool,
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kU64,
  kI64,
};

constexpr int64_t bytes_of(DType t) {
  switch (t) {
    case DType::kF64:
    case DType::kU64:
    case DType::kI64:
      return 8;
    case DType::kF32:
    case DType::kU32:
    case DType::kI32:
      return 4;
    case DType::kBF16:
    case DType::kF16:
    case DType::kU16:
    case DType::kI16:
      return 2;
    case DType::kF8E4M3:
    case DType::kF8E5M2:
    case DType::kBool:
    case DType::kU8:
    case DType::kI8:
      return 1;
  }
  return 1;
}

constexpr bool is_float(DType t) { return t <= DType::kF8E5M2; }

// The safetensors spelling: "F32", "BF16", ...
std::string_view name(DType t);
inline std::string to_string(DType t) { return std::string(name(t)); }

}  // namespace hearth
