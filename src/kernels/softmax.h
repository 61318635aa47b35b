// Softmax, log-sum-exp and argmax of rows.
#pragma once

#include <cstdint>

namespace hearth::kernels {

// y[i, j] = exp(x[i, j] - max_i) / sum_j exp(x[i, j] - max_i)
//
//   x, y  [rows, cols] f32, rows x_stride / y_stride floats apart; y may be x
//
// -inf entries get 0; a row of nothing but -inf gets NaN. The sum has 16 partial sums and a fixed
// tree: every target gives the same bits.
struct SoftmaxArgs {
  const float* x;
  float* y;
  int64_t rows;
  int64_t cols;
  int64_t x_stride;
  int64_t y_stride;
};
using SoftmaxFn = void(const SoftmaxArgs&) noexcept;

// y[i] = max_i + log(sum_j exp(x[i, j] - max_i));  -inf for an empty row or one of only -inf.
struct LogSumExpArgs {
  const float* x;
  float* y;  // [rows]
  int64_t rows;
  int64_t cols;
  int64_t x_stride;
};
using LogSumExpFn = void(const LogSumExpArgs&) noexcept;

// index[i] = the lowest j whose x[i, j] is the row's largest. NaN never wins; 0 for an empty row or
// one of only NaN.
struct ArgmaxArgs {
  const float* x;
  int64_t* index;  // [rows]
  int64_t rows;
  int64_t cols;
  int64_t x_stride;
};
using ArgmaxFn = void(const ArgmaxArgs&) noexcept;

}  // namespace hearth::kernels
