// Single operations against the reference's: quantization, rotary embedding, norms, activations, attention.
// Tolerances are those of tests/golden/ops/README.md. 16-bit cases are computed in f32 from the stored inputs.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/file.h"
#include "base/json.h"
#include "checkpoint/rope_config.h"
#include "checkpoint/safetensors.h"
#include "codec/affine.h"
#include "support/paths.h"
#include "tensor/ops/activation.h"
#include "tensor/ops/arithmetic.h"
#include "tensor/ops/attention.h"
#include "tensor/ops/linear.h"
#include "tensor/ops/norm.h"
#include "tensor/ops/rope.h"
#include "tensor/ops/shape.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

// One group: its cases and its tensors.
class Group {
 public:
  Group(const fs::path& folder, const std::string& name)
      : json_(Json::parse(read_text_file(folder / (name + ".json"), 1 << 22))),
        file_(SafetensorsFile::open(folder / (name + ".safetensors"))) {}

  const Json::Array& cases() const { return json_.at("cases").as_array(); }
  Tensor raw(const Json& name) const { return file_.tensor(name.as_string()); }
  // Any float type, widened.
  Tensor f32(const Json& name) const { return cast(raw(name), DType::kF32); }
  Tensor in(const Json& c, std::string_view key) const { return f32(c.at("in").at(key)); }
  Tensor out(const Json& c, std::string_view key) const { return f32(c.at("out").at(key)); }

 private:
  Json json_;
  SafetensorsFile file_;
};

// Relative to the largest value of the reference.
struct Tolerance {
  double f32, bf16, f16;
  double of(const Json& c) const {
    const std::string type = c.at("params").get_string("dtype", "float32");
    return type == "float32" ? f32 : type == "bfloat16" ? bf16 : f16;
  }
};
constexpr Tolerance kProduct{1e-5, 0.08, 0.006};
constexpr Tolerance kAttention{1e-5, 0.04, 0.0015};
constexpr Tolerance kSoftmax{1e-5, 0.015, 0.006};
constexpr Tolerance kNorm{1e-5, 0.012, 0.0015};
constexpr Tolerance kActivation{1e-5, 0.006, 0.0015};

double largest(const Tensor& t) {
  double m = 0.0;
  for (const float v : t.span<float>()) m = std::max(m, std::abs(static_cast<double>(v)));
  return m;
}

void check_near(const Tensor& got, const Tensor& want, double tolerance) {
  REQUIRE(got.size() == want.size());
  double worst = 0.0;
  for (int64_t i = 0; i < got.size(); ++i) {
    const double d = std::abs(static_cast<double>(got.data<float>()[i]) -
                              static_cast<double>(want.data<float>()[i]));
    worst = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(worst, d);
  }
  CHECK(worst <= tolerance * largest(want));
}

// Runs body(group, case) for every case of a group, in the shipped files and in those beside the project.
template <class Body>
void for_cases(const std::string& group, Body body) {
  std::vector<fs::path> folders = {test_support::source_dir() / "tests" / "golden" / "ops"};
  if (const auto shared = test_support::shared_dir())
    folders.push_back(*shared / "goldens" / "ops");
  for (const fs::path& folder : folders) {
    const Group g(folder, group);
    int done = 0;
    for (const Json& c : g.cases()) {
      CAPTURE(c.dump());
      done += body(g, c) ? 1 : 0;
    }
    CHECK(done > 20);
  }
}

codec::AffineFormat format_of(const Json& c) {
  const Json& p = c.at("params");
  return {static_cast<int>(p.require_int("bits")), p.require_int("group_size")};
}

