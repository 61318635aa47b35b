#include "tensor/ops/norm.h"

#include <cmath>
#include <vector>

#include "kernels/table.h"
#include "tensor/ops/arithmetic.h"
#include "tensor/ops/loops.h"
#include "tensor/ops/reduce.h"
#include "tensor/ops/shape.h"

namespace hearth {
namespace {

void check_vector(std::string_view op, const char* what, const Tensor& v, const Tensor& x) {
  require(v.ndim() == 1 && v.dim(0) == x.width(), op, ": ", what, " is ", v.shape(), ", input is ",
          x.shape());
  require(v.dtype() == DType::kF32 || v.dtype() == DType::kBF16 || v.dtype() == DType::kF16, op,
          ": ", what, " is ", v.dtype());
}

// y = w * x * rsqrt(mean(x^2) + eps), w of ones when there is no second input.
class RmsNorm final : public Op {
 public:
  explicit RmsNorm(float eps) : eps_(eps) {}
  std::string_view name() const override { return "rms_norm"; }

  OutputSpec infer(std::span<const Tensor> in) const override {
    require_f32(name(), in[0]);
    if (in.size() > 1) check_vector(name(), "weight", in[1], in[0]);
    return {in[0].shape()};
  }

  void run(const RunArgs& a) const noexcept override {
    const float* x = a.in[0].data<float>();
    float* y = a.out.mutable_data<float>();
    const bool has_weight = a.in.size() > 1;
    const int64_t h = a.out.width();
    over_rows(a.compute, a.out.rows(), h, [&](int64_t begin, int64_t end) {
      kernels::table().rms_norm({.x = x + begin * h,
                                 .w = has_weight ? a.in[1].raw() : nullptr,
                                 .w_dtype = has_weight ? a.in[1].dtype() : DType::kF32,
                                 .y = y + begin * h,
                                 .rows = end - begin,
                                 .cols = h,
                                 .x_stride = h,
                                 .y_stride = h,
                                 .eps = eps_});
    });
  }

  // With r = rsqrt(mean(x^2) + eps), n = x * r and g = dy * w:
  //   dx = r * (g - n * mean(g * n))        dw = sum over rows of dy * n
  // r is recomputed, not saved: it costs one pass over x, and training is bound by the products.
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    const bool has_weight = a.in.size() > 1;
    std::vector<Tensor> grads(a.in.size());
    const Tensor n = rms_norm_no_weight(a.in[0], eps_);
    if (a.wants(0)) {
      const Tensor g = has_weight ? mul(a.dout, cast(a.in[1], DType::kF32)) : a.dout;
      grads[0] = input_gradient(a.in[0], n, g);
    }
    if (has_weight && a.wants(1)) grads[1] = sum_leading(mul(a.dout, n));
    return grads;
  }

 private:
  Tensor input_gradient(const Tensor& x, const Tensor& n, const Tensor& g) const {
    Tensor dx = Tensor::empty(x.shape());
    const int64_t h = x.width();
    const float* px = x.data<float>();
    const float* pn = n.data<float>();
    const float* pg = g.data<float>();
    float* d = dx.mutable_data<float>();
    for_rows(x.rows(), h, [&](int64_t row) {
      const float* xr = px + row * h;
      const float* nr = pn + row * h;
      const float* gr = pg + row * h;
      const auto width = static_cast<double>(h);
      const double mean_square = sum_of(h, [&](int64_t i) { return xr[i] * xr[i]; }) / width;
      const auto r = static_cast<float>(1.0 / std::sqrt(mean_square + static_cast<double>(eps_)));
      const auto m =
          static_cast<float>(sum_of(h, [&](int64_t i) { return gr[i] * nr[i]; }) / width);
      for (int64_t i = 0; i < h; ++i) d[row * h + i] = r * (gr[i] - nr[i] * m);
    });
    return dx;
  }

  float eps_;
};

class LayerNorm final : public Op {
 public:
  explicit LayerNorm(float eps) : eps_(eps) {}
  std::string_view name() const override { return "layer_norm"; }

  OutputSpec infer(std::span<const Tensor> in) const override {
    require_f32(name(), in[0]);
    check_vector(name(), "weight", in[1], in[0]);
    check_vector(name(), "bias", in[2], in[0]);
    require(in[1].dtype() == in[2].dtype(), name(), ": weight is ", in[1].dtype(), ", bias is ",
            in[2].dtype());
    return {in[0].shape()};
  }

  void run(const RunArgs& a) const noexcept override {
    const float* x = a.in[0].data<float>();
    float* y = a.out.mutable_data<float>();
    const int64_t h = a.out.width();
    over_rows(a.compute, a.out.rows(), h, [&](int64_t begin, int64_t end) {
      kernels::table().layer_norm({.x = x + begin * h,
                                   .w = a.in[1].raw(),
                                   .b = a.in[2].raw(),
                                   .w_dtype = a.in[1].dtype(),
                                   .y = y + begin * h,
                                   .rows = end - begin,
                                   .cols = h,
                                   .x_stride = h,
                                   .y_stride = h,
                                   .eps = eps_});
    });
  }

  // With n = (x - mean) * r and g = dy * w:
  //   dx = r * (g - mean(g) - n * mean(g * n))    dw = sum over rows of dy * n    db = sum over rows of dy
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    const Tensor& x = a.in[0];
    const int64_t h = x.width();
    Tensor n = Tensor::empty(x.shape());
    Tensor dx = Tensor::empty(x.shape());
    const Tensor w = cast(a.in[1], DType::kF32);
    const float* px = x.data<float>();
    const float* pw = w.data<float>();
    const float* pg = a.dout.data<float>();
    float* pn = n.mutable_data<float>();
    float* d = dx.mutable_data<float>();
    for_rows(x.rows(), h, [&](int64_t row) {
      const float* xr = px + row * h;
      const float* gr = pg + row * h;
      float* nr = pn + row * h;
      const auto width = static_cast<double>(h);
      const auto mean = static_cast<float>(sum_of(h, [&](int64_t i) { return xr[i]; }) / width);
      const double var =
          sum_of(h, [&](int64_t i) { return (xr[i] - mean) * (xr[i] - mean); }) / width;
      const auto r = static_cast<float>(1.0 / std::sqrt(var + static_cast<double>(eps_)));
      for (int64_t i = 0; i < h; ++i) nr[i] = (xr[i] - mean) * r;
      const auto mg =
          static_cast<float>(sum_of(h, [&](int64_t i) { return gr[i] * pw[i]; }) / width);
      const auto mgn =
          static_cast<float>(sum_of(h, [&](int64_t i) { return gr[i] * pw[i] * nr[i]; }) / width);
      for (int64_t i = 0; i < h; ++i) d[row * h + i] = r * (gr[i] * pw[i] - mg - nr[i] * mgn);
    });
    std::vector<Tensor> grads(3);
    grads[0] = dx;
    if (a.wants(1)) grads[1] = sum_leading(mul(a.dout, n));
    if (a.wants(2)) grads[2] = sum_leading(a.dout);
    return grads;
  }

 private:
  float eps_;
};

}  // namespace

Tensor rms_norm(const Tensor& x, const Tensor& w, float eps) { return apply(RmsNorm(eps), {x, w}); }
Tensor rms_norm_no_weight(const Tensor& x, float eps) { return apply(RmsNorm(eps), {x}); }
Tensor layer_norm(const Tensor& x, const Tensor& w, const Tensor& b, float eps) {
  return apply(LayerNorm(eps), {x, w, b});
}

}  // namespace hearth
