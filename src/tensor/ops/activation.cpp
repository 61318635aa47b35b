#include "tensor/ops/activation.h"

#include <cmath>
#include <vector>

#include "kernels/table.h"
#include "tensor/ops/arithmetic.h"
#include "tensor/ops/loops.h"

namespace hearth {
namespace {

constexpr float kSqrt2OverPi = 0.7978845608F;
constexpr float kGeluCubic = 0.044715F;
constexpr float kInvSqrt2 = 0.7071067812F;
constexpr float kInvSqrt2Pi = 0.3989422804F;

// d/dx of x (1 + tanh(u)) / 2 with u = sqrt(2/pi) (x + 0.044715 x^3).
float gelu_tanh_slope(float x) {
  const float t = std::tanh(kSqrt2OverPi * (x + kGeluCubic * x * x * x));
  const float du = kSqrt2OverPi * (1.0F + 3.0F * kGeluCubic * x * x);
  return 0.5F * (1.0F + t) + 0.5F * x * (1.0F - t * t) * du;
}

// d/dx of x Phi(x) is Phi(x) + x phi(x).
float gelu_erf_slope(float x) {
  return 0.5F * (1.0F + std::erf(x * kInvSqrt2)) + x * kInvSqrt2Pi * std::exp(-0.5F * x * x);
}

class Activation final : public Op {
 public:
  enum class Kind { kSigmoid, kTanh, kRelu, kSoftplus, kSilu, kGeluTanh, kGeluErf };
  explicit Activation(Kind kind) : kind_(kind) {}

  std::string_view name() const override {
    switch (kind_) {
      case Kind::kSigmoid:
        return "sigmoid";
      case Kind::kTanh:
        return "tanh";
      case Kind::kRelu:
        return "relu";
      case Kind::kSoftplus:
        return "softplus";
      case Kind::kSilu:
        return "silu";
      case Kind::kGeluTanh:
        return "gelu_tanh";
      case Kind::kGeluErf:
        break;
    }
    return "gelu_erf";
  }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require_f32(name(), in[0]);
    return {in[0].shape()};
  }

  void run(const RunArgs& a) const noexcept override {
    const float* x = a.in[0].data<float>();
    float* y = a.out.mutable_data<float>();
    over_elements(a.compute, a.out.size(), 8, [&](int64_t begin, int64_t end) {
      const kernels::UnaryArgs args{.x = x + begin, .y = y + begin, .n = end - begin};
      switch (kind_) {
        case Kind::kSigmoid:
          return kernels::table().sigmoid(args);
        case Kind::kTanh:
          return kernels::table().tanh(args);
        case Kind::kSilu:
          return kernels::table().silu(args);
        case Kind::kGeluTanh:
          return kernels::table().gelu_tanh(args);
        case Kind::kGeluErf:
          return kernels::table().gelu_erf(args);
        case Kind::kRelu:
          for (int64_t i = begin; i < end; ++i) y[i] = x[i] > 0.0F ? x[i] : 0.0F;
          return;
        case Kind::kSoftplus:  // log(1 + e^x) without overflow
          for (int64_t i = begin; i < end; ++i)
            y[i] = std::max(x[i], 0.0F) + std::log1p(std::exp(-std::abs(x[i])));
          return;
      }
    });
  }

  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    const Tensor& x = a.in[0];
    switch (kind_) {
      case Kind::kSigmoid:
        return {map(a.dout, a.out, [](float g, float y) { return g * y * (1.0F - y); })};
      case Kind::kTanh:
        return {map(a.dout, a.out, [](float g, float y) { return g * (1.0F - y * y); })};
      case Kind::kRelu:
        return {map(a.dout, x, [](float g, float v) { return v > 0.0F ? g : 0.0F; })};
      case Kind::kSoftplus:
        return {mul(a.dout, sigmoid(x))};
      case Kind::kSilu:
        return {map(a.dout, x, sigmoid(x),
                    [](float g, float v, float s) { return g * s * (1.0F + v * (1.0F - s)); })};
      case Kind::kGeluTanh:
        return {map(a.dout, x, [](float g, float v) { return g * gelu_tanh_slope(v); })};
      case Kind::kGeluErf:
        break;
    }
    return {map(a.dout, x, [](float g, float v) { return g * gelu_erf_slope(v); })};
  }

 private:
  Kind kind_;
};

