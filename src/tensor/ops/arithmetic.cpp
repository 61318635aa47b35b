#include "tensor/ops/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/table.h"
#include "tensor/ops/loops.h"
#include "tensor/ops/reduce.h"
#include "tensor/ops/shape.h"

namespace hearth {
namespace {

// How the smaller operand is repeated over the larger one.
enum class Form { kSame, kOne, kTrailing, kPerRow, kNone };

Form form_of(const Shape& large, const Shape& small) {
  if (large == small) return Form::kSame;
  if (small.size() == 1 && large.size() >= 1) return Form::kOne;
  const std::span<const int64_t> a = large.dims();
  const std::span<const int64_t> b = small.dims();
  if (b.size() > a.size()) return Form::kNone;
  if (std::ranges::equal(a.last(b.size()), b)) return Form::kTrailing;
  if (b.size() == a.size() && b.back() == 1 &&
      std::ranges::equal(a.first(a.size() - 1), b.first(b.size() - 1)))
    return Form::kPerRow;
  return Form::kNone;
}

struct Pairing {
  bool a_is_large;
  Form form;
};

Pairing pairing_of(const Shape& a, const Shape& b) {
  const Form form = form_of(a, b);
  if (form != Form::kNone) return {true, form};
  return {false, form_of(b, a)};
}

// The gradient of the small operand: that of its repeated copies, summed.
Tensor sum_to(const Tensor& g, const Tensor& small, Form form) {
  switch (form) {
    case Form::kSame:
      return g;
    case Form::kOne:
      return sum_all(g).with_shape(small.shape());
    case Form::kPerRow:
      return sum_last(g).with_shape(small.shape());
    case Form::kTrailing:
    case Form::kNone:
      break;
  }
  if (small.size() == 0) return Tensor::zeros(small.shape());
  const Tensor rows = g.with_shape({g.size() / small.size(), small.size()});
  return sum_leading(rows).with_shape(small.shape());
}

// y = f(large, small) with the small operand repeated as `form` says.
template <class F>
void combine(const ComputeContext& compute, Form form, const Tensor& large, const Tensor& small,
             Tensor& out, F f) {
  const float* a = large.data<float>();
  const float* b = small.data<float>();
  float* y = out.mutable_data<float>();
  const int64_t n = large.size();
  if (form == Form::kSame) {
    over_elements(compute, n, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = f(a[i], b[i]);
    });
    return;
  }
  const bool is_per_row = form == Form::kPerRow;
  const int64_t width =
      is_per_row ? large.width() : std::max<int64_t>(1, form == Form::kOne ? n : small.size());
  over_rows(compute, n / std::max<int64_t>(1, width), width, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* x = a + r * width;
      float* z = y + r * width;
      if (form == Form::kTrailing) {
        for (int64_t i = 0; i < width; ++i) z[i] = f(x[i], b[i]);
      } else {
        const float s = is_per_row ? b[r] : b[0];
        for (int64_t i = 0; i < width; ++i) z[i] = f(x[i], s);
      }
    }
  });
}

class Binary final : public Op {
 public:
  enum class Kind { kAdd, kSub, kMul, kDiv };
  explicit Binary(Kind kind) : kind_(kind) {}

  std::string_view name() const override {
    switch (kind_) {
      case Kind::kAdd:
        return "add";
      case Kind::kSub:
        return "sub";
      case Kind::kMul:
        return "mul";
      case Kind::kDiv:
        break;
    }
    return "div";
  }

  OutputSpec infer(std::span<const Tensor> in) const override {
    require_f32(name(), in[0]);
    require_f32(name(), in[1]);
    const Pairing p = pairing_of(in[0].shape(), in[1].shape());
    require(p.form != Form::kNone, name(), ": shapes ", in[0].shape(), " and ", in[1].shape(),
            " do not fit");
    return {p.a_is_large ? in[0].shape() : in[1].shape()};
  }

