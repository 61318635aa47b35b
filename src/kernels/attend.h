// Attention over paged keys and values, and the append that fills the pages. Page layout:
// codec/kv_page.h. Contract of the mathematics: spec/models/common.md section 5.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/kv_page.h"

namespace hearth::kernels {

// Positions are cut in fixed ranges of this many tokens. Each range is one online softmax over its
// pages, in order; ranges are merged in order. The cut depends on the position alone, so a row has the
// same bits however rows are chunked, batched or spread over threads.
inline constexpr int64_t kAttendRangeTokens = 512;

// Query rows (tokens x query heads of one KV head) that the kernel works on at a time.
inline constexpr int64_t kAttendTileRows = 96;

// All query heads of one KV head, for `rows` consecutive tokens of one sequence, causal:
//
//   s_j = scale * q . k_j           j in [max(0, p - window + 1), p], p = position of the row
//   s_j = softcap * tanh(s_j / softcap)                                 if softcap > 0
//   y   = sum_j exp(s_j - m) v_j / (sum_j exp(s_j - m) + exp(sink - m))     the sink term if there are sinks
//
//   q      token i, query head h (all heads of the model) at q + i * q_row_stride + h * k_dim
//   y      token i, query head h at y + i * y_row_stride + h * v_dim; must not overlap q
//   pages  pages[i] = this layer's page for positions 64 i .. 64 i + 63, all KV heads. Only the pages
//          that hold a visible position are touched; the others may be null.
//   rows   token i has position first_position + i; its key and value are already appended
//   sinks  one per query head of the model, or null
//   scratch  attend_scratch_floats(layout) floats, owned by the calling thread
//
// Query head h uses KV head h / group_size; this call does heads kv_head * group_size and the following
// group_size - 1. Tokens of a page beyond a row's position never influence it, whatever they hold.
// Every target gives the same bits.
struct AttendArgs {
  const float* q;
  float* y;
  int64_t q_row_stride;
  int64_t y_row_stride;
  const std::byte* const* pages;
  codec::KvPageLayout layout;
  int64_t kv_head;
  int64_t group_size;
  int64_t rows;
  int64_t first_position;
  float scale;
  int64_t window;  // 0: all positions up to p
  float softcap;   // 0: none
  const float* sinks;
  float* scratch;
};
using AttendFn = void(const AttendArgs&) noexcept;

// The same in two steps, for long sequences spread over threads: `attend_range` computes the partial
// result of one range, `attend_merge` combines ranges first_range .. first_range + ranges - 1, which
// must be those of attend_ranges(). Bit for bit equal to `attend`.
//
//   partial   [rows * group_size][partial_stride] floats: v_dim sums, then the maximum, then the weight
//   partials  the ranges' partials, range_stride floats apart
struct AttendRangeArgs {
  AttendArgs attend;
  int64_t range;
  float* partial;
};
using AttendRangeFn = void(const AttendRangeArgs&) noexcept;

struct AttendMergeArgs {
  AttendArgs attend;
  const float* partials;
  int64_t range_stride;
  int64_t ranges;
};
using AttendMergeFn = void(const AttendMergeArgs&) noexcept;

// Writes keys and values of `rows` consecutive tokens to the pages, rounded to the page's dtype
// (nearest even), for KV heads head_begin .. head_end - 1.
//
//   k  token i, KV head h at k + i * k_row_stride + h * k_dim;   v likewise with v_dim
struct AppendKvArgs {
  const float* k;
  const float* v;
  int64_t k_row_stride;
  int64_t v_row_stride;
  std::byte* const* pages;
  codec::KvPageLayout layout;
  int64_t head_begin;
  int64_t head_end;
  int64_t rows;
  int64_t first_position;
};
using AppendKvFn = void(const AppendKvArgs&) noexcept;

// Ranges that rows of positions [first_position, first_position + rows) look at.
struct AttendRanges {
  int64_t first;
  int64_t count;
};
[[gnu::always_inline]] inline AttendRanges attend_ranges(int64_t first_position, int64_t rows,
                                                         int64_t window) {
  const int64_t oldest = first_position + 1 - window;
  const int64_t first = window > 0 && oldest > 0 ? oldest / kAttendRangeTokens : 0;
  if (rows <= 0) return {first, 0};
  return {first, (first_position + rows - 1) / kAttendRangeTokens + 1 - first};
}

[[gnu::always_inline]] inline int64_t attend_partial_stride(const codec::KvPageLayout& layout) {
  return (layout.v_dim + 15) / 16 * 16 + 2;
}

// Scratch for one thread: scaled queries, two accumulators, one page of K and V as f32, scores.
[[gnu::always_inline]] inline int64_t attend_scratch_floats(const codec::KvPageLayout& layout) {
  const int64_t v_pad = (layout.v_dim + 15) / 16 * 16;
  return kAttendTileRows * (layout.k_dim + 2 * v_pad + 4) +
         codec::kPageTokens * (layout.k_dim + v_pad) + 16 * codec::kPageTokens;
}

}  // namespace hearth::kernels
