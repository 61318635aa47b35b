#include "tensor/ops/linear.h"

#include <cmath>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "base/thread_pool.h"
#include "tensor/compute.h"
#include "tensor/ops/arithmetic.h"
#include "tensor/ops/gradient_cases.h"
#include "tensor/ops/shape.h"

namespace hearth {
namespace {

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() &&
         std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.bytes())) == 0;
}

Weight affine_weight(int64_t out, int64_t in, codec::AffineFormat f, DType scale_type,
                     uint64_t seed) {
  const Tensor w = random_tensor({{out, in}, -0.2F, 0.2F}, seed);
  Tensor packed = Tensor::empty({out, codec::packed_words(in, f.bits)}, DType::kU32);
  Tensor scales = Tensor::empty({out, in / f.group});
  Tensor biases = Tensor::empty({out, in / f.group});
  for (int64_t r = 0; r < out; ++r) {
    codec::quantize_row(w.data<float>() + r * in, in, f,
                        packed.mutable_data<uint32_t>() + r * packed.dim(1),
                        scales.mutable_data<float>() + r * scales.dim(1),
                        biases.mutable_data<float>() + r * biases.dim(1));
  }
  return Weight::affine(packed, cast(scales, scale_type), cast(biases, scale_type), f);
}

// Weights of every kind with one width: dense in three types, affine in all widths.
std::vector<Weight> weights_of(int64_t out, int64_t in) {
  std::vector<Weight> all;
  for (const DType t : {DType::kF32, DType::kBF16, DType::kF16})
    all.push_back(Weight::dense(cast(random_tensor({{out, in}, -0.2F, 0.2F}, 5), t)));
  for (const int bits : {2, 3, 4, 5, 6, 8}) {
    for (const int64_t group : {32, 64, 128}) {
      if (in % group == 0) all.push_back(affine_weight(out, in, {bits, group}, DType::kBF16, 6));
    }
  }
  all.push_back(affine_weight(out, in, {4, 32}, DType::kF32, 7));
  all.push_back(affine_weight(out, in, {4, 32}, DType::kF16, 8));
  return all;
}

// x W^T in f64, from the dequantized weight.
double reference(const Tensor& x, const Tensor& w, int64_t row, int64_t n) {
  double y = 0.0;
  for (int64_t k = 0; k < x.width(); ++k) {
    y += static_cast<double>(x.data<float>()[row * x.width() + k]) *
         static_cast<double>(w.data<float>()[n * x.width() + k]);
  }
  return y;
}

TEST_CASE("exact products agree with f64 for every kind of weight") {
  for (const Weight& w : weights_of(37, 128)) {
    CAPTURE(w.format().bits);
    CAPTURE(w.format().group);
    const Tensor values = dequantize(w);
    for (const int64_t rows : {1, 5, 20}) {
      const Tensor x = random_tensor({{rows, 128}}, 9);
      const Tensor bias = cast(random_tensor({{37}}, 10), DType::kBF16);
      const Tensor y = linear(x, w, &bias);
      const Tensor b = cast(bias, DType::kF32);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t n = 0; n < 37; ++n) {
          const double want = reference(x, values, r, n) + static_cast<double>(b.data<float>()[n]);
          CHECK(std::abs(static_cast<double>(y.data<float>()[r * 37 + n]) - want) <= 1e-5);
        }
      }
    }
  }
}

TEST_CASE("fast products stay near exact ones") {
  for (const Weight& w : weights_of(48, 512)) {
    if (w.is_dense()) continue;
    CAPTURE(w.format().bits);
    const Tensor x = random_tensor({{4, 512}}, 11);
    const Tensor exact = linear(x, w);
    const ComputeScope scope({.numerics = Numerics::kFast});
    const Tensor fast = linear(x, w);
    double error = 0.0;
    double power = 0.0;
    for (int64_t i = 0; i < exact.size(); ++i) {
      const auto e = static_cast<double>(exact.data<float>()[i]);
      error += std::pow(static_cast<double>(fast.data<float>()[i]) - e, 2.0);
      power += e * e;
    }
    CHECK(error > 0.0);
    CHECK(std::sqrt(error / power) < 0.01);
  }
}

