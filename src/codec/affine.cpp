#include "codec/affine.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hearth::codec {
namespace {

constexpr int64_t kMaxGroup = 128;

// Rounds half to even. Exact for |x| < 2^22; our x is clamped to [0, 255] before.
inline float round_small(float x) {
  constexpr float kMagic = 12582912.0F;  // 1.5 * 2^23: the sum has no fraction bits
  return (x + kMagic) - kMagic;
}

struct Affine {
  float scale;
  float bias;
};

// Scale and bias of one group. The edge of larger magnitude is represented exactly, and zero usually is.
Affine fit_group(const float* w, int64_t group, float top_code) {
  float low = std::numeric_limits<float>::infinity();
  float high = -low;
  bool finite = true;
  for (int64_t i = 0; i < group; ++i) {
    low = std::min(low, w[i]);
    high = std::max(high, w[i]);
    finite = finite && std::isfinite(w[i]);
  }
  if (!finite)
    return {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::quiet_NaN()};
  const bool low_is_edge = std::abs(low) > std::abs(high);
  float scale = std::max((high - low) / top_code, 1e-7F);
  if (!low_is_edge) scale = -scale;
  const float edge = low_is_edge ? low : high;
  const float steps = std::rint(edge / scale);
  if (steps == 0.0F) return {scale, 0.0F};
  return {edge / steps, edge};
}

}  // namespace

void pack_codes(const uint8_t* codes, int64_t cols, int bits, uint32_t* packed) noexcept {
  uint64_t pending = 0;
  int filled = 0;
  for (int64_t i = 0; i < cols; ++i) {
    pending |= uint64_t{codes[i]} << filled;
    filled += bits;
    if (filled >= 32) {
      *packed++ = static_cast<uint32_t>(pending);
      pending >>= 32;
      filled -= 32;
    }
  }
}

void unpack_codes(const uint32_t* packed, int64_t cols, int bits, uint8_t* codes) noexcept {
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  uint64_t pending = 0;
  int filled = 0;
  for (int64_t i = 0; i < cols; ++i) {
    if (filled < bits) {
      pending |= uint64_t{*packed++} << filled;
      filled += 32;
    }
    codes[i] = static_cast<uint8_t>(pending & mask);
    pending >>= bits;
    filled -= bits;
  }
}

void quantize_row(const float* w, int64_t cols, AffineFormat format, uint32_t* packed,
                  float* scales, float* biases) noexcept {
  const float top_code = static_cast<float>((1 << format.bits) - 1);
  const int64_t words = packed_words(format.group, format.bits);
  for (int64_t g = 0; g < cols / format.group; ++g) {
    const float* x = w + g * format.group;
    const Affine fit = fit_group(x, format.group, top_code);
    uint8_t codes[kMaxGroup];
    for (int64_t i = 0; i < format.group; ++i) {
      const float step = (x[i] - fit.bias) / fit.scale;
      // Clamping to integers commutes with rounding; written so that NaN becomes 0.
      const float clamped = step > 0.0F ? std::min(step, top_code) : 0.0F;
      codes[i] = static_cast<uint8_t>(round_small(clamped));
    }
    pack_codes(codes, format.group, format.bits, packed + g * words);
    scales[g] = fit.scale;
    biases[g] = fit.bias;
  }
}

void dequantize_row(const uint32_t* packed, const float* scales, const float* biases, int64_t cols,
                    AffineFormat format, float* out) noexcept {
  const int64_t words = packed_words(format.group, format.bits);
  for (int64_t g = 0; g < cols / format.group; ++g) {
    uint8_t codes[kMaxGroup];
    unpack_codes(packed + g * words, format.group, format.bits, codes);
    float* y = out + g * format.group;
    for (int64_t i = 0; i < format.group; ++i)
      y[i] = scales[g] * static_cast<float>(codes[i]) + biases[g];
  }
}

}  // namespace hearth::codec
