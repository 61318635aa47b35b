// Overflow-checked arithmetic for sizes that come from outside.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace hearth {

inline std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t r = 0;
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}

inline std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
  int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}

// Product of non-negative factors; nullopt on overflow or a negative factor. The empty product is 1.
inline std::optional<int64_t> checked_product(std::span<const int64_t> factors) {
  int64_t r = 1;
  for (const int64_t f : factors) {
    if (f < 0 || __builtin_mul_overflow(r, f, &r)) return std::nullopt;
  }
  return r;
}

}  // namespace hearth
