// The values of synthetic weights. Internal to make_checkpoint.cpp and its test.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/dtype.h"

namespace hearth {

// out[i] = mean + deviation * z_i, z approximately standard normal: the sum of four uniforms, which
// needs no library function and so gives the same bits on every machine; |z| < 3.47. Depends on
// seed, name and row only.
void random_row(uint64_t seed, std::string_view name, int64_t row, float mean, float deviation,
                std::span<float> out) noexcept;

// f32 to bytes of dtype (kF32, kBF16, kF16), rounded to nearest even; out has values.size() *
// bytes_of(dtype).
void store_floats(std::span<const float> values, DType dtype, std::span<std::byte> out) noexcept;

}  // namespace hearth
