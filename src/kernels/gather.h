// Embedding rows of a dense table.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace hearth::kernels {

// y[i, :] = float(w[ids[i], :])
//
//   w    [vocab, cols] f32, bf16 or f16; the caller has checked that every id lies in 0 .. vocab - 1
//   ids  [rows] i32        y  [rows, cols] f32, packed
struct GatherRowsArgs {
  const void* w;
  DType w_dtype;
  const int32_t* ids;
  float* y;
  int64_t rows;
  int64_t cols;
};
using GatherRowsFn = void(const GatherRowsArgs&) noexcept;

}  // namespace hearth::kernels
