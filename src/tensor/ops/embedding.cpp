// embedding and dequantize of linear.h.
#include <cstring>
#include <vector>

#include "kernels/table.h"
#include "tensor/ops/linear.h"
#include "tensor/ops/loops.h"
#include "tensor/ops/products.h"
#include "tensor/ops/scatter.h"
#include "tensor/ops/shape.h"

namespace hearth {
namespace {

class EmbeddingOp final : public Op {
 public:
  explicit EmbeddingOp(const WeightForm& form) : form_(form) {}
  std::string_view name() const override { return "embedding"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require(in[0].ndim() == 1 && in[0].dtype() == DType::kI32, "embedding: ids are I32 [T], not ",
            describe(in[0]));
    return {Shape{in[0].dim(0), form_.in}};
  }
  void run(const RunArgs& a) const noexcept override {
    const auto* ids = a.in[0].data<int32_t>();
    float* y = a.out.mutable_data<float>();
    over_rows(a.compute, a.in[0].size(), form_.in, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        float* row = y + r * form_.in;
        if (ids[r] < 0 || ids[r] >= form_.out) {
          std::fill_n(row, form_.in, 0.0F);
        } else if (form_.is_dense) {
          kernels::table().gather_rows({.w = a.in[1].raw(),
                                        .w_dtype = form_.dtype,
                                        .ids = ids + r,
                                        .y = row,
                                        .rows = 1,
                                        .cols = form_.in});
        } else {
          kernels::table().affine_dequantize({.w = form_.view(a.in.subspan(1)),
                                              .row_begin = ids[r],
                                              .row_end = ids[r] + 1,
                                              .out = row});
        }
      }
    });
  }
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    std::vector<Tensor> grads(a.in.size());
    if (form_.is_dense && a.wants(1)) grads[1] = scatter_add_rows(a.dout, a.in[0], a.in[1].shape());
    return grads;
  }

 private:
  WeightForm form_;
};

class Dequantize final : public Op {
 public:
  explicit Dequantize(const WeightForm& form) : form_(form) {}
  std::string_view name() const override { return "dequantize"; }
  OutputSpec infer(std::span<const Tensor> /*in*/) const override {
    return {Shape{form_.out, form_.in}};
  }
  void run(const RunArgs& a) const noexcept override {
    float* y = a.out.mutable_data<float>();
    over_rows(a.compute, form_.out, form_.in, [&](int64_t begin, int64_t end) {
      kernels::table().affine_dequantize(
          {.w = form_.view(a.in), .row_begin = begin, .row_end = end, .out = y + begin * form_.in});
    });
  }
  // Codes and scales are not trained.
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    return std::vector<Tensor>(a.in.size());
  }

 private:
  WeightForm form_;
};

}  // namespace

Tensor embedding(const Tensor& ids, const Weight& w) {
  require(w.is_defined(), "embedding: the weight is undefined");
  const EmbeddingOp op(WeightForm::of(w, Numerics::kExact));
  return w.is_dense() ? apply(op, {ids, w.data()})
                      : apply(op, {ids, w.data(), w.scales(), w.biases()});
}

Tensor dequantize(const Weight& w) {
  require(w.is_defined(), "dequantize: the weight is undefined");
  if (w.is_dense()) return cast(w.data(), DType::kF32);
  return apply(Dequantize(WeightForm::of(w, Numerics::kExact)), {w.data(), w.scales(), w.biases()});
}

}  // namespace hearth
