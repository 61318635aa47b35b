#include "tensor/ops/loss.h"

#include <cmath>
#include <vector>

#include "kernels/table.h"
#include "tensor/ops/loops.h"

namespace hearth {
namespace {

void check_targets(std::string_view op, const Tensor& logits, const Tensor& targets) {
  require_f32(op, logits);
  require(logits.ndim() == 2, op, ": logits are [R, V], not ", logits.shape());
  require(targets.dtype() == DType::kI32 && targets.shape() == Shape{logits.dim(0)}, op,
          ": targets are I32 [R], not ", describe(targets), " for logits ", logits.shape());
}

// log p(target) of every row, 0 where the target lies outside.
void log_probs(const ComputeContext& compute, const Tensor& logits, const Tensor& targets,
               float* y) {
  const float* x = logits.data<float>();
  const auto* target = targets.data<int32_t>();
  const int64_t v = logits.width();
  over_rows(compute, targets.size(), v, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      y[r] = 0.0F;
      if (target[r] < 0 || target[r] >= v) continue;
      float lse = 0.0F;
      kernels::table().logsumexp({.x = x + r * v, .y = &lse, .rows = 1, .cols = v, .x_stride = v});
      y[r] = x[r * v + target[r]] - lse;
    }
  });
}

// The gradient of sum over rows of g(r) * log p(target): g (onehot - softmax).
template <class G>
Tensor log_prob_gradient(const Tensor& logits, const Tensor& targets, G g) {
  Tensor dx = Tensor::empty(logits.shape());
  const float* x = logits.data<float>();
  const auto* target = targets.data<int32_t>();
  float* d = dx.mutable_data<float>();
  const int64_t v = logits.width();
  over_rows(current_compute(), targets.size(), v, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float* row = d + r * v;
      const float weight = g(r);
      if (target[r] < 0 || target[r] >= v || weight == 0.0F) {
        std::fill_n(row, v, 0.0F);
        continue;
      }
      kernels::table().softmax(
          {.x = x + r * v, .y = row, .rows = 1, .cols = v, .x_stride = v, .y_stride = v});
      for (int64_t i = 0; i < v; ++i) row[i] *= -weight;
      row[target[r]] += weight;
    }
  });
  return dx;
}

class CrossEntropy final : public Op {
 public:
  std::string_view name() const override { return "cross_entropy"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    check_targets(name(), in[0], in[1]);
    require_f32(name(), in[2]);
    require(in[2].shape() == in[1].shape(), "cross_entropy: weights ", in[2].shape(),
            " for targets ", in[1].shape());
    return {Shape()};
  }
  int64_t scratch_bytes(std::span<const Tensor> in, const OutputSpec& /*out*/,
                        const ComputeContext& /*compute*/) const override {
    return in[1].size() * 4;
  }
  void run(const RunArgs& a) const noexcept override {
    auto* log_p = reinterpret_cast<float*>(a.scratch.data());
    log_probs(a.compute, a.in[0], a.in[1], log_p);
    const float* w = a.in[2].data<float>();
    // A row of weight 0 counts for nothing, even where log p is infinite.
    const double total =
        sum_of(a.in[1].size(), [&](int64_t r) { return w[r] == 0.0F ? 0.0F : -w[r] * log_p[r]; });
    *a.out.mutable_data<float>() = static_cast<float>(total);
  }
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    std::vector<Tensor> grads(3);
    const float g = a.dout.item();
    const float* w = a.in[2].data<float>();
    if (a.wants(0))
      grads[0] = log_prob_gradient(a.in[0], a.in[1], [&](int64_t r) { return -g * w[r]; });
    return grads;
  }
};

class TargetLogProb final : public Op {
 public:
  std::string_view name() const override { return "target_log_prob"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    check_targets(name(), in[0], in[1]);
    return {in[1].shape()};
  }
  void run(const RunArgs& a) const noexcept override {
    log_probs(a.compute, a.in[0], a.in[1], a.out.mutable_data<float>());
  }
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    std::vector<Tensor> grads(2);
    const float* g = a.dout.data<float>();
    if (a.wants(0)) grads[0] = log_prob_gradient(a.in[0], a.in[1], [&](int64_t r) { return g[r]; });
    return grads;
  }
};

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const Tensor& weights) {
  return apply(CrossEntropy(), {logits, targets, weights});
}
Tensor target_log_prob(const Tensor& logits, const Tensor& targets) {
  return apply(TargetLogProb(), {logits, targets});
}

}  // namespace hearth
