// Bit layout of a page of the KV cache: 64 tokens of one layer, all KV heads.
//
//   page   = one record per KV head, heads in order, no gaps
//   record = K [k_dim][64 tokens], then V [64 tokens][v_dim]
//
// K lies transposed so that both products of attention run along the contiguous axis (q k^T with
// lanes = tokens, p v with lanes = dims): no packing and no horizontal sums. The token at position
// `p` of a sequence is token `p % 64` of the sequence's page `p / 64`. Tokens that were not written
// yet hold anything, NaN included; readers bound themselves by position.
//
// Everything here is a value or a pure function; sizes and offsets are in bytes.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace hearth::codec {

inline constexpr int64_t kPageTokens = 64;

struct KvPageLayout {
  DType dtype;       // kF32, kBF16 or kF16
  int64_t kv_heads;  // 1 .. 65536
  int64_t k_dim;     // head size of the keys, 1 .. 8192
  int64_t v_dim;     // head size of the values, 1 .. 8192

  friend bool operator==(const KvPageLayout&, const KvPageLayout&) = default;
};

// True when the fields lie in the ranges above; then no size below overflows.
[[gnu::always_inline]] constexpr bool is_valid(const KvPageLayout& layout) {
  const bool is_stored =
      layout.dtype == DType::kF32 || layout.dtype == DType::kBF16 || layout.dtype == DType::kF16;
  return is_stored && layout.kv_heads >= 1 && layout.kv_heads <= 65536 && layout.k_dim >= 1 &&
         layout.k_dim <= 8192 && layout.v_dim >= 1 && layout.v_dim <= 8192;
}

// always_inline: kernels call these from files compiled for one instruction set, which must not emit
// a copy that the linker could keep for everybody.
[[gnu::always_inline]] constexpr int64_t element_bytes(const KvPageLayout& layout) {
  return layout.dtype == DType::kF32 ? 4 : 2;
}

[[gnu::always_inline]] constexpr int64_t k_offset(const KvPageLayout& layout, int64_t head) {
  return head * (layout.k_dim + layout.v_dim) * kPageTokens * element_bytes(layout);
}

[[gnu::always_inline]] constexpr int64_t v_offset(const KvPageLayout& layout, int64_t head) {
  return k_offset(layout, head) + layout.k_dim * kPageTokens * element_bytes(layout);
}

[[gnu::always_inline]] constexpr int64_t page_bytes(const KvPageLayout& layout) {
  return k_offset(layout, layout.kv_heads);
}

}  // namespace hearth::codec
