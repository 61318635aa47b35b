#include "tensor/tensor.h"

#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tensor/weight.h"

namespace hearth {
namespace {

template <class F>
bool refuses(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code() == Code::kInvalidArgument;
  }
  return false;
}

TEST_CASE("a shape refuses negative, overflowing and too many extents") {
  CHECK(refuses([] { Shape{2, -1}; }));
  CHECK(refuses([] { Shape{int64_t{1} << 40, int64_t{1} << 40}; }));
  CHECK(refuses([] { Shape{1, 1, 1, 1, 1, 1}; }));
  CHECK(refuses([] { (void)Shape({2, 3}).dim(2); }));
  CHECK(refuses([] { (void)Shape({2, 3}).dim(-3); }));
  CHECK(Shape({int64_t{1} << 40, 0}).size() == 0);
}

TEST_CASE("a shape knows its rows and its width") {
  CHECK(Shape().size() == 1);
  CHECK(Shape().width() == 1);
  CHECK(Shape({2, 3, 4}).rows() == 6);
  CHECK(Shape({2, 3, 4}).dim(-1) == 4);
  CHECK(Shape({5, 0}).rows() == 0);
  CHECK(to_string(Shape({2, 3})) == "[2, 3]");
  CHECK(to_string(Shape()) == "[]");
  CHECK(with_width({2, 3}, 7) == Shape{2, 7});
}

TEST_CASE("views share memory and keep it alive") {
  Tensor part;
  {
    const std::vector<float> values = {1, 2, 3, 4, 5, 6};
    const Tensor t = Tensor::from(values, {3, 2});
    part = t.part(2, {2, 2});
    CHECK(t.with_shape({6}).is_same_memory(t));
    CHECK_FALSE(part.is_same_memory(t));
  }
  CHECK(part.data<float>()[0] == 3.0F);
  CHECK(part.data<float>()[3] == 6.0F);
}

TEST_CASE("foreign memory is seen in place, kept alive, and never written") {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
  const std::weak_ptr<std::vector<float>> watch = owner;
  Tensor t = Tensor::view(std::as_bytes(std::span<const float>(*owner)), {3}, DType::kF32, owner);
  CHECK(t.data<float>() == owner->data());
  owner.reset();
  CHECK_FALSE(watch.expired());
  CHECK_THROWS_AS(t.mutable_raw(), Error);
  t = Tensor();
  CHECK(watch.expired());
}

TEST_CASE("foreign memory that is not aligned to its elements is copied") {
  std::vector<std::byte> bytes(13);
  bytes[1] = std::byte{7};
  const Tensor t =
      Tensor::view(std::span<const std::byte>(bytes).subspan(1, 8), {2}, DType::kI32, nullptr);
  CHECK(reinterpret_cast<uintptr_t>(t.raw()) % 4 == 0);
  CHECK(t.data<int32_t>()[0] == 7);
}

TEST_CASE("sizes that do not fit are refused") {
  const std::vector<float> values(6);
  CHECK(refuses([&] { Tensor::from(values, {7}); }));
  CHECK(refuses([&] { (void)Tensor::from(values, {6}).with_shape({5}); }));
  CHECK(refuses([&] { (void)Tensor::from(values, {6}).part(4, {3}); }));
  CHECK(refuses([&] { (void)Tensor::from(values, {6}).part(-1, {1}); }));
  CHECK(refuses([&] { (void)Tensor::from(values, {6}).item(); }));
  CHECK(refuses([&] { Tensor::empty({int64_t{1} << 62}); }));
  CHECK_THROWS_AS((void)Tensor::from(values, {6}).data<int32_t>(), Error);
}

TEST_CASE("memory that no machine has is an error, not a crash") {
  try {
    Tensor::empty({int64_t{1} << 50});
    FAIL("no error");
  } catch (const Error& e) {
    CHECK(e.code() == Code::kResourceExhausted);
  }
}

TEST_CASE("blocks are aligned, and come back from the free list") {
  for (const int64_t n : {0, 1, 15, 16, 64, 65, 100, 1000, 5000, 70000}) {
    CAPTURE(n);
    const std::byte* first = nullptr;
    {
      const Tensor t = Tensor::empty({n});
      first = t.raw();
      CHECK(reinterpret_cast<uintptr_t>(first) % Storage::kAlignment == 0);
    }
    const StorageStats before = storage_stats();
    const Tensor again = Tensor::empty({n});
    CHECK(again.raw() == first);
    CHECK(storage_stats().from_heap == before.from_heap);
    CHECK(storage_stats().from_cache == before.from_cache + 1);
  }
}

TEST_CASE("a block may be dropped by another thread than the one that made it") {
  Tensor t = Tensor::full({1000}, 3.0F);
  std::jthread([moved = std::move(t)]() mutable { moved = Tensor(); }).join();
  CHECK(Tensor::full({1000}, 4.0F).data<float>()[999] == 4.0F);
}

TEST_CASE("a dense weight is a matrix of floats") {
  CHECK(refuses([] { Weight::dense(Tensor::zeros({4})); }));
  CHECK(refuses([] { Weight::dense(Tensor::zeros({4, 4}, DType::kI32)); }));
  CHECK(refuses([] { Weight::dense(Tensor()); }));
  const Weight w = Weight::dense(Tensor::zeros({4, 6}, DType::kBF16));
  CHECK(w.out() == 4);
  CHECK(w.in() == 6);
  CHECK(w.bits_per_weight() == 16.0);
}

TEST_CASE("an affine weight refuses parts that do not fit each other") {
  const codec::AffineFormat f{4, 32};
  const auto make = [&](Shape packed, Shape scales, Shape biases, DType scale_type,
                        DType bias_type) {
    return Weight::affine(Tensor::zeros(packed, DType::kU32), Tensor::zeros(scales, scale_type),
                          Tensor::zeros(biases, bias_type), f);
  };
  const Weight w = make({3, 8}, {3, 2}, {3, 2}, DType::kBF16, DType::kBF16);
  CHECK(w.in() == 64);
  CHECK(w.out() == 3);
  CHECK(w.bits_per_weight() == 5.0);
  CHECK(refuses([&] { make({3, 9}, {3, 2}, {3, 2}, DType::kBF16, DType::kBF16); }));
  CHECK(refuses([&] { make({3, 8}, {2, 2}, {2, 2}, DType::kBF16, DType::kBF16); }));
  CHECK(refuses([&] { make({3, 8}, {3, 2}, {3, 1}, DType::kBF16, DType::kBF16); }));
  CHECK(refuses([&] { make({3, 8}, {3, 2}, {3, 2}, DType::kBF16, DType::kF32); }));
  CHECK(refuses([&] { make({3, 8}, {3, 2}, {3, 2}, DType::kI32, DType::kI32); }));
  CHECK(refuses([&] { make({24}, {3, 2}, {3, 2}, DType::kF32, DType::kF32); }));
  CHECK(refuses([&] {
    Weight::affine(Tensor::zeros({3, 8}, DType::kU32), Tensor::zeros({3, 2}), Tensor::zeros({3, 2}),
                   {7, 32});
  }));
}

TEST_CASE("rows of a weight are a weight without a copy") {
  const Weight w = Weight::affine(Tensor::zeros({3, 8}, DType::kU32), Tensor::zeros({3, 2}),
                                  Tensor::zeros({3, 2}), {4, 32});
  const Weight part = w.slice_rows(1, 2);
  CHECK(part.shape() == Shape{2, 64});
  CHECK(part.data().raw() == w.data().raw() + 8 * 4);
  CHECK(refuses([&] { (void)w.slice_rows(2, 2); }));
  CHECK(refuses([&] { (void)Weight().slice_rows(0, 0); }));
}

}  // namespace
}  // namespace hearth
