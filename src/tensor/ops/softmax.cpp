// softmax, log_softmax and logsumexp of activation.h: over the last axis.
#include <cmath>
#include <vector>

#include "kernels/table.h"
#include "tensor/ops/activation.h"
#include "tensor/ops/loops.h"

namespace hearth {
namespace {

class Softmax final : public Op {
 public:
  std::string_view name() const override { return "softmax"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require_f32(name(), in[0]);
    return {in[0].shape()};
  }
  void run(const RunArgs& a) const noexcept override {
    const float* x = a.in[0].data<float>();
    float* y = a.out.mutable_data<float>();
    const int64_t w = a.out.width();
    over_rows(a.compute, a.out.rows(), w, [&](int64_t begin, int64_t end) {
      kernels::table().softmax({.x = x + begin * w,
                                .y = y + begin * w,
                                .rows = end - begin,
                                .cols = w,
                                .x_stride = w,
                                .y_stride = w});
    });
  }
  // dx = y * (g - sum(g * y))
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    Tensor dx = Tensor::empty(a.out.shape());
    const int64_t w = a.out.width();
    const float* y = a.out.data<float>();
    const float* g = a.dout.data<float>();
    float* d = dx.mutable_data<float>();
    for_rows(a.out.rows(), w, [&](int64_t r) {
      const float* yr = y + r * w;
      const float* gr = g + r * w;
      const auto dot = static_cast<float>(sum_of(w, [&](int64_t i) { return gr[i] * yr[i]; }));
      for (int64_t i = 0; i < w; ++i) d[r * w + i] = yr[i] * (gr[i] - dot);
    });
    return {dx};
  }
};

class LogSumExp final : public Op {
 public:
  std::string_view name() const override { return "logsumexp"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require_f32(name(), in[0]);
    require(in[0].ndim() > 0, "logsumexp: a scalar has no last axis");
    return {with_width(in[0].shape(), 1)};
  }
  void run(const RunArgs& a) const noexcept override {
    const float* x = a.in[0].data<float>();
    float* y = a.out.mutable_data<float>();
    const int64_t w = a.in[0].width();
    over_rows(a.compute, a.out.size(), w, [&](int64_t begin, int64_t end) {
      kernels::table().logsumexp(
          {.x = x + begin * w, .y = y + begin, .rows = end - begin, .cols = w, .x_stride = w});
    });
  }
  // dx = g * exp(x - out)
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    Tensor dx = Tensor::empty(a.in[0].shape());
    const int64_t w = a.in[0].width();
    const float* x = a.in[0].data<float>();
    const float* lse = a.out.data<float>();
    const float* g = a.dout.data<float>();
    float* d = dx.mutable_data<float>();
    for_rows(a.out.size(), w, [&](int64_t r) {
      for (int64_t i = r * w; i < (r + 1) * w; ++i) d[i] = g[r] * std::exp(x[i] - lse[r]);
    });
    return {dx};
  }
};

class LogSoftmax final : public Op {
 public:
  std::string_view name() const override { return "log_softmax"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require_f32(name(), in[0]);
    return {in[0].shape()};
  }
  void run(const RunArgs& a) const noexcept override {
    const float* x = a.in[0].data<float>();
    float* y = a.out.mutable_data<float>();
    const int64_t w = a.out.width();
    over_rows(a.compute, a.out.rows(), w, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        float lse = 0.0F;
        kernels::table().logsumexp(
            {.x = x + r * w, .y = &lse, .rows = 1, .cols = w, .x_stride = w});
        for (int64_t i = r * w; i < (r + 1) * w; ++i) y[i] = x[i] - lse;
      }
    });
  }
  // dx = g - exp(y) * sum(g)
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    Tensor dx = Tensor::empty(a.out.shape());
    const int64_t w = a.out.width();
    const float* y = a.out.data<float>();
    const float* g = a.dout.data<float>();
    float* d = dx.mutable_data<float>();
    for_rows(a.out.rows(), w, [&](int64_t r) {
      const auto total = static_cast<float>(sum_of(w, [&](int64_t i) { return g[r * w + i]; }));
      for (int64_t i = r * w; i < (r + 1) * w; ++i) d[i] = g[i] - std::exp(y[i]) * total;
    });
    return {dx};
  }
};

}  // namespace

Tensor softmax(const Tensor& x) { return apply(Softmax(), {x}); }
Tensor log_softmax(const Tensor& x) { return apply(LogSoftmax(), {x}); }
Tensor logsumexp(const Tensor& x) { return apply(LogSumExp(), {x}); }

}  // namespace hearth