// Neighbouring values of a 16- or 32-bit type, counted.
int64_t steps_between(const Tensor& a, const Tensor& b, int64_t i) {
  const auto order = [](int64_t bits, int64_t sign) { return bits >= sign ? sign - bits : bits; };
  if (a.dtype() == DType::kF32) {
    const auto* x = reinterpret_cast<const uint32_t*>(a.raw());
    const auto* y = reinterpret_cast<const uint32_t*>(b.raw());
    return std::abs(order(x[i], int64_t{1} << 31) - order(y[i], int64_t{1} << 31));
  }
  const auto* x = reinterpret_cast<const uint16_t*>(a.raw());
  const auto* y = reinterpret_cast<const uint16_t*>(b.raw());
  return std::abs(order(x[i], 1 << 15) - order(y[i], 1 << 15));
}

void check_quantize(const Group& g, const Json& c) {
  const codec::AffineFormat f = format_of(c);
  const Tensor w = g.in(c, "w");
  const Tensor packed = g.raw(c.at("out").at("wq"));
  const Tensor scales = g.raw(c.at("out").at("scales"));
  const Tensor biases = g.raw(c.at("out").at("biases"));
  const int64_t rows = w.dim(0);
  const int64_t cols = w.dim(1);
  Tensor my_scales = Tensor::empty(scales.shape());
  Tensor my_biases = Tensor::empty(scales.shape());
  std::vector<uint32_t> my_packed(static_cast<size_t>(packed.size()));
  int64_t different = 0;
  std::vector<uint8_t> mine(static_cast<size_t>(cols));
  std::vector<uint8_t> theirs(static_cast<size_t>(cols));
  for (int64_t r = 0; r < rows; ++r) {
    uint32_t* row = my_packed.data() + r * packed.dim(1);
    codec::quantize_row(w.data<float>() + r * cols, cols, f, row,
                        my_scales.mutable_data<float>() + r * scales.dim(1),
                        my_biases.mutable_data<float>() + r * scales.dim(1));
    codec::unpack_codes(row, cols, f.bits, mine.data());
    codec::unpack_codes(packed.data<uint32_t>() + r * packed.dim(1), cols, f.bits, theirs.data());
    for (size_t i = 0; i < mine.size(); ++i) {
      if (mine[i] == theirs[i]) continue;
      ++different;
      CHECK(std::abs(int{mine[i]} - int{theirs[i]}) == 1);
    }
  }
  CHECK(different * 1000 <= rows * cols);
  const Tensor s = cast(my_scales, scales.dtype());
  const Tensor b = cast(my_biases, scales.dtype());
  for (int64_t i = 0; i < s.size(); ++i) {
    CHECK(steps_between(s, scales, i) <= 1);
    CHECK(steps_between(b, biases, i) <= 1);
  }
  const Tensor values = dequantize(Weight::affine(packed, scales, biases, f));
  check_near(values, g.out(c, "dequantized"), kNorm.of(c));
}

Weight stored_weight(const Group& g, const Json& names, codec::AffineFormat f) {
  return Weight::affine(g.raw(names.at("w")), g.raw(names.at("scales")), g.raw(names.at("biases")),
                        f);
}

void check_product(const Group& g, const Json& c) {
  const Weight w = stored_weight(g, c.at("in"), format_of(c));
  const Tensor x = g.in(c, "x");
  const Tensor y =
      c.at("params").get_bool("transpose", true) ? linear(x, w) : matmul(x, dequantize(w));
  check_near(y, g.out(c, "y"), kProduct.of(c));
}

// One matrix of a stack [E, rows, cols].
Tensor matrix(const Tensor& stack, int64_t e) {
  return slice_rows(stack, e, 1).with_shape({stack.dim(1), stack.dim(2)});
}

