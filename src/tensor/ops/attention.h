// Attention over paged keys and values, and the plain form that it is tested against.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/kv_page.h"
#include "tensor/tensor.h"

namespace hearth {

// One layer's part of a page pool: page p lies at base + p * page_stride_bytes. The pages are mutable memory of
// one owner (kv/); attend() writes the slots of the step's tokens and reads those before them.
struct PagedLayer {
  std::byte* base = nullptr;
  int64_t page_stride_bytes = 0;
  codec::KvPageLayout layout{};
};

// Which rows of the step belong to which sequence.
struct SliceTable {
  // [n, 4] i32: first_row, rows, first_position, page_table_row. Slices do not overlap; rows of the step that
  // belong to no slice give zeros.
  Tensor slices;
  // [n_tables, P] i32: page ids. Entry i of a row holds positions [64 i, 64 i + 64). Entries that no row of the
  // slice can see (beyond its last position, or before its window) may be -1.
  Tensor pages;
};

struct AttendOptions {
  float scale = 1.0F;
  int64_t window = 0;             // a query sees the last `window` keys, itself included; 0: all
  float softcap = 0.0F;           // scores become cap * tanh(score / cap); 0: off
  const Tensor* sinks = nullptr;  // [Nq] f32: one more score per query head, without a value
};

// Appends k and v to the pages, then attends causally to everything in them.
//
//   q  [T, Nq, D]    k  [T, Nkv, D]    v  [T, Nkv, Dv]    f32, Nkv divides Nq
//   ->  [T, Nq, Dv]  f32
//
// Query head h reads KV head h / (Nq / Nkv). A row's bits do not depend on the other rows of the step, on how
// its sequence was cut into steps, or on threads. Keys are read as the layout's dtype stores them.
// Differentiable in q, k, v and sinks when every slice starts at position 0 (backward throws kUnsupported
// otherwise); the gradient takes the pages' rounding for the identity.
// The tables' contents are the caller's responsibility (bounds are HEARTH_ASSERTed); their shapes are checked.
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const SliceTable& slices,
              const PagedLayer& layer, const AttendOptions& options);

struct SdpaOptions {
  float scale = 1.0F;
  bool is_causal = false;         // query i sees key j when j <= i + S - L
  int64_t window = 0;             // and when i + S - L < j + window; 0: no limit. Needs is_causal
  float softcap = 0.0F;           // before masking; 0: off
  const Tensor* sinks = nullptr;  // [Nq] f32
  // [L, S] or [Nq, L, S]: f32, added to the scores (no gradient), or bool/u8, where 0 hides the key.
  const Tensor* mask = nullptr;
};

// Scaled dot-product attention of one sequence, without a cache; the reference for tests and training.
//
//   q  [L, Nq, D]    k  [S, Nkv, D]    v  [S, Nkv, Dv]    f32
//   ->  [L, Nq, Dv]  f32; a query that sees no key gives zeros
//
// Differentiable in q, k, v and sinks.
Tensor sdpa(const Tensor& q, const Tensor& k, const Tensor& v, const SdpaOptions& options);

}  // namespace hearth
