#include "checkpoint/random_rows.h"

#include <cstring>

#include "base/half.h"
#include "base/random.h"

namespace hearth {
namespace {

// Of the sum of four independent uniform integers in [0, 65535].
constexpr float kSumMean = 131070.0F;
constexpr float kSumDeviation = 37837.227F;

uint64_t stream_seed(uint64_t seed, std::string_view name, int64_t row) {
  uint64_t hash = 0xCBF29CE484222325ULL;  // FNV-1a of the name
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  SplitMix64 mix(hash ^ (seed * 0x9E3779B97F4A7C15ULL));
  // Rows are far apart in the generator's sequence, however long they are.
  return mix.next() ^ SplitMix64(static_cast<uint64_t>(row)).next();
}

}  // namespace

void random_row(uint64_t seed, std::string_view name, int64_t row, float mean, float deviation,
                std::span<float> out) noexcept {
  SplitMix64 random(stream_seed(seed, name, row));
  const float scale = deviation / kSumDeviation;
  for (float& value : out) {
    const uint64_t bits = random.next();
    const uint64_t pairs = (bits & 0x0000FFFF0000FFFFULL) + ((bits >> 16) & 0x0000FFFF0000FFFFULL);
    const auto sum = static_cast<int32_t>((pairs & 0xFFFFFFFFULL) + (pairs >> 32));
    value = mean + scale * (static_cast<float>(sum) - kSumMean);
  }
}

void store_floats(std::span<const float> values, DType dtype, std::span<std::byte> out) noexcept {
  if (dtype == DType::kF32) {
    if (!values.empty()) std::memcpy(out.data(), values.data(), values.size_bytes());
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t bits = dtype == DType::kBF16 ? to_bf16(values[i]).bits : to_f16(values[i]).bits;
    std::memcpy(out.data() + 2 * i, &bits, sizeof bits);
  }
}

}  // namespace hearth
