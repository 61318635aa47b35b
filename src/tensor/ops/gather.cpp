// take_rows and cast of shape.h.
#include <cstring>
#include <vector>

#include "base/half.h"
#include "tensor/ops/loops.h"
#include "tensor/ops/scatter.h"
#include "tensor/ops/shape.h"

namespace hearth {
namespace {

class TakeRows final : public Op {
 public:
  std::string_view name() const override { return "take_rows"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    const Tensor& x = in[0];
    require(x.ndim() > 0, "take_rows: a scalar has no rows");
    require(in[1].ndim() == 1 && in[1].dtype() == DType::kI32, "take_rows: ids are I32 [R], not ",
            describe(in[1]));
    std::array<int64_t, Shape::kMaxDims> dims{};
    std::ranges::copy(x.shape().dims(), dims.begin());
    dims[0] = in[1].dim(0);
    return {Shape(std::span<const int64_t>(dims.data(), static_cast<size_t>(x.ndim()))), x.dtype()};
  }
  void run(const RunArgs& a) const noexcept override {
    const int64_t count = a.in[0].dim(0);
    const int64_t row = count == 0 ? 0 : a.in[0].bytes() / count;
    const std::byte* x = a.in[0].raw();
    const auto* ids = a.in[1].data<int32_t>();
    std::byte* y = a.out.mutable_raw();
    over_rows(a.compute, a.in[1].size(), row / 4 + 1, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const bool is_inside = ids[r] >= 0 && ids[r] < count;
        if (is_inside)
          std::memcpy(y + r * row, x + ids[r] * row, static_cast<size_t>(row));
        else
          std::memset(y + r * row, 0, static_cast<size_t>(row));
      }
    });
    if (count == 0 && a.out.bytes() > 0) std::memset(y, 0, static_cast<size_t>(a.out.bytes()));
  }
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    std::vector<Tensor> grads(2);
    if (a.wants(0)) grads[0] = scatter_add_rows(a.dout, a.in[1], a.in[0].shape());
    return grads;
  }
};

class Cast final : public Op {
 public:
  explicit Cast(DType to) : to_(to) {}
  std::string_view name() const override { return "cast"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require(is_castable(in[0].dtype()) && is_castable(to_), "cast: from ", in[0].dtype(), " to ",
            to_);
    return {in[0].shape(), to_};
  }
  void run(const RunArgs& a) const noexcept override {
    switch (a.in[0].dtype()) {
      case DType::kBF16:
        return from<bf16>(a);
      case DType::kF16:
        return from<f16>(a);
      default:
        return from<float>(a);
    }
  }
  // dout is f32 already, and rounding counts as the identity.
  std::vector<Tensor> vjp(const VjpArgs& a) const override { return {a.dout}; }

 private:
  static bool is_castable(DType t) {
    return t == DType::kF32 || t == DType::kBF16 || t == DType::kF16;
  }
  static float widen(float x) { return x; }
  static float widen(bf16 x) { return to_float(x); }
  static float widen(f16 x) { return to_float(x); }

  template <class From>
  void from(const RunArgs& a) const {
    const auto* x = reinterpret_cast<const From*>(a.in[0].raw());
    const auto each = [&](auto* y, auto narrow) {
      over_elements(a.compute, a.out.size(), 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) y[i] = narrow(widen(x[i]));
      });
    };
    switch (to_) {
      case DType::kBF16:
        return each(a.out.mutable_data<bf16>(), [](float v) { return to_bf16(v); });
      case DType::kF16:
        return each(a.out.mutable_data<f16>(), [](float v) { return to_f16(v); });
      default:
        return each(a.out.mutable_data<float>(), [](float v) { return v; });
    }
  }

  DType to_;
};

}  // namespace

// Serial over ids within a column range, so that repeated ids add up in one order.
Tensor scatter_add_rows(const Tensor& rows, const Tensor& ids, const Shape& shape) {
  Tensor sum = Tensor::zeros(shape);
  const int64_t count = shape.dim(0);
  const int64_t width = count == 0 ? 0 : sum.size() / count;
  const float* g = rows.data<float>();
  const auto* id = ids.data<int32_t>();
  float* y = sum.mutable_data<float>();
  current_compute().parallel_ranges(width, 256, rows.size(), [&](int64_t begin, int64_t end) {
    for (int64_t r = 0; r < ids.size(); ++r) {
      if (id[r] < 0 || id[r] >= count) continue;
      for (int64_t i = begin; i < end; ++i) y[id[r] * width + i] += g[r * width + i];
    }
  });
  return sum;
}

Tensor take_rows(const Tensor& x, const Tensor& ids) { return apply(TakeRows(), {x, ids}); }

Tensor cast(const Tensor& x, DType dtype) {
  return x.dtype() == dtype ? x : apply(Cast(dtype), {x});
}

}  // namespace hearth
