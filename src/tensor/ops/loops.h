// For the .cpp files of this folder: loops over f32 elements, cut the same way whatever the thread count.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "tensor/op.h"
#include "tensor/tensor.h"

namespace hearth {

inline constexpr int64_t kElementGrain = 16384;

inline void require_f32(std::string_view op, const Tensor& t) {
  require(t.dtype() == DType::kF32, op, ": needs F32, not ", describe(t));
}

// body(begin, end) over ranges of [0, n); `cost` is the work per element, in multiply-adds.
template <class Body>
void over_elements(const ComputeContext& compute, int64_t n, int64_t cost, Body&& body) {
  compute.parallel_ranges(n, kElementGrain, n * cost, body);
}

// body(begin, end) over ranges of rows, so that a range has about kElementGrain elements.
template <class Body>
void over_rows(const ComputeContext& compute, int64_t rows, int64_t width, Body&& body) {
  const int64_t grain = width >= kElementGrain ? 1 : kElementGrain / std::max<int64_t>(1, width);
  compute.parallel_ranges(rows, grain, rows * width * 4, body);
}

// y[i] = f(a[i]), f(a[i], b[i]), ...: of one size, into a fresh tensor of a's shape. Gradients are made of these.
template <class F>
Tensor map(const Tensor& a, F f) {
  Tensor y = Tensor::empty(a.shape());
  const float* pa = a.data<float>();
  float* py = y.mutable_data<float>();
  over_elements(current_compute(), a.size(), 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) py[i] = f(pa[i]);
  });
  return y;
}
template <class F>
Tensor map(const Tensor& a, const Tensor& b, F f) {
  HEARTH_CHECK(a.size() == b.size());
  Tensor y = Tensor::empty(a.shape());
  const float* pa = a.data<float>();
  const float* pb = b.data<float>();
  float* py = y.mutable_data<float>();
  over_elements(current_compute(), a.size(), 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) py[i] = f(pa[i], pb[i]);
  });
  return y;
}
template <class F>
Tensor map(const Tensor& a, const Tensor& b, const Tensor& c, F f) {
  HEARTH_CHECK(a.size() == b.size() && a.size() == c.size());
  Tensor y = Tensor::empty(a.shape());
  const float* pa = a.data<float>();
  const float* pb = b.data<float>();
  const float* pc = c.data<float>();
  float* py = y.mutable_data<float>();
  over_elements(current_compute(), a.size(), 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) py[i] = f(pa[i], pb[i], pc[i]);
  });
  return y;
}

// Runs body(row pointers..., y row) for every row; x tensors have y's shape or one element per row where the
// caller says so by indexing. A thin shorthand for vjps over the last axis.
template <class Body>
void for_rows(int64_t rows, int64_t width, Body&& body) {
  over_rows(current_compute(), rows, width, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) body(r);
  });
}

// The sum in f64 of f(i) for i in [0, n), in a fixed order (eight partial sums, then a tree).
template <class F>
double sum_of(int64_t n, F f) {
  double s[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int j = 0; j < 8; ++j) s[j] += static_cast<double>(f(i + j));
  }
  for (int j = 0; i < n; ++i, ++j) s[j] += static_cast<double>(f(i));
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

}  // namespace hearth
