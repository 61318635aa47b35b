#include "tensor/ops/linear.h"

#include <array>
#include <vector>

#include "base/half.h"
#include "kernels/table.h"
#include "tensor/ops/loops.h"
#include "tensor/ops/products.h"
#include "tensor/ops/reduce.h"
#include "tensor/ops/shape.h"

namespace hearth {
namespace {

void check_input(std::string_view op, const Tensor& x, const Weight& w) {
  require_f32(op, x);
  require(w.is_defined(), op, ": the weight is undefined");
  require(x.ndim() > 0 && x.width() == w.in(), op, ": input ", x.shape(), " for a weight ",
          w.shape());
}

void check_bias(const Tensor& bias, int64_t out) {
  const DType t = bias.dtype();
  require(bias.ndim() == 1 && bias.dim(0) == out &&
              (t == DType::kF32 || t == DType::kBF16 || t == DType::kF16),
          "linear: bias is ", describe(bias), " for ", out, " outputs");
}

// One product; the bias, if any, is the last input.
class LinearOp final : public Op {
 public:
  LinearOp(const WeightForm& form, bool has_bias) : form_(form), has_bias_(has_bias) {}
  std::string_view name() const override { return "linear"; }

  OutputSpec infer(std::span<const Tensor> in) const override {
    return {with_width(in[0].shape(), form_.out)};
  }

  int64_t scratch_bytes(std::span<const Tensor> in, const OutputSpec& /*out*/,
                        const ComputeContext& compute) const override {
    return products_scratch_bytes({&form_, 1}, in[0].rows(), compute) +
           (has_bias_ ? form_.out * 4 + 64 : 0);
  }

  void run(const RunArgs& a) const noexcept override {
    Product p{.form = &form_,
              .parts = a.in.subspan(1),
              .bias = nullptr,
              .y = a.out.mutable_data<float>()};
    std::span<std::byte> scratch = a.scratch;
    if (has_bias_) {
      const int64_t bytes = (form_.out * 4 + 63) / 64 * 64;
      auto* widened = reinterpret_cast<float*>(scratch.data());
      widen(a.in.back(), widened);
      p.bias = widened;
      scratch = scratch.subspan(static_cast<size_t>(bytes));
    }
    run_products({&p, 1}, a.in[0], scratch, a.compute);
  }

  // dx = dy W    dW = dy^T x    dbias = sum over rows of dy
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    const Tensor& x = a.in[0];
    const Tensor dy = a.dout.with_shape({x.rows(), form_.out});
    std::vector<Tensor> grads(a.in.size());
    if (a.wants(0)) grads[0] = product_dx(form_, a.in.subspan(1), dy).with_shape(x.shape());
    if (form_.is_dense && a.wants(1))
      grads[1] = matmul(transpose(dy), x.with_shape({x.rows(), form_.in}));
    if (has_bias_ && a.wants(a.in.size() - 1)) grads.back() = sum_leading(dy);
    return grads;
  }

 private:
  static void widen(const Tensor& bias, float* y) {
    for (int64_t i = 0; i < bias.size(); ++i) {
      switch (bias.dtype()) {
        case DType::kBF16:
          y[i] = to_float(bias.data<bf16>()[i]);
          break;
        case DType::kF16:
          y[i] = to_float(bias.data<f16>()[i]);
          break;
        default:
          y[i] = bias.data<float>()[i];
          break;
      }
    }
  }

  WeightForm form_;
  bool has_bias_;
};

// Several products of one x in one flat output [R * N0 + R * N1 + ...].
class LinearMany final : public Op {
 public:
  void add(const WeightForm& form) { forms_[static_cast<size_t>(count_++)] = form; }
  std::string_view name() const override { return "linear_many"; }

  OutputSpec infer(std::span<const Tensor> in) const override {
    int64_t total = 0;
    for (const WeightForm& f : forms()) total += f.out;
    return {Shape{Shape{in[0].rows(), total}.size()}};  // the inner one checks for overflow
  }
  int64_t scratch_bytes(std::span<const Tensor> in, const OutputSpec& /*out*/,
                        const ComputeContext& compute) const override {
    return products_scratch_bytes(forms(), in[0].rows(), compute);
  }
  void run(const RunArgs& a) const noexcept override {
    std::array<Product, kMaxProducts> products;
    const int64_t rows = a.in[0].rows();
    float* y = a.out.mutable_data<float>();
    size_t at = 1;
    for (size_t i = 0; i < forms().size(); ++i) {
      const size_t parts = forms_[i].is_dense ? 1 : 3;
      products[i] = {.form = &forms_[i], .parts = a.in.subspan(at, parts), .bias = nullptr, .y = y};
      y += rows * forms_[i].out;
      at += parts;
    }
    run_products({products.data(), forms().size()}, a.in[0], a.scratch, a.compute);
  }
  std::vector<Tensor> vjp(const VjpArgs& /*a*/) const override {
    fail(Code::kUnsupported, "linear_many is not differentiated: a tape sees separate products");
  }