// act(gate) * up.
class Gated final : public Op {
 public:
  enum class Kind { kSwiglu, kGeglu };
  explicit Gated(Kind kind) : kind_(kind) {}

  std::string_view name() const override {
    if (kind_ == Kind::kSwiglu) return "swiglu";
    return "geglu";
  }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require_f32(name(), in[0]);
    require_f32(name(), in[1]);
    require(in[0].shape() == in[1].shape(), name(), ": gate is ", in[0].shape(), ", up is ",
            in[1].shape());
    return {in[0].shape()};
  }
  void run(const RunArgs& a) const noexcept override {
    const float* gate = a.in[0].data<float>();
    const float* up = a.in[1].data<float>();
    float* y = a.out.mutable_data<float>();
    kernels::BinaryFn* kernel =
        kind_ == Kind::kSwiglu ? kernels::table().swiglu : kernels::table().geglu;
    over_elements(a.compute, a.out.size(), 8, [&](int64_t begin, int64_t end) {
      kernel({.a = gate + begin, .b = up + begin, .y = y + begin, .n = end - begin});
    });
  }
  // dgate = dout * up * act'(gate)    dup = dout * act(gate)
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    const Tensor& gate = a.in[0];
    std::vector<Tensor> grads(2);
    if (kind_ == Kind::kSwiglu) {
      const Tensor s = sigmoid(gate);
      if (a.wants(0)) {
        const Tensor slope =
            map(gate, s, [](float v, float p) { return p * (1.0F + v * (1.0F - p)); });
        grads[0] = map(a.dout, a.in[1], slope, [](float g, float u, float d) { return g * u * d; });
      }
      if (a.wants(1))
        grads[1] = map(a.dout, gate, s, [](float g, float v, float p) { return g * v * p; });
      return grads;
    }
    if (a.wants(0)) {
      grads[0] = map(a.dout, a.in[1], gate,
                     [](float g, float u, float v) { return g * u * gelu_tanh_slope(v); });
    }
    if (a.wants(1)) grads[1] = mul(a.dout, gelu_tanh(gate));
    return grads;
  }

 private:
  Kind kind_;
};

class SoftCap final : public Op {
 public:
  explicit SoftCap(float cap) : cap_(cap) {}
  std::string_view name() const override { return "softcap"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require_f32(name(), in[0]);
    require(cap_ > 0.0F, "softcap: the cap must be positive, not ", cap_);
    return {in[0].shape()};
  }
  void run(const RunArgs& a) const noexcept override {
    const float* x = a.in[0].data<float>();
    float* y = a.out.mutable_data<float>();
    over_elements(a.compute, a.out.size(), 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = x[i] / cap_;
      kernels::table().tanh({.x = y + begin, .y = y + begin, .n = end - begin});
      for (int64_t i = begin; i < end; ++i) y[i] *= cap_;
    });
  }
  // 1 - tanh^2, and tanh is out / cap.
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    return {map(a.dout, a.out,
                [this](float g, float y) { return g * (1.0F - (y / cap_) * (y / cap_)); })};
  }

 private:
  float cap_;
};

}  // namespace

Tensor sigmoid(const Tensor& x) { return apply(Activation(Activation::Kind::kSigmoid), {x}); }
Tensor tanh(const Tensor& x) { return apply(Activation(Activation::Kind::kTanh), {x}); }
Tensor relu(const Tensor& x) { return apply(Activation(Activation::Kind::kRelu), {x}); }
Tensor softplus(const Tensor& x) { return apply(Activation(Activation::Kind::kSoftplus), {x}); }
Tensor silu(const Tensor& x) { return apply(Activation(Activation::Kind::kSilu), {x}); }
Tensor gelu_tanh(const Tensor& x) { return apply(Activation(Activation::Kind::kGeluTanh), {x}); }
Tensor gelu_erf(const Tensor& x) { return apply(Activation(Activation::Kind::kGeluErf), {x}); }
Tensor swiglu(const Tensor& gate, const Tensor& up) {
  return apply(Gated(Gated::Kind::kSwiglu), {gate, up});
}
Tensor geglu(const Tensor& gate, const Tensor& up) {
  return apply(Gated(Gated::Kind::kGeglu), {gate, up});
}
Tensor softcap(const Tensor& x, float cap) { return apply(SoftCap(cap), {x}); }

}  // namespace hearth