// Rows times the matrices that their indices name: [6, 1, 1, K], [6, 2] -> [6, 2, 1, N].
void check_gather(const Group& g, const Json& c) {
  const bool is_quantized = c.at("op").as_string() == "gather_qmm";
  const Tensor x = g.in(c, "x");
  const Tensor index = g.raw(c.at("in").at("rhs_indices"));
  const auto weight = [&](int64_t e) {
    if (!is_quantized) return Weight::dense(matrix(g.in(c, "w"), e));
    const Json& out = c.at("out");
    return Weight::affine(matrix(g.raw(out.at("wq")), e), matrix(g.raw(out.at("scales")), e),
                          matrix(g.raw(out.at("biases")), e), format_of(c));
  };
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < index.size(); ++i) {
    const Tensor row = slice_rows(x, i / index.dim(1), 1).with_shape({1, x.width()});
    rows.push_back(linear(row, weight(index.data<uint32_t>()[i])));
  }
  check_near(concat_rows(rows), g.out(c, "y"), kProduct.f32);
}

TEST_CASE("affine quantization and its products are the reference's") {
  for_cases("quant", [](const Group& g, const Json& c) {
    const std::string& op = c.at("op").as_string();
    // Microscaled formats and float 8 have no codec here yet.
    if (c.at("params").get_string("mode", "affine") != "affine" || op.ends_with("fp8"))
      return false;
    if (op == "quantize")
      check_quantize(g, c);
    else if (op == "quantized_matmul")
      check_product(g, c);
    else
      check_gather(g, c);
    return true;
  });
}

// [B, N, L, D] -> [B * L, N, D], and back is a comparison of the same.
Tensor by_tokens(const Tensor& x) {
  return reshape(permute(x, {0, 2, 1, 3}), {x.dim(0) * x.dim(2), x.dim(1), x.dim(3)});
}

RopeTable rope_table_of(const Group& g, const Json& c, int64_t tokens) {
  const Json& p = c.at("params");
  const Json* scaling = p.find_value("scaling_config");
  RopeConfig config =
      RopeConfig::parse_scaling(scaling, p.require_int("dims"), p.at("base").as_double(),
                                p.get_int("max_position_embeddings", 0));
  config.interleaved = p.get_bool("traditional", false);
  RopeTable table = config.make_table(tokens);
  if (p.contains("scale")) table.position_scale = p.get_float("scale", 1.0F);
  if (const Json* freqs =
          c.at("out").find("freqs")) {  // divisors; infinite where a pair does not turn
    const Tensor want = g.f32(*freqs);
    REQUIRE(want.size() == table.inv_freq.size());
    for (int64_t i = 0; i < want.size(); ++i) {
      const double inverse = 1.0 / static_cast<double>(want.data<float>()[i]);
      CHECK(std::abs(static_cast<double>(table.inv_freq.data<float>()[i]) - inverse) <=
            1e-5 * inverse);
    }
  }
  return table;
}

TEST_CASE("rotary embedding is the reference's, for every kind of scaling") {
  for_cases("rope", [](const Group& g, const Json& c) {
    const Tensor x = g.in(c, "x");
    const int64_t length = x.dim(2);
    const Json& p = c.at("params");
    std::vector<int64_t> offsets(static_cast<size_t>(x.dim(0)), p.get_int("offset", 0));
    if (const Json* each = c.at("in").find("offset")) {
      const Tensor values = g.raw(*each);
      std::ranges::copy(values.span<int32_t>(), offsets.begin());
    }
    std::vector<int32_t> positions;
    for (const int64_t offset : offsets)
      for (int64_t i = 0; i < length; ++i) positions.push_back(static_cast<int32_t>(offset + i));
    const RopeTable table = rope_table_of(g, c, offsets[0] + length);
    const Tensor y = rope(by_tokens(x),
                          Tensor::from(positions, {static_cast<int64_t>(positions.size())}), table);
    const bool is_half = g.raw(c.at("in").at("x")).dtype() != DType::kF32;
    // The reference rounds frequencies and angles to f32, which turns by 2e-7 of the position.
    const double angle_error = 2e-7 * static_cast<double>(offsets[0] + length);
    check_near(y, by_tokens(g.out(c, "y")), std::max(is_half ? kNorm.bf16 : 1e-5, angle_error));
    return true;
  });
}