 private:
  std::span<const WeightForm> forms() const { return {forms_.data(), static_cast<size_t>(count_)}; }
  std::array<WeightForm, kMaxProducts> forms_{};
  int count_ = 0;
};

// a [M, K] b [K, N]: the kernel of gradients, which walks b by rows.
class MatMul final : public Op {
 public:
  std::string_view name() const override { return "matmul"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require_f32(name(), in[0]);
    require_f32(name(), in[1]);
    require(in[0].ndim() == 2 && in[1].ndim() == 2 && in[0].dim(1) == in[1].dim(0),
            "matmul: ", in[0].shape(), " times ", in[1].shape());
    return {Shape{in[0].dim(0), in[1].dim(1)}};
  }
  int64_t scratch_bytes(std::span<const Tensor> /*in*/, const OutputSpec& /*out*/,
                        const ComputeContext& compute) const override {
    return compute.workers() * kernels::kLinearScratchBytes;
  }
  void run(const RunArgs& a) const noexcept override {
    const WeightForm form{
        .is_dense = true, .dtype = DType::kF32, .out = a.in[1].dim(0), .in = a.in[1].dim(1)};
    run_product_dx(form, a.in.subspan(1), a.in[0], a.out, a.scratch, a.compute);
  }
  // da = dy b^T    db = a^T dy
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    std::vector<Tensor> grads(2);
    if (a.wants(0)) grads[0] = linear(a.dout, Weight::dense(a.in[1]));
    if (a.wants(1)) grads[1] = matmul(transpose(a.in[0]), a.dout);
    return grads;
  }
};

}  // namespace

Tensor linear(const Tensor& x, const Weight& w, const Tensor* bias) {
  check_input("linear", x, w);
  const WeightForm form = WeightForm::of(w, current_compute().numerics);
  if (bias != nullptr) check_bias(*bias, w.out());
  const LinearOp op(form, bias != nullptr);
  if (w.is_dense())
    return bias != nullptr ? apply(op, {x, w.data(), *bias}) : apply(op, {x, w.data()});
  if (bias != nullptr) return apply(op, {x, w.data(), w.scales(), w.biases(), *bias});
  return apply(op, {x, w.data(), w.scales(), w.biases()});
}

std::vector<Tensor> linear_many(const Tensor& x, std::span<const Weight* const> weights) {
  std::vector<Tensor> results(weights.size());
  linear_many(x, weights, results);
  return results;
}

void linear_many(const Tensor& x, std::span<const Weight* const> weights,
                 std::span<Tensor> results) {
  HEARTH_CHECK(results.size() == weights.size());
  const ComputeContext& compute = current_compute();
  const bool is_fused = weights.size() > 1 && weights.size() <= static_cast<size_t>(kMaxProducts) &&
                        (compute.recorder == nullptr || !compute.recorder->is_differentiating());
  if (!is_fused) {
    for (size_t i = 0; i < weights.size(); ++i) results[i] = linear(x, *weights[i]);
    return;
  }
  LinearMany op;
  std::array<Tensor, 1 + 3 * kMaxProducts> in;
  in[0] = x;
  size_t n = 1;
  for (const Weight* w : weights) {
    check_input("linear_many", x, *w);
    op.add(WeightForm::of(*w, compute.numerics));
    in[n++] = w->data();
    if (w->is_affine()) {
      in[n++] = w->scales();
      in[n++] = w->biases();
    }
  }
  const Tensor flat = apply_all(op, {in.data(), n});
  int64_t at = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const int64_t out = weights[i]->out();
    results[i] = slice_rows(flat, at, x.rows() * out).with_shape(with_width(x.shape(), out));
    at += x.rows() * out;
  }
}

Tensor matmul(const Tensor& a, const Tensor& b) { return apply(MatMul(), {a, b}); }

}  // namespace hearth
