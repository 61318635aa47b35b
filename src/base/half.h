// 16-bit floating-point storage types. Arithmetic is done in float.
#pragma once

#include <bit>
#include <cstdint>

namespace hearth {

// bfloat16: the upper half of an IEEE binary32.
struct bf16 {
  uint16_t bits;
  friend bool operator==(bf16, bf16) = default;
};

// IEEE binary16.
struct f16 {
  uint16_t bits;
  friend bool operator==(f16, f16) = default;
};

inline float to_float(bf16 x) { return std::bit_cast<float>(uint32_t{x.bits} << 16); }

inline float to_float(f16 x) {
  const uint32_t sign = (uint32_t{x.bits} & 0x8000U) << 16;
  const uint32_t exponent = (x.bits >> 10) & 0x1FU;
  const uint32_t mantissa = x.bits & 0x3FFU;
  if (exponent == 0x1FU) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112U) << 23) | (mantissa << 13));
  // Subnormal: mantissa * 2^-24, exact in binary32.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

// Rounds to nearest, ties to even; NaN stays NaN.
inline bf16 to_bf16(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x);
  if ((u & 0x7FFFFFFFU) > 0x7F800000U) return {static_cast<uint16_t>((u >> 16) | 0x40U)};
  return {static_cast<uint16_t>((u + 0x7FFFU + ((u >> 16) & 1U)) >> 16)};
}

// Rounds to nearest, ties to even; overflow gives infinity; NaN stays NaN.
inline f16 to_f16(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x);
  const uint32_t sign = (u >> 16) & 0x8000U;
  const uint32_t a = u & 0x7FFFFFFFU;
  if (a > 0x7F800000U) return {static_cast<uint16_t>(sign | 0x7E00U)};
  if (a >= 0x477FF000U) return {static_cast<uint16_t>(sign | 0x7C00U)};  // 65520 and above
  if (a <
      0x38800000U) {  // below 2^-14: subnormal; adding 0.5 aligns the mantissa at 2^-24 and rounds
    const float aligned = std::bit_cast<float>(a) + 0.5F;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(aligned) - 0x3F000000U))};
  }
  const uint32_t rounded = a + 0xFFFU + ((a >> 13) & 1U);
  return {static_cast<uint16_t>(sign | ((rounded >> 13) - (112U << 10)))};
}

}  // namespace hearth