  void run(const RunArgs& a) const noexcept override {
    const Pairing p = pairing_of(a.in[0].shape(), a.in[1].shape());
    if (p.form == Form::kSame && (kind_ == Kind::kAdd || kind_ == Kind::kMul)) return run_kernel(a);
    const Tensor& large = p.a_is_large ? a.in[0] : a.in[1];
    const Tensor& small = p.a_is_large ? a.in[1] : a.in[0];
    const auto go = [&](auto f) { combine(a.compute, p.form, large, small, a.out, f); };
    switch (kind_) {
      case Kind::kAdd:
        return go([](float x, float s) { return x + s; });
      case Kind::kMul:
        return go([](float x, float s) { return x * s; });
      case Kind::kSub:
        return p.a_is_large ? go([](float x, float s) { return x - s; })
                            : go([](float x, float s) { return s - x; });
      case Kind::kDiv:
        return p.a_is_large ? go([](float x, float s) { return x / s; })
                            : go([](float x, float s) { return s / x; });
    }
  }

  // With c = a op b:  add (g, g)   sub (g, -g)   mul (g b, g a)   div (g / b, -g c / b), then summed over copies.
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    const Tensor& b = a.in[1];
    std::vector<Tensor> grads(2);
    const Pairing p = pairing_of(a.in[0].shape(), b.shape());
    const auto give = [&](size_t i, const Tensor& g) {
      const bool is_large = (i == 0) == p.a_is_large;
      grads[i] = is_large ? g : sum_to(g, a.in[i], p.form);
    };
    const bool is_product = kind_ == Kind::kMul;
    const bool is_quotient = kind_ == Kind::kDiv;
    if (a.wants(0)) give(0, is_product ? mul(a.dout, b) : is_quotient ? div(a.dout, b) : a.dout);
    if (a.wants(1)) {
      if (is_product) {
        give(1, mul(a.dout, a.in[0]));
      } else if (is_quotient) {
        give(1, neg(div(mul(a.dout, a.out), b)));
      } else {
        give(1, kind_ == Kind::kSub ? neg(a.dout) : a.dout);
      }
    }
    return grads;
  }

 private:
  void run_kernel(const RunArgs& a) const noexcept {
    const float* x = a.in[0].data<float>();
    const float* z = a.in[1].data<float>();
    float* y = a.out.mutable_data<float>();
    kernels::BinaryFn* kernel = kind_ == Kind::kAdd ? kernels::table().add : kernels::table().mul;
    over_elements(a.compute, a.out.size(), 1, [&](int64_t begin, int64_t end) {
      kernel({.a = x + begin, .b = z + begin, .y = y + begin, .n = end - begin});
    });
  }

  Kind kind_;
};

// x * scale + shift.
class AffineMap final : public Op {
 public:
  AffineMap(float scale, float shift) : scale_(scale), shift_(shift) {}
  std::string_view name() const override { return "affine_map"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require_f32(name(), in[0]);
    return {in[0].shape()};
  }
  void run(const RunArgs& a) const noexcept override {
    const float* x = a.in[0].data<float>();
    float* y = a.out.mutable_data<float>();
    over_elements(a.compute, a.out.size(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = x[i] * scale_ + shift_;
    });
  }
  std::vector<Tensor> vjp(const VjpArgs& a) const override { return {mul_scalar(a.dout, scale_)}; }

 private:
  float scale_, shift_;
};

class Clamp final : public Op {
 public:
  Clamp(float low, float high) : low_(low), high_(high) {}
  std::string_view name() const override { return "clamp"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require_f32(name(), in[0]);
    require(low_ <= high_, "clamp: bounds ", low_, " and ", high_);
    return {in[0].shape()};
  }
  void run(const RunArgs& a) const noexcept override {
    const float* x = a.in[0].data<float>();
    float* y = a.out.mutable_data<float>();
    over_elements(a.compute, a.out.size(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = x[i] < low_ ? low_ : x[i] > high_ ? high_ : x[i];
    });
  }
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    return {map(a.dout, a.in[0],
                [this](float g, float x) { return x >= low_ && x <= high_ ? g : 0.0F; })};
  }

 private:
  float low_, high_;
};

