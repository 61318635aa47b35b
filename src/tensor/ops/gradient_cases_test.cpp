#include "tensor/ops/gradient_cases.h"

#include <cstring>

#include "base/random.h"
#include "codec/affine.h"
#include "tensor/ops/activation.h"
#include "tensor/ops/arithmetic.h"
#include "tensor/ops/attention.h"
#include "tensor/ops/linear.h"
#include "tensor/ops/loss.h"
#include "tensor/ops/norm.h"
#include "tensor/ops/reduce.h"
#include "tensor/ops/rope.h"
#include "tensor/ops/shape.h"

namespace hearth {
namespace {

using In = const std::vector<Tensor>&;
using Cases = std::vector<GradientCase>;

Tensor ids(std::vector<int32_t> values) {
  return Tensor::from(values, {static_cast<int64_t>(values.size())});
}

Weight affine_weight(int64_t out, int64_t in, codec::AffineFormat f) {
  const Tensor w = random_tensor({{out, in}}, 3);
  Tensor packed = Tensor::empty({out, codec::packed_words(in, f.bits)}, DType::kU32);
  Tensor scales = Tensor::empty({out, in / f.group});
  Tensor biases = Tensor::empty({out, in / f.group});
  for (int64_t r = 0; r < out; ++r) {
    codec::quantize_row(w.data<float>() + r * in, in, f,
                        packed.mutable_data<uint32_t>() + r * packed.dim(1),
                        scales.mutable_data<float>() + r * scales.dim(1),
                        biases.mutable_data<float>() + r * biases.dim(1));
  }
  return Weight::affine(packed, scales, biases, f);
}

void add_arithmetic(Cases& all) {
  const Shape x{3, 2, 4};
  const std::vector<std::pair<std::string, Shape>> forms = {
      {"same", x},  {"one", {}},      {"one of rank 1", {1}},
      {"row", {4}}, {"rows", {2, 4}}, {"per row", {3, 2, 1}}};
  for (const auto& [form, small] : forms) {
    for (const bool is_swapped : {false, true}) {
      const Draw a{is_swapped ? small : x, 0.5F, 1.5F};
      const Draw b{is_swapped ? x : small, 0.5F, 1.5F};
      const std::string label = form + (is_swapped ? ", swapped" : "");
      all.push_back({"add " + label, {a, b}, [](In in) { return add(in[0], in[1]); }});
      all.push_back({"sub " + label, {a, b}, [](In in) { return sub(in[0], in[1]); }});
      all.push_back({"mul " + label, {a, b}, [](In in) { return mul(in[0], in[1]); }});
      all.push_back({"div " + label, {a, b}, [](In in) { return div(in[0], in[1]); }});
    }
  }
  const Draw any{{2, 5}};
  const Draw positive{{2, 5}, 0.5F, 2.0F};
  all.push_back({"add to itself", {any}, [](In in) { return add(in[0], in[0]); }});
  all.push_back({"no rows", {{{0, 5}}}, [](In in) { return mul(in[0], in[0]); }});
  all.push_back({"add_scalar", {any}, [](In in) { return add_scalar(in[0], 0.3F); }});
  all.push_back({"mul_scalar", {any}, [](In in) { return mul_scalar(in[0], -1.7F); }});
  all.push_back({"neg", {any}, [](In in) { return neg(in[0]); }});
  all.push_back({"square", {any}, [](In in) { return square(in[0]); }});
  all.push_back({"sqrt", {positive}, [](In in) { return sqrt(in[0]); }});
  all.push_back({"rsqrt", {positive}, [](In in) { return rsqrt(in[0]); }});
  all.push_back({"exp", {any}, [](In in) { return exp(in[0]); }});
  all.push_back({"log", {positive}, [](In in) { return log(in[0]); }});
  all.push_back(
      {"clamp", {{{4, 9}, -2.0F, 2.0F, 0.1F}}, [](In in) { return clamp(in[0], 0.0F, 9.0F); }});
}

void add_activations(Cases& all) {
  const Draw any{{3, 7}, -3.0F, 3.0F};
  all.push_back({"sigmoid", {any}, [](In in) { return sigmoid(in[0]); }});
  all.push_back({"tanh", {any}, [](In in) { return tanh(in[0]); }});
  all.push_back({"relu", {{{3, 7}, -3.0F, 3.0F, 0.1F}}, [](In in) { return relu(in[0]); }});
  all.push_back({"softplus", {any}, [](In in) { return softplus(in[0]); }});
  all.push_back({"silu", {any}, [](In in) { return silu(in[0]); }});
  all.push_back({"gelu_tanh", {any}, [](In in) { return gelu_tanh(in[0]); }});
  all.push_back({"gelu_erf", {any}, [](In in) { return gelu_erf(in[0]); }});
  all.push_back({"swiglu", {any, any}, [](In in) { return swiglu(in[0], in[1]); }});
  all.push_back({"geglu", {any, any}, [](In in) { return geglu(in[0], in[1]); }});
  all.push_back({"softcap", {any}, [](In in) { return softcap(in[0], 2.5F); }});
  for (const Shape& s : {Shape{3, 7}, Shape{1, 1}, Shape{2, 3, 5}, Shape{40}}) {
    all.push_back({"softmax " + to_string(s), {{s}}, [](In in) { return softmax(in[0]); }});
    all.push_back({"log_softmax " + to_string(s), {{s}}, [](In in) { return log_softmax(in[0]); }});
    all.push_back({"logsumexp " + to_string(s), {{s}}, [](In in) { return logsumexp(in[0]); }});
  }
}

void add_norms(Cases& all) {
  for (const int64_t h : {4, 17, 64}) {
    const Draw x{{3, h}};
    const Draw w{{h}};
    all.push_back({"rms_norm", {x, w}, [](In in) { return rms_norm(in[0], in[1], 1e-5F); }});
    all.push_back({"rms_norm of heads", {{{2, 3, h}}, w}, [](In in) {
                     return rms_norm(in[0], in[1], 1e-2F);
                   }});
    all.push_back(
        {"rms_norm_no_weight", {x}, [](In in) { return rms_norm_no_weight(in[0], 1e-5F); }});
    all.push_back(
        {"layer_norm", {x, w, w}, [](In in) { return layer_norm(in[0], in[1], in[2], 1e-5F); }});
  }
}

void add_shapes(Cases& all) {
  const Draw x{{4, 2, 3}};
  all.push_back({"reshape", {x}, [](In in) { return square(reshape(in[0], {-1, 6})); }});
  all.push_back({"slice_rows", {x}, [](In in) { return square(slice_rows(in[0], 1, 2)); }});
  all.push_back({"slice_rows from 0", {x}, [](In in) { return square(slice_rows(in[0], 0, 3)); }});
  all.push_back({"one view used around another", {x}, [](In in) {
                   const Tensor early = square(slice_rows(in[0], 0, 2));
                   return mul(early, slice_rows(in[0], 0, 2));
                 }});
  for (const int axis : {0, 1, -1}) {
    all.push_back({"slice", {x}, [axis](In in) { return square(slice(in[0], axis, 1, 1)); }});
    all.push_back({"concat", {x, x}, [axis](In in) {
                     const std::vector<Tensor> parts = {in[0], in[1], square(in[0])};
                     return square(concat(parts, axis));
                   }});
  }
  all.push_back({"concat_rows", {x, {{1, 2, 3}}}, [](In in) { return square(concat_rows(in)); }});
  all.push_back({"split_last", {x}, [](In in) {
                   const std::vector<int64_t> sizes = {1, 2};
                   const std::vector<Tensor> parts = split_last(in[0], sizes);
                   return mul(parts[0], square(parts[1]));
                 }});
  all.push_back({"transpose", {x}, [](In in) { return square(transpose(in[0])); }});
  all.push_back({"permute", {x}, [](In in) { return square(permute(in[0], {2, 0, 1})); }});
  all.push_back(
      {"take_rows", {x}, [](In in) { return square(take_rows(in[0], ids({3, 0, 3, -1, 4}))); }});
  // Rounding counts as the identity, so that differences show a staircase; the last axis makes them agree.
  all.push_back(
      {"cast to and from f32", {x}, [](In in) { return square(cast(in[0], DType::kF32)); }});
}

void add_reductions(Cases& all) {
  for (const Shape& s : {Shape{3, 4}, Shape{2, 3, 5}, Shape{9}}) {
    all.push_back({"sum_all", {{s}}, [](In in) { return square(sum_all(in[0])); }});
    all.push_back({"mean_all", {{s}}, [](In in) { return square(mean_all(in[0])); }});
    all.push_back({"sum_last", {{s}}, [](In in) { return square(sum_last(in[0])); }});
    all.push_back({"mean_last", {{s}}, [](In in) { return square(mean_last(in[0])); }});
    all.push_back({"sum_leading", {{s}}, [](In in) { return square(sum_leading(in[0])); }});
    all.push_back(
        {"sum_leading to none", {{s}}, [](In in) { return square(sum_leading(in[0], 0)); }});
  }
  all.push_back(
      {"sum_leading 2", {{{2, 3, 5}}}, [](In in) { return square(sum_leading(in[0], 2)); }});
}

void add_products(Cases& all) {
  for (const int64_t m : {1, 3, 9}) {
    for (const int64_t n : {1, 5, 33}) {
      const Draw x{{m, 12}};
      const Draw w{{n, 12}};
      all.push_back({"linear", {x, w}, [](In in) { return linear(in[0], Weight::dense(in[1])); }});
      all.push_back({"linear with bias", {x, w, {{n}}}, [](In in) {
                       return linear(in[0], Weight::dense(in[1]), &in[2]);
                     }});
      all.push_back({"matmul", {{{m, 6}}, {{6, n}}}, [](In in) { return matmul(in[0], in[1]); }});
      all.push_back({"linear, affine", {{{m, 64}}, {{n}}}, [n](In in) {
                       return linear(in[0], affine_weight(n, 64, {4, 32}), &in[1]);
                     }});
    }
  }
  all.push_back({"linear of heads", {{{2, 3, 8}}, {{4, 8}}}, [](In in) {
                   return linear(in[0], Weight::dense(in[1]));
                 }});
  all.push_back({"linear_many", {{{3, 8}}, {{4, 8}}, {{2, 8}}}, [](In in) {
                   const Weight a = Weight::dense(in[1]);
                   const Weight b = Weight::dense(in[2]);
                   const std::vector<const Weight*> weights = {&a, &b, &a};
                   const std::vector<Tensor> y = linear_many(in[0], weights);
                   return concat(y, 1);
                 }});
  all.push_back({"embedding", {{{5, 4}}}, [](In in) {
                   return square(embedding(ids({1, 4, 1, 7}), Weight::dense(in[0])));
                 }});
  all.push_back({"a tied embedding", {{{5, 4}}}, [](In in) {
                   const Weight w = Weight::dense(in[0]);
                   return linear(embedding(ids({1, 4, 1}), w), w);
                 }});
  all.push_back(
      {"dequantize", {{{5, 4}}}, [](In in) { return square(dequantize(Weight::dense(in[0]))); }});
  all.push_back({"dequantize, affine", {{{3, 64}}}, [](In in) {
                   return mul(in[0], dequantize(affine_weight(3, 64, {8, 64})));
                 }});
}

RopeTable table_of(int64_t dims, float input_scale, bool is_interleaved) {
  return {.dims = dims,
          .inv_freq = random_tensor({{dims / 2}, 0.01F, 1.0F}, 8),
          .position_scale = 0.5F,
          .input_scale = input_scale,
          .interleaved = is_interleaved};
}

void add_rope(Cases& all) {
  for (const bool is_interleaved : {false, true}) {
    for (const int64_t dims : {8, 4}) {
      all.push_back({"rope", {{{3, 2, 8}}}, [=](In in) {
                       return rope(in[0], ids({0, 7, 1000}), table_of(dims, 1.25F, is_interleaved));
                     }});
    }
  }
  all.push_back({"rope_with_angles", {{{2, 1, 6}}}, [](In in) {
                   const RopeTable table = table_of(6, 1.0F, false);
                   const Tensor angles = rope_angles(ids({5, 6}), table);
                   return rope_with_angles(rope_with_angles(in[0], angles, table), angles, table);
                 }});
}

// Attention of two packed sequences over pages made for the call.
Tensor paged(In in, const AttendOptions& options) {
  const Tensor& k = in[1];
  const codec::KvPageLayout layout{DType::kF32, k.dim(1), k.dim(2), in[2].dim(2)};
  Tensor memory = Tensor::zeros({3 * codec::page_bytes(layout)}, DType::kU8);
  const PagedLayer layer{memory.mutable_raw(), codec::page_bytes(layout), layout};
  const std::vector<int32_t> slices = {2, 3, 0, 1, 0, 2, 0, 0};
  const std::vector<int32_t> pages = {0, 2};
  return attend(in[0], k, in[2], {Tensor::from(slices, {2, 4}), Tensor::from(pages, {2, 1})}, layer,
                options);
}

void add_attention(Cases& all) {
  const std::vector<Draw> step = {{{5, 4, 6}}, {{5, 2, 6}}, {{5, 2, 3}}, {{4}}};
  all.push_back({"attend", step, [](In in) { return paged(in, {.scale = 0.4F}); }});
  all.push_back({"attend, all options", step, [](In in) {
                   return paged(in, {.scale = 0.7F, .window = 2, .softcap = 2.0F, .sinks = &in[3]});
                 }});
  const std::vector<Draw> plain = {{{3, 4, 6}}, {{7, 2, 6}}, {{7, 2, 5}}, {{4}}};
  all.push_back({"sdpa", plain, [](In in) { return sdpa(in[0], in[1], in[2], {.scale = 0.4F}); }});
  all.push_back({"sdpa, causal window", plain, [](In in) {
                   return sdpa(in[0], in[1], in[2],
                               {.scale = 0.4F, .is_causal = true, .window = 3, .sinks = &in[3]});
                 }});
  all.push_back({"sdpa, masks", plain, [](In in) {
                   const Tensor added = random_tensor({{4, 3, 7}}, 4);
                   Tensor seen = Tensor::zeros({3, 7}, DType::kBool);
                   for (const int64_t i : {0, 2, 3, 8, 15, 20}) seen.mutable_data<uint8_t>()[i] = 1;
                   return add(
                       sdpa(in[0], in[1], in[2], {.scale = 0.4F, .softcap = 1.5F, .mask = &added}),
                       sdpa(in[0], in[1], in[2], {.scale = 0.4F, .mask = &seen}));
                 }});
  const std::vector<Draw> longer = {{{150, 2, 8}}, {{150, 1, 8}}, {{150, 1, 8}}};
  all.push_back({"sdpa over tiles", longer, [](In in) {
                   return sdpa(in[0], in[1], in[2],
                               {.scale = 0.4F, .is_causal = true, .window = 70});
                 }});
}

void add_losses(Cases& all) {
  const Draw logits{{4, 6}};
  all.push_back({"cross_entropy", {logits}, [](In in) {
                   return cross_entropy(in[0], ids({2, 5, 9, 0}),
                                        Tensor::from(std::vector<float>{0.5F, 1, 2, 0}, {4}));
                 }});
  all.push_back({"target_log_prob", {logits}, [](In in) {
                   return target_log_prob(in[0], ids({2, 5, -1, 0}));
                 }});
}

}  // namespace

const std::vector<GradientCase>& gradient_cases() {
  static const Cases all = [] {
    Cases cases;
    add_arithmetic(cases);
    add_activations(cases);
    add_norms(cases);
    add_shapes(cases);
    add_reductions(cases);
    add_products(cases);
    add_rope(cases);
    add_attention(cases);
    add_losses(cases);
    return cases;
  }();
  return all;
}

const std::vector<OtherCase>& cases_without_gradient() {
  static const std::vector<OtherCase> all = {
      {"argmax_last", [] { argmax_last(random_tensor({{3, 4}}, 1)); }},
      {"cast", [] { cast(random_tensor({{3, 4}}, 1), DType::kBF16); }},
  };
  return all;
}

Tensor random_tensor(const Draw& draw, uint64_t seed) {
  SplitMix64 rng(seed);
  Tensor t = Tensor::empty(draw.shape);
  for (int64_t i = 0; i < t.size(); ++i) {
    float v = draw.low + (draw.high - draw.low) * rng.uniform();
    if (std::abs(v) < draw.gap) v = v < 0.0F ? -draw.gap : draw.gap;
    t.mutable_data<float>()[i] = v;
  }
  return t;
}

Tensor random_ids(int64_t count, int64_t below, uint64_t seed) {
  SplitMix64 rng(seed);
  Tensor t = Tensor::empty({count}, DType::kI32);
  for (int64_t i = 0; i < count; ++i)
    t.mutable_data<int32_t>()[i] = static_cast<int32_t>(rng.below(below));
  return t;
}

}  // namespace hearth
