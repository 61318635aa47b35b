// sdpa() of attention.h.
#include <vector>

#include "tensor/ops/attention.h"
#include "tensor/ops/attention_grad.h"
#include "tensor/ops/loops.h"
#include "tensor/ops/sdpa_core.h"

namespace hearth {
namespace {

// Inputs q, k, v, then sinks and mask where there are.
class Sdpa final : public Op {
 public:
  explicit Sdpa(const SdpaOptions& o)
      : scale_(o.scale),
        softcap_(o.softcap),
        window_(o.window),
        is_causal_(o.is_causal),
        sinks_at_(o.sinks != nullptr ? 3 : 0),
        mask_at_(o.mask == nullptr    ? 0
                 : o.sinks != nullptr ? 4
                                      : 3) {}
  std::string_view name() const override { return "sdpa"; }

  OutputSpec infer(std::span<const Tensor> in) const override {
    check_attention_shapes(name(), in[0], in[1], in[2]);
    require(window_ >= 0 && (window_ == 0 || is_causal_), "sdpa: a window needs causal attention");
    require(softcap_ >= 0.0F, "sdpa: soft cap ", softcap_);
    if (sinks_at_ != 0) check_sinks(name(), in[sinks_at_], in[0]);
    if (mask_at_ != 0) {
      const Tensor& m = in[mask_at_];
      const Shape plain{in[0].dim(0), in[1].dim(0)};
      const Shape per_head{in[0].dim(1), in[0].dim(0), in[1].dim(0)};
      require(m.shape() == plain || m.shape() == per_head, "sdpa: a mask ", m.shape(),
              " is neither ", plain, " nor ", per_head);
      require(m.dtype() == DType::kF32 || m.dtype() == DType::kU8 || m.dtype() == DType::kBool,
              "sdpa: a mask of ", m.dtype());
    }
    return {Shape{in[0].dim(0), in[0].dim(1), in[2].dim(2)}};
  }

  int64_t scratch_bytes(std::span<const Tensor> in, const OutputSpec& /*out*/,
                        const ComputeContext& compute) const override {
    return compute.workers() * sdpa_forward_floats(problem(in)) * 4;
  }

  void run(const RunArgs& a) const noexcept override {
    const SdpaProblem p = problem(a.in);
    float* y = a.out.mutable_data<float>();
    auto* scratch = reinterpret_cast<float*>(a.scratch.data());
    const int64_t each = sdpa_forward_floats(p);
    a.compute.parallel_for(
        p.kv_heads, p.queries * p.keys * p.heads * (p.k_dim + p.v_dim),
        [&](int64_t head, int worker) { sdpa_forward(p, head, y, scratch + worker * each); });
  }

  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    AttentionGradients g(a.in[0], a.in[1], a.in[2], sinks_at_ != 0);
    g.add(problem(a.in), a.dout.data<float>(), 0);
    std::vector<Tensor> grads(a.in.size());
    grads[0] = g.dq;
    grads[1] = g.dk;
    grads[2] = g.dv;
    if (sinks_at_ != 0) grads[sinks_at_] = g.dsinks;
    return grads;
  }

 private:
  SdpaProblem problem(std::span<const Tensor> in) const {
    SdpaProblem p = attention_problem(in[0], in[1], in[2]);
    p.scale = scale_;
    p.softcap = softcap_;
    p.window = window_;
    p.is_causal = is_causal_;
    if (sinks_at_ != 0) p.sinks = in[sinks_at_].data<float>();
    if (mask_at_ != 0) {
      const Tensor& m = in[mask_at_];
      p.is_mask_per_head = m.ndim() == 3;
      if (m.dtype() == DType::kF32)
        p.added = m.data<float>();
      else
        p.visible = m.data<uint8_t>();
    }
    return p;
  }

  float scale_, softcap_;
  int64_t window_;
  bool is_causal_;
  size_t sinks_at_, mask_at_;
};

}  // namespace

void check_attention_shapes(std::string_view op, const Tensor& q, const Tensor& k,
                            const Tensor& v) {
  require_f32(op, q);
  require_f32(op, k);
  require_f32(op, v);
  const bool fits = q.ndim() == 3 && k.ndim() == 3 && v.ndim() == 3 && k.dim(2) == q.dim(2) &&
                    v.dim(0) == k.dim(0) && v.dim(1) == k.dim(1) && k.dim(1) > 0 &&
                    q.dim(1) % k.dim(1) == 0;
  require(fits, op, ": q ", q.shape(), ", k ", k.shape(), " and v ", v.shape(), " do not fit");
}

void check_sinks(std::string_view op, const Tensor& sinks, const Tensor& q) {
  require_f32(op, sinks);
  require(sinks.shape() == Shape{q.dim(1)}, op, ": sinks ", sinks.shape(), " for ", q.dim(1),
          " heads");
}

SdpaProblem attention_problem(const Tensor& q, const Tensor& k, const Tensor& v) {
  SdpaProblem p;
  p.q = q.data<float>();
  p.k = k.data<float>();
  p.v = v.data<float>();
  p.queries = q.dim(0);
  p.keys = k.dim(0);
  p.heads = q.dim(1);
  p.kv_heads = k.dim(1);
  p.k_dim = q.dim(2);
  p.v_dim = v.dim(2);
  return p;
}

AttentionGradients::AttentionGradients(const Tensor& q, const Tensor& k, const Tensor& v,
                                       bool has_sinks)
    : dq(Tensor::zeros(q.shape())), dk(Tensor::zeros(k.shape())), dv(Tensor::zeros(v.shape())) {
  if (has_sinks) dsinks = Tensor::zeros({q.dim(1)});
}

void AttentionGradients::add(const SdpaProblem& p, const float* dy, int64_t row) {
  const ComputeContext& compute = current_compute();
  const int64_t each = sdpa_backward_floats(p);
  const StorageRef scratch(Storage::make(compute.workers() * each * 4));
  Tensor part = dsinks.is_defined() ? Tensor::zeros(dsinks.shape()) : Tensor();
  float* q = dq.mutable_data<float>() + row * p.heads * p.k_dim;
  float* k = dk.mutable_data<float>() + row * p.kv_heads * p.k_dim;
  float* v = dv.mutable_data<float>() + row * p.kv_heads * p.v_dim;
  float* sinks = part.is_defined() ? part.mutable_data<float>() : nullptr;
  auto* memory = reinterpret_cast<float*>(scratch->data());
  compute.parallel_for(p.kv_heads, p.queries * p.keys * p.heads * (p.k_dim + p.v_dim) * 3,
                       [&](int64_t head, int worker) {
                         sdpa_backward(p, head, dy, q, k, v, sinks, memory + worker * each);
                       });
  if (sinks == nullptr) return;
  float* total = dsinks.mutable_data<float>();
  for (int64_t i = 0; i < part.size(); ++i) total[i] += sinks[i];
}

Tensor sdpa(const Tensor& q, const Tensor& k, const Tensor& v, const SdpaOptions& options) {
  const Sdpa op(options);
  if (options.sinks != nullptr && options.mask != nullptr)
    return apply(op, {q, k, v, *options.sinks, *options.mask});
  if (options.sinks != nullptr) return apply(op, {q, k, v, *options.sinks});
  if (options.mask != nullptr) return apply(op, {q, k, v, *options.mask});
  return apply(op, {q, k, v});
}

}  // namespace hearth