class Unary final : public Op {
 public:
  enum class Kind { kSquare, kSqrt, kRsqrt, kExp, kLog };
  explicit Unary(Kind kind) : kind_(kind) {}

  std::string_view name() const override {
    switch (kind_) {
      case Kind::kSquare:
        return "square";
      case Kind::kSqrt:
        return "sqrt";
      case Kind::kRsqrt:
        return "rsqrt";
      case Kind::kExp:
        return "exp";
      case Kind::kLog:
        break;
    }
    return "log";
  }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require_f32(name(), in[0]);
    return {in[0].shape()};
  }

  void run(const RunArgs& a) const noexcept override {
    const float* x = a.in[0].data<float>();
    float* y = a.out.mutable_data<float>();
    over_elements(a.compute, a.out.size(), 4, [&](int64_t begin, int64_t end) {
      const auto each = [&](auto f) {
        for (int64_t i = begin; i < end; ++i) y[i] = f(x[i]);
      };
      switch (kind_) {
        case Kind::kSquare:
          return each([](float v) { return v * v; });
        case Kind::kSqrt:
          return each([](float v) { return std::sqrt(v); });
        case Kind::kRsqrt:
          return each([](float v) { return 1.0F / std::sqrt(v); });
        case Kind::kExp:
          return kernels::table().exp({.x = x + begin, .y = y + begin, .n = end - begin});
        case Kind::kLog:
          return each([](float v) { return std::log(v); });
      }
    });
  }

  // square 2 x   sqrt 1 / (2 y)   rsqrt -y^3 / 2   exp y   log 1 / x
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    switch (kind_) {
      case Kind::kSquare:
        return {map(a.dout, a.in[0], [](float g, float x) { return 2.0F * g * x; })};
      case Kind::kSqrt:
        return {map(a.dout, a.out, [](float g, float y) { return 0.5F * g / y; })};
      case Kind::kRsqrt:
        return {map(a.dout, a.out, [](float g, float y) { return -0.5F * g * y * y * y; })};
      case Kind::kExp:
        return {mul(a.dout, a.out)};
      case Kind::kLog:
        break;
    }
    return {div(a.dout, a.in[0])};
  }

 private:
  Kind kind_;
};

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) { return apply(Binary(Binary::Kind::kAdd), {a, b}); }
Tensor sub(const Tensor& a, const Tensor& b) { return apply(Binary(Binary::Kind::kSub), {a, b}); }
Tensor mul(const Tensor& a, const Tensor& b) { return apply(Binary(Binary::Kind::kMul), {a, b}); }
Tensor div(const Tensor& a, const Tensor& b) { return apply(Binary(Binary::Kind::kDiv), {a, b}); }
Tensor add_scalar(const Tensor& x, float s) { return apply(AffineMap(1.0F, s), {x}); }
Tensor mul_scalar(const Tensor& x, float s) { return apply(AffineMap(s, 0.0F), {x}); }
Tensor neg(const Tensor& x) { return apply(AffineMap(-1.0F, 0.0F), {x}); }
Tensor clamp(const Tensor& x, float low, float high) { return apply(Clamp(low, high), {x}); }
Tensor square(const Tensor& x) { return apply(Unary(Unary::Kind::kSquare), {x}); }
Tensor sqrt(const Tensor& x) { return apply(Unary(Unary::Kind::kSqrt), {x}); }
Tensor rsqrt(const Tensor& x) { return apply(Unary(Unary::Kind::kRsqrt), {x}); }
Tensor exp(const Tensor& x) { return apply(Unary(Unary::Kind::kExp), {x}); }
Tensor log(const Tensor& x) { return apply(Unary(Unary::Kind::kLog), {x}); }

}  // namespace hearth
