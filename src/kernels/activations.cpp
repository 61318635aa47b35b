#include "kernels/activations.h"

#include "kernels/affine_fast.h"

namespace hearth::kernels {
namespace {

constexpr int64_t kStepGroups = 16;  // groups that the widest kernel reads at once
constexpr int64_t kAlign = 64;

int64_t round_up(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

int64_t group_stride(int64_t k, int64_t group) { return round_up(k / group, kStepGroups); }

// One cache line more than the padded codes: rows of a power of two would share their cache sets.
int64_t code_stride(int64_t k, int64_t group) { return group_stride(k, group) * group + kAlign; }

int64_t group_array_bytes(int64_t m, int64_t k, int64_t group) {
  return m * group_stride(k, group) * static_cast<int64_t>(sizeof(float));
}

}  // namespace

int64_t quantized_activation_bytes(int64_t m, int64_t k, int64_t group) {
  return m * code_stride(k, group) + 3 * group_array_bytes(m, k, group);
}

QuantizedActivations place_quantized_activations(std::byte* memory, int64_t m, int64_t k, int bits,
                                                 int64_t group) {
  const int64_t array = group_array_bytes(m, k, group);
  std::byte* const d = memory + m * code_stride(k, group);
  return {.codes = reinterpret_cast<int8_t*>(memory),
          .d = reinterpret_cast<float*>(d),
          .sigma = reinterpret_cast<float*>(d + array),
          .sums = reinterpret_cast<int32_t*>(d + 2 * array),
          .code_stride = code_stride(k, group),
          .group_stride = group_stride(k, group),
          .bits = bits,
          .group = group};
}

int64_t affine_linear_fast_scratch_bytes(int64_t cols, int64_t group) {
  constexpr int64_t kTileRows = 32;  // bytes packed per column: 32 rows, or 16 of two planes
  const int64_t padded = group_stride(cols, group) * group;
  const int64_t scales =
      2 * group_stride(cols, group) * kTileRows * static_cast<int64_t>(sizeof(float));
  return kTileRows * padded + scales + kAlign;
}

}  // namespace hearth::kernels
