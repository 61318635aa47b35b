#include "tensor/ops/reduce.h"

#include <algorithm>
#include <vector>

#include "kernels/table.h"
#include "tensor/ops/arithmetic.h"
#include "tensor/ops/loops.h"

namespace hearth {
namespace {

// Sums everything, or the last axis; times a constant.
class Sum final : public Op {
 public:
  enum class Axes { kAll, kLast };
  Sum(Axes axes, float factor) : axes_(axes), factor_(factor) {}

  std::string_view name() const override {
    if (axes_ == Axes::kAll) return "sum_all";
    return "sum_last";
  }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require_f32(name(), in[0]);
    if (axes_ == Axes::kAll) return {Shape()};
    require(in[0].ndim() > 0, "sum_last: a scalar has no last axis");
    return {with_width(in[0].shape(), 1)};
  }
  void run(const RunArgs& a) const noexcept override {
    const float* x = a.in[0].data<float>();
    float* y = a.out.mutable_data<float>();
    const int64_t rows = a.out.size();
    const int64_t w = axes_ == Axes::kAll ? a.in[0].size() : a.in[0].width();
    over_rows(a.compute, rows, w, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        y[r] = factor_ * static_cast<float>(sum_of(w, [&](int64_t i) { return x[r * w + i]; }));
    });
  }
  // Every element gets its row's gradient, times the factor.
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    Tensor dx = Tensor::empty(a.in[0].shape());
    const int64_t rows = a.out.size();
    const int64_t w = axes_ == Axes::kAll ? dx.size() : dx.width();
    const float* g = a.dout.data<float>();
    float* d = dx.mutable_data<float>();
    for (int64_t r = 0; r < rows; ++r) std::fill_n(d + r * w, w, g[r] * factor_);
    return {dx};
  }

 private:
  Axes axes_;
  float factor_;
};

class SumLeading final : public Op {
 public:
  explicit SumLeading(int keep) : keep_(keep) {}
  std::string_view name() const override { return "sum_leading"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require_f32(name(), in[0]);
    require(keep_ >= 0 && keep_ <= in[0].ndim(), "sum_leading: keeps ", keep_, " axes of ",
            in[0].shape());
    return {Shape(in[0].shape().dims().last(static_cast<size_t>(keep_)))};
  }
  int64_t scratch_bytes(std::span<const Tensor> /*in*/, const OutputSpec& out,
                        const ComputeContext& /*compute*/) const override {
    return out.shape.size() * 8;
  }
  void run(const RunArgs& a) const noexcept override {
    const float* x = a.in[0].data<float>();
    float* y = a.out.mutable_data<float>();
    auto* total = reinterpret_cast<double*>(a.scratch.data());
    const int64_t w = a.out.size();
    const int64_t rows = w == 0 ? 0 : a.in[0].size() / w;
    a.compute.parallel_ranges(w, 256, a.in[0].size(), [&](int64_t begin, int64_t end) {
      std::fill(total + begin, total + end, 0.0);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t i = begin; i < end; ++i) total[i] += static_cast<double>(x[r * w + i]);
      }
      for (int64_t i = begin; i < end; ++i) y[i] = static_cast<float>(total[i]);
    });
  }
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    Tensor dx = Tensor::empty(a.in[0].shape());
    const int64_t w = a.out.size();
    const float* g = a.dout.data<float>();
    float* d = dx.mutable_data<float>();
    for (int64_t at = 0; at < dx.size(); at += w) std::copy_n(g, w, d + at);
    return {dx};
  }

 private:
  int keep_;
};

class ArgmaxLast final : public Op {
 public:
  std::string_view name() const override { return "argmax_last"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require_f32(name(), in[0]);
    require(in[0].ndim() > 0 && in[0].width() > 0, "argmax_last: no elements in ", in[0].shape());
    const std::span<const int64_t> dims = in[0].shape().dims();
    return {Shape(dims.first(dims.size() - 1)), DType::kI32};
  }
  void run(const RunArgs& a) const noexcept override {
    const float* x = a.in[0].data<float>();
    auto* y = a.out.mutable_data<int32_t>();
    const int64_t w = a.in[0].width();
    over_rows(a.compute, a.out.size(), w, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        int64_t best = 0;
        kernels::table().argmax(
            {.x = x + r * w, .index = &best, .rows = 1, .cols = w, .x_stride = w});
        y[r] = static_cast<int32_t>(best);
      }
    });
  }
  std::vector<Tensor> vjp(const VjpArgs& /*a*/) const override {
    fail(Code::kUnsupported, "argmax_last has no derivative");
  }
};

float inverse_of(int64_t n) { return n == 0 ? 0.0F : 1.0F / static_cast<float>(n); }

}  // namespace

Tensor sum_all(const Tensor& x) { return apply(Sum(Sum::Axes::kAll, 1.0F), {x}); }
Tensor mean_all(const Tensor& x) { return apply(Sum(Sum::Axes::kAll, inverse_of(x.size())), {x}); }
Tensor sum_last(const Tensor& x) { return apply(Sum(Sum::Axes::kLast, 1.0F), {x}); }
Tensor mean_last(const Tensor& x) {
  return apply(Sum(Sum::Axes::kLast, inverse_of(x.width())), {x});
}
Tensor sum_leading(const Tensor& x, int keep) { return apply(SumLeading(keep), {x}); }
Tensor argmax_last(const Tensor& x) { return apply(ArgmaxLast(), {x}); }

}  // namespace hearth