TEST_CASE("a row has the same bits alone, in any batch, on any number of threads") {
  ThreadPool pool(3);
  for (const Numerics numerics : {Numerics::kExact, Numerics::kFast}) {
    for (const Weight& w : weights_of(130, 256)) {
      CAPTURE(w.format().bits);
      const Tensor x = random_tensor({{21, 256}}, 12);
      const ComputeScope alone({.numerics = numerics});
      const Tensor whole = linear(x, w);
      for (const int64_t count : {1, 2, 5, 8}) {
        for (int64_t begin = 0; begin + count <= 21; begin += count) {
          CHECK(same_bits(linear(slice_rows(x, begin, count), w), slice_rows(whole, begin, count)));
        }
      }
      const ComputeScope shared({.pool = &pool, .numerics = numerics});
      CHECK(same_bits(linear(x, w), whole));
      CHECK(same_bits(linear(slice_rows(x, 3, 1), w), slice_rows(whole, 3, 1)));
    }
  }
}

TEST_CASE("long inputs, cut in blocks of rows, keep the bits of short ones") {
  ThreadPool pool(2);
  for (const Numerics numerics : {Numerics::kExact, Numerics::kFast}) {
    for (const Weight& w : {weights_of(20, 32)[0], weights_of(20, 32)[5]}) {
      const ComputeScope scope({.pool = &pool, .numerics = numerics});
      const Tensor x = random_tensor({{1100, 32}}, 15);
      const Tensor whole = linear(x, w);
      CHECK(same_bits(linear(slice_rows(x, 500, 30), w), slice_rows(whole, 500, 30)));
      CHECK(same_bits(linear(slice_rows(x, 1090, 10), w), slice_rows(whole, 1090, 10)));
      const Tensor y = matmul(x, dequantize(w.slice_rows(0, 20)).with_shape({32, 20}));
      CHECK(same_bits(matmul(slice_rows(x, 510, 9), dequantize(w).with_shape({32, 20})),
                      slice_rows(y, 510, 9)));
    }
  }
}

TEST_CASE("several products of one input have the bits of each alone") {
  ThreadPool pool(2);
  const std::vector<Weight> all = weights_of(70, 128);
  for (const Numerics numerics : {Numerics::kExact, Numerics::kFast}) {
    for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
      const ComputeScope scope({.pool = threads, .numerics = numerics});
      for (const int64_t rows : {0, 1, 9}) {
        const Tensor x = random_tensor({{rows, 128}}, 13);
        for (size_t i = 0; i + 4 < all.size(); ++i) {
          const std::vector<const Weight*> some = {&all[i], &all[i + 3], &all[i + 1]};
          const std::vector<Tensor> together = linear_many(x, some);
          REQUIRE(together.size() == 3);
          for (size_t j = 0; j < 3; ++j) CHECK(same_bits(together[j], linear(x, *some[j])));
        }
      }
    }
  }
}

TEST_CASE(
    "an embedding gives rows of the dequantized weight, and a weight's rows give part of the "
    "product") {
  for (const Weight& w : weights_of(20, 128)) {
    const Tensor values = dequantize(w);
    const Tensor ids = Tensor::from(std::vector<int32_t>{19, 0, 7, 7}, {4});
    CHECK(same_bits(embedding(ids, w), take_rows(values, ids)));
    const Tensor x = random_tensor({{2, 128}}, 14);
    CHECK(same_bits(linear(x, w.slice_rows(4, 9)), slice(linear(x, w), 1, 4, 9)));
  }
}

TEST_CASE("products of no rows and of no outputs are empty") {
  const Weight w = Weight::dense(Tensor::zeros({3, 8}));
  CHECK(linear(Tensor::zeros({0, 8}), w).shape() == Shape{0, 3});
  CHECK(linear(Tensor::zeros({2, 8}), Weight::dense(Tensor::zeros({0, 8}))).shape() == Shape{2, 0});
  CHECK(matmul(Tensor::zeros({0, 4}), Tensor::zeros({4, 2})).shape() == Shape{0, 2});
  CHECK(matmul(Tensor::zeros({2, 0}), Tensor::zeros({0, 2})).data<float>()[3] == 0.0F);
  CHECK(embedding(Tensor::zeros({0}, DType::kI32), w).shape() == Shape{0, 8});
}

TEST_CASE("matmul agrees with f64") {
  const Tensor a = random_tensor({{7, 33}}, 1);
  const Tensor b = random_tensor({{33, 19}}, 2);
  const Tensor y = matmul(a, b);
  const Tensor bt = transpose(b);
  for (int64_t i = 0; i < 7; ++i)
    for (int64_t j = 0; j < 19; ++j)
      CHECK(std::abs(static_cast<double>(y.data<float>()[i * 19 + j]) - reference(a, bt, i, j)) <=
            1e-5);
}

}  // namespace
}  // namespace hearth
