// MLX's affine quantization of one matrix row: w = scale * code + bias, with one scale and one bias per group of
// consecutive weights. Bit layout, rounding rule and names follow spec/quantization.md, section 1.
//
// Codes of a row form one little-endian bit string, code i in bits [i * bits, (i + 1) * bits), stored as words.
// A group is a whole number of words for every format, so groups start on word boundaries.
//
// Pure functions on memory of the caller: any thread, no allocation, no exceptions.
#pragma once

#include <cstdint>

namespace hearth::codec {

struct AffineFormat {
  int bits = 4;        // 2, 3, 4, 5, 6 or 8
  int64_t group = 64;  // 32, 64 or 128 weights
  friend bool operator==(const AffineFormat&, const AffineFormat&) = default;
};

// True for the 18 formats that exist.
constexpr bool is_valid(AffineFormat f) {
  const bool bits_exist =
      f.bits == 2 || f.bits == 3 || f.bits == 4 || f.bits == 5 || f.bits == 6 || f.bits == 8;
  return bits_exist && (f.group == 32 || f.group == 64 || f.group == 128);
}

// 32-bit words that hold `cols` codes; cols is a multiple of 32.
constexpr int64_t packed_words(int64_t cols, int bits) { return cols / 32 * bits; }

// Packs cols codes, each below 2^bits, into packed_words(cols, bits) words, and back.
void pack_codes(const uint8_t* codes, int64_t cols, int bits, uint32_t* packed) noexcept;
void unpack_codes(const uint32_t* packed, int64_t cols, int bits, uint8_t* codes) noexcept;

// Quantizes one row by the rule of MLX's CPU backend, bit for bit.
//
//   w       [cols] finite, cols a multiple of format.group
//   packed  [packed_words(cols, bits)]
//   scales, biases  [cols / group], f32. The codes belong to these unrounded values; whoever stores them as bf16
//           or f16 rounds afterwards (to_bf16, to_f16), as the reference does.
//
// A group that holds NaN or infinity gets codes 0 and NaN for scale and bias, so that the damage shows.
void quantize_row(const float* w, int64_t cols, AffineFormat format, uint32_t* packed,
                  float* scales, float* biases) noexcept;

// out[k] = scales[k / group] * code_k + biases[k / group], the product rounded before the sum. All of it [cols].
void dequantize_row(const uint32_t* packed, const float* scales, const float* biases, int64_t cols,
                    AffineFormat format, float* out) noexcept;

}  // namespace hearth::codec
