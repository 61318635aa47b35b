#include "tensor/ops/rope.h"

#include <vector>

#include "kernels/table.h"
#include "tensor/ops/loops.h"

namespace hearth {
namespace {

// positions [T], inv_freq [P] -> [2, T, P]: cosines, then sines.
class RopeAngles final : public Op {
 public:
  explicit RopeAngles(float position_scale) : position_scale_(position_scale) {}
  std::string_view name() const override { return "rope_angles"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require(in[0].ndim() == 1 && in[0].dtype() == DType::kI32, "rope: positions are I32 [T], not ",
            describe(in[0]));
    require(in[1].ndim() == 1 && in[1].dtype() == DType::kF32,
            "rope: inv_freq is F32 [dims / 2], not ", describe(in[1]));
    return {Shape{2, in[0].dim(0), in[1].dim(0)}};
  }
  void run(const RunArgs& a) const noexcept override {
    const int64_t tokens = a.out.dim(1);
    const int64_t pairs = a.out.dim(2);
    float* y = a.out.mutable_data<float>();
    const auto* positions = a.in[0].data<int32_t>();
    over_rows(a.compute, tokens, pairs * 16, [&](int64_t begin, int64_t end) {
      kernels::table().rope_table({.positions = positions + begin,
                                   .inv_freq = a.in[1].data<float>(),
                                   .position_scale = position_scale_,
                                   .cos = y + begin * pairs,
                                   .sin = y + (tokens + begin) * pairs,
                                   .tokens = end - begin,
                                   .pairs = pairs});
    });
  }
  // Positions and frequencies are constants of the model.
  std::vector<Tensor> vjp(const VjpArgs& /*a*/) const override { return std::vector<Tensor>(2); }

 private:
  float position_scale_;
};

enum class Turn { kForward, kBackward };

class Rope final : public Op {
 public:
  Rope(float input_scale, bool is_interleaved, Turn turn)
      : input_scale_(input_scale), is_interleaved_(is_interleaved), turn_(turn) {}
  std::string_view name() const override { return "rope"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require_f32(name(), in[0]);
    require_f32(name(), in[1]);
    require(in[0].ndim() == 3 && in[1].ndim() == 3 && in[1].dim(0) == 2 &&
                in[1].dim(1) == in[0].dim(0) && 2 * in[1].dim(2) <= in[0].dim(2),
            "rope: input ", in[0].shape(), " with angles ", in[1].shape());
    return {in[0].shape()};
  }
  void run(const RunArgs& a) const noexcept override {
    const float* x = a.in[0].data<float>();
    const float* angles = a.in[1].data<float>();
    float* y = a.out.mutable_data<float>();
    const int64_t tokens = a.out.dim(0);
    const int64_t pairs = a.in[1].dim(2);
    const int64_t row = a.out.dim(1) * a.out.dim(2);
    over_rows(a.compute, tokens, row, [&](int64_t begin, int64_t end) {
      kernels::table().rope({.x = x + begin * row,
                             .cos = angles + begin * pairs,
                             .sin = angles + (tokens + begin) * pairs,
                             .y = y + begin * row,
                             .tokens = end - begin,
                             .heads = a.out.dim(1),
                             .head_dim = a.out.dim(2),
                             .pairs = pairs,
                             .x_stride = row,
                             .y_stride = row,
                             .input_scale = input_scale_,
                             .sin_sign = turn_ == Turn::kForward ? 1.0F : -1.0F,
                             .interleaved = is_interleaved_});
    });
  }
  // A rotation's transpose turns backwards; the scale stays.
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    std::vector<Tensor> grads(2);
    const Turn back = turn_ == Turn::kForward ? Turn::kBackward : Turn::kForward;
    if (a.wants(0)) grads[0] = apply(Rope(input_scale_, is_interleaved_, back), {a.dout, a.in[1]});
    return grads;
  }

 private:
  float input_scale_;
  bool is_interleaved_;
  Turn turn_;
};

}  // namespace

Tensor rope_angles(const Tensor& positions, const RopeTable& table) {
  require(table.dims >= 0 && table.dims % 2 == 0 && table.inv_freq.is_defined() &&
              table.inv_freq.size() == table.dims / 2,
          "rope: a table of ", table.dims, " dims with ", describe(table.inv_freq));
  return apply(RopeAngles(table.position_scale), {positions, table.inv_freq});
}

Tensor rope_with_angles(const Tensor& x, const Tensor& angles, const RopeTable& table) {
  return apply(Rope(table.input_scale, table.interleaved, Turn::kForward), {x, angles});
}

Tensor rope(const Tensor& x, const Tensor& positions, const RopeTable& table) {
  return rope_with_angles(x, rope_angles(positions, table), table);
}

}  // namespace hearth
