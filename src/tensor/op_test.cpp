#include "tensor/op.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include <doctest/doctest.h>

#include "tensor/ops/activation.h"
#include "tensor/ops/arithmetic.h"
#include "tensor/ops/gradient_cases.h"
#include "tensor/ops/linear.h"
#include "tensor/ops/norm.h"
#include "tensor/ops/rope.h"
#include "tensor/ops/shape.h"

namespace {
std::atomic<int64_t> news{0};
}  // namespace

// Counts what this executable allocates, for the test below.
void* operator new(size_t size) {
  news.fetch_add(1, std::memory_order_relaxed);
  void* p = std::malloc(size);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t /*size*/) noexcept { std::free(p); }

namespace hearth {
namespace {

// The ops of a decoder layer, without attention.
Tensor layer(const Tensor& x, const Weight& w, const Tensor& norm, const Tensor& positions,
             const RopeTable& table) {
  const Tensor n = rms_norm(x, norm, 1e-5F);
  const Tensor q = rope(reshape(linear(n, w), {-1, 2, 64}), positions, table);
  const Tensor mid = add(x, linear(reshape(q, {-1, 128}), w));
  const std::array<const Weight*, 2> weights = {&w, &w};
  std::array<Tensor, 2> gate_up;
  linear_many(mid, weights, gate_up);
  return add(mid, swiglu(gate_up[0], gate_up[1]));
}

TEST_CASE("a warm eager step asks the heap for nothing") {
  const int64_t rows = 100;  // shapes whose text would not fit a string without the heap
  const Tensor x = random_tensor({{rows, 128}}, 1);
  const Weight w = Weight::dense(random_tensor({{128, 128}}, 2));
  const Tensor norm = random_tensor({{128}}, 3);
  const Tensor positions = random_ids(rows, 9, 4);
  const RopeTable table{.dims = 64, .inv_freq = random_tensor({{32}, 0.1F, 1.0F}, 5)};
  layer(x, w, norm, positions, table);
  const StorageStats before = storage_stats();
  const int64_t news_before = news.load();
  for (int i = 0; i < 10; ++i) layer(x, w, norm, positions, table);
  CHECK(news.load() == news_before);
  CHECK(storage_stats().from_heap == before.from_heap);
  CHECK(storage_stats().from_cache > before.from_cache);
}

TEST_CASE("an undefined input is refused with the op's name") {
  try {
    add(Tensor(), Tensor::zeros({1}));
    FAIL("no error");
  } catch (const Error& e) {
    CHECK(e.code() == Code::kInvalidArgument);
    CHECK(e.message().find("add") != std::string::npos);
  }
}

TEST_CASE("shapes that do not fit are refused before anything runs") {
  const auto refuses = [](auto f) {
    try {
      f();
    } catch (const Error& e) {
      return e.code() == Code::kInvalidArgument;
    }
    return false;
  };
  const Tensor x = Tensor::zeros({2, 4});
  const Tensor ints = Tensor::zeros({2, 4}, DType::kI32);
  CHECK(refuses([&] { add(x, Tensor::zeros({3})); }));
  CHECK(refuses([&] { add(x, Tensor::zeros({2})); }));
  CHECK(refuses([&] { add(Tensor::zeros({2, 1}), Tensor::zeros({1, 4})); }));
  CHECK(refuses([&] { add(x, ints); }));
  CHECK(refuses([&] { silu(ints); }));
  CHECK(refuses([&] { softcap(x, 0.0F); }));
  CHECK(refuses([&] { rms_norm(x, Tensor::zeros({3}), 1e-5F); }));
  CHECK(refuses([&] { reshape(x, {3, -1}); }));
  CHECK(refuses([&] { reshape(x, {-1, -1}); }));
  CHECK(refuses([&] { slice(x, 1, 3, 2); }));
  CHECK(refuses([&] { slice_rows(x, 1, 2); }));
  CHECK(refuses([&] { slice_rows(x, -1, 1); }));
  CHECK(refuses([&] { permute(x, {0, 0}); }));
  CHECK(refuses([&] { concat({}, 0); }));
  CHECK(refuses([&] { take_rows(x, x); }));
  CHECK(refuses([&] { cast(ints, DType::kF32); }));
  CHECK(refuses([&] { linear(x, Weight()); }));
  CHECK(refuses([&] { linear(x, Weight::dense(Tensor::zeros({3, 5}))); }));
  CHECK(refuses([&] { matmul(x, x); }));
  CHECK(refuses([&] { embedding(x, Weight::dense(x)); }));
}

TEST_CASE("each form of broadcasting gives what repeating the operand gives") {
  const Tensor x = random_tensor({{3, 2, 4}}, 1);
  const auto at = [](const Tensor& t, int64_t i,
                     const Shape& s) {  // element of t that meets element i of x
    if (s.size() == 1) return t.data<float>()[0];
    if (s.width() == 1) return t.data<float>()[i / 4];
    return t.data<float>()[i % s.size()];
  };
  for (const Shape& s :
       {Shape{3, 2, 4}, Shape{}, Shape{1}, Shape{4}, Shape{2, 4}, Shape{3, 2, 1}}) {
    CAPTURE(to_string(s));
    const Tensor b = random_tensor({s}, 2);
    const Tensor difference = sub(x, b);
    const Tensor other_way = sub(b, x);
    for (int64_t i = 0; i < x.size(); ++i) {
      CHECK(difference.data<float>()[i] == x.data<float>()[i] - at(b, i, s));
      CHECK(other_way.data<float>()[i] == at(b, i, s) - x.data<float>()[i]);
    }
  }
}

TEST_CASE("permute moves every element to its place") {
  const Tensor x = random_tensor({{2, 3, 4}}, 1);
  const Tensor y = permute(x, {2, 0, 1});  // [4, 2, 3]
  CHECK(y.shape() == Shape{4, 2, 3});
  for (int64_t a = 0; a < 2; ++a)
    for (int64_t b = 0; b < 3; ++b)
      for (int64_t c = 0; c < 4; ++c)
        CHECK(y.data<float>()[(c * 2 + a) * 3 + b] == x.data<float>()[(a * 3 + b) * 4 + c]);
}

TEST_CASE("cast rounds to nearest even and widens exactly") {
  const Tensor x =
      Tensor::from(std::vector<float>{1.0F, 1.00390625F, 1.01171875F, 65504.0F, 1e-8F}, {5});
  const Tensor b = cast(cast(x, DType::kBF16), DType::kF32);
  CHECK(b.data<float>()[1] == 1.0F);
  CHECK(b.data<float>()[2] == 1.015625F);
  const Tensor h = cast(cast(x, DType::kF16), DType::kF32);
  CHECK(h.data<float>()[3] == 65504.0F);
  CHECK(cast(x, DType::kF32).is_same_memory(x));
}

TEST_CASE("an id outside the table gives a row of zeros") {
  const Tensor table = Tensor::full({3, 2}, 7.0F);
  const Tensor ids = Tensor::from(std::vector<int32_t>{2, 3, -1}, {3});
  for (const Tensor& y : {take_rows(table, ids), embedding(ids, Weight::dense(table))}) {
    CHECK(y.data<float>()[0] == 7.0F);
    for (int64_t i = 2; i < 6; ++i) CHECK(y.data<float>()[i] == 0.0F);
  }
}

}  // namespace
}  // namespace hearth