Tensor norm_or_activation(const Group& g, const Json& c) {
  const Json& p = c.at("params");
  const std::string& op = c.at("op").as_string();
  if (op == "gpt_oss_swiglu") {
    const float limit = p.get_float("limit", 0.0F);
    const Tensor glu =
        clamp(mul_scalar(g.in(c, "x_glu"), p.get_float("x_glu_times", 1.0F)), -INFINITY, limit);
    const Tensor up = clamp(g.in(c, "x_linear"), -limit, limit);
    return mul(mul(glu, sigmoid(mul_scalar(glu, p.get_float("alpha", 1.0F)))),
               add_scalar(up, 1.0F));
  }
  const Tensor x = g.in(c, "x");
  const float eps = p.get_float("eps", 0.0F);
  if (op == "rms_norm" && !c.at("in").contains("w")) return rms_norm_no_weight(x, eps);
  if (op == "rms_norm") return rms_norm(x, g.raw(c.at("in").at("w")), eps);
  if (op == "layer_norm")
    return layer_norm(x, g.raw(c.at("in").at("w")), g.raw(c.at("in").at("b")), eps);
  if (op == "silu") return silu(x);
  if (op == "gelu") return gelu_erf(x);
  if (op == "gelu_approx") return gelu_tanh(x);
  if (op == "relu2") return square(relu(x));
  if (op == "sigmoid") return sigmoid(x);
  if (op == "softplus") return softplus(x);
  if (op == "tanh") return tanh(x);
  if (op == "softmax") return softmax(x);
  if (op == "logsumexp") return logsumexp(x);
  REQUIRE(op == "logit_softcap");
  return softcap(mul_scalar(x, p.get_float("x_times", 1.0F)), p.get_float("softcap", 0.0F));
}

TEST_CASE("norms, activations and softmax are the reference's") {
  for_cases("norm_act", [](const Group& g, const Json& c) {
    const std::string& op = c.at("op").as_string();
    const Tolerance& t = op.ends_with("norm")      ? kNorm
                         : op.find("softmax") == 0 ? kSoftmax
                                                   : kActivation;
    check_near(norm_or_activation(g, c), g.out(c, "y"), t.of(c));
    return true;
  });
}

// Sequence b of [B, N, L, D] as [L, N, D].
Tensor sequence(const Tensor& x, int64_t b) {
  return permute(slice_rows(x, b, 1).with_shape({x.dim(1), x.dim(2), x.dim(3)}), {1, 0, 2});
}

TEST_CASE("attention is the reference's, for every kind of mask") {
  for_cases("sdpa", [](const Group& g, const Json& c) {
    if (c.at("op").as_string() != "sdpa")
      return false;  // over a quantized cache: kv/ has no such pages yet
    const Tensor q = g.in(c, "q");
    const Tensor k = g.in(c, "k");
    const Tensor v = g.in(c, "v");
    const Tensor want = g.out(c, "y");
    const Json& p = c.at("params");
    const std::string kind = p.require_string("mask");
    Tensor sinks;
    if (c.at("in").contains("sinks")) sinks = g.in(c, "sinks");
    for (int64_t b = 0; b < q.dim(0); ++b) {
      Tensor mask;
      if (kind == "bool") mask = g.raw(c.at("in").at("mask"));
      if (kind == "additive") {
        const Tensor all = g.in(c, "mask");
        mask = slice_rows(all, b, 1).with_shape({all.dim(1), all.dim(2), all.dim(3)});
      }
      const Tensor y = sdpa(sequence(q, b), sequence(k, b), sequence(v, b),
                            {.scale = p.require_float("scale"),
                             .is_causal = kind == "causal",
                             .sinks = sinks.is_defined() ? &sinks : nullptr,
                             .mask = mask.is_defined() ? &mask : nullptr});
      check_near(y, sequence(want, b), kAttention.of(c));
    }
    return true;
  });
}

}  // namespace
}  // namespace hearth
