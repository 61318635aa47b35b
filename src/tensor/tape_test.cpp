#include "tensor/tape.h"

#include <vector>

#include <doctest/doctest.h>

#include "tensor/ops/activation.h"
#include "tensor/ops/arithmetic.h"
#include "tensor/ops/linear.h"
#include "tensor/ops/reduce.h"
#include "tensor/ops/shape.h"

namespace hearth {
namespace {

Tensor vec(std::vector<float> v) { return Tensor::from(v, {static_cast<int64_t>(v.size())}); }

TEST_CASE("a tensor used twice gets the sum of both gradients") {
  const Tensor x = vec({2, 3});
  Tape tape;
  tape.watch(x);
  const Gradients g = tape.backward(sum_all(add(mul(x, x), x)));
  CHECK(g.of(x).data<float>()[0] == 5.0F);
  CHECK(g.of(x).data<float>()[1] == 7.0F);
}

TEST_CASE("handles, views and reshapes of watched memory count as the watched tensor") {
  const std::vector<float> values = {1, 2, 3, 4};
  const Tensor w = Tensor::from(values, {2, 2});
  const Tensor copy = w.with_shape({4});
  Tape tape;
  tape.watch(w);
  const Gradients g = tape.backward(sum_all(square(reshape(copy, {2, 2}))));
  CHECK(g.of(w).shape() == Shape{2, 2});
  CHECK(g.of(copy).shape() == Shape{4});
  CHECK(g.of(w).data<float>()[3] == 8.0F);
}

TEST_CASE("what the loss does not depend on has no gradient, and zeros when asked") {
  const Tensor x = vec({1, 2});
  const Tensor other = vec({5});
  Tape tape;
  tape.watch(x);
  tape.watch(other);
  const Gradients g = tape.backward(sum_all(x));
  CHECK(g.has(x));
  CHECK_FALSE(g.has(other));
  CHECK(g.of(other).data<float>()[0] == 0.0F);
  CHECK_THROWS_AS(g.of(vec({1})), Error);
}

TEST_CASE("only what depends on a watched tensor is recorded") {
  const Tensor x = vec({1, 2});
  const Tensor constant = vec({3, 4});
  Tape tape;
  tape.watch(x);
  square(constant);
  CHECK(tape.recorded_ops() == 0);
  mul(square(constant), x);
  CHECK(tape.recorded_ops() == 1);
}

TEST_CASE("the gradient of a value in between is kept when it is watched") {
  const Tensor x = vec({1, 2});
  Tape tape;
  tape.watch(x);
  const Tensor h = square(x);
  tape.watch(h);
  const Gradients g = tape.backward(sum_all(mul_scalar(h, 3.0F)));
  CHECK(g.of(x).data<float>()[1] == 12.0F);
}

TEST_CASE("a tape records in its scope only, and an outer tape rests meanwhile") {
  const Tensor x = vec({1, 2});
  CHECK(current_compute().recorder == nullptr);
  {
    Tape outer;
    outer.watch(x);
    {
      Tape inner;
      inner.watch(x);
      square(x);
      CHECK(inner.recorded_ops() == 1);
    }
    CHECK(outer.recorded_ops() == 0);
    CHECK(current_compute().recorder == &outer);
  }
  CHECK(current_compute().recorder == nullptr);
}

TEST_CASE("backward is called once, on a scalar") {
  const Tensor x = vec({1, 2});
  Tape tape;
  tape.watch(x);
  const Tensor y = square(x);
  CHECK_THROWS_AS(tape.backward(y), Error);
  const Tensor loss = sum_all(y);
  tape.backward(loss);
  CHECK_THROWS_AS(tape.backward(loss), Error);
}

TEST_CASE("a half-precision weight gets an f32 gradient") {
  const Tensor w = cast(Tensor::full({2, 3}, 0.5F), DType::kBF16);
  const Tensor x = Tensor::full({1, 3}, 2.0F);
  Tape tape;
  tape.watch(w);
  const Gradients g = tape.backward(sum_all(linear(x, Weight::dense(w))));
  CHECK(g.of(w).dtype() == DType::kF32);
  CHECK(g.of(w).data<float>()[5] == 2.0F);
}

TEST_CASE("an op may have many inputs") {
  std::vector<Tensor> parts;
  Tape tape;
  for (int i = 0; i < 200; ++i) {
    parts.push_back(vec({static_cast<float>(i)}));
    tape.watch(parts.back());
  }
  const Gradients g = tape.backward(sum_all(square(concat_rows(parts))));
  CHECK(g.of(parts[150]).item() == 300.0F);
}

TEST_CASE("integers can't be watched") {
  Tape tape;
  CHECK_THROWS_AS(tape.watch(Tensor::zeros({2}, DType::kI32)), Error);
  CHECK_THROWS_AS(tape.watch(Tensor()), Error);
}

}  // namespace
}  // namespace hearth
