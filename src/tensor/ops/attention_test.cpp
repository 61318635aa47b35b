#include "tensor/ops/attention.h"

#include <cmath>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "base/random.h"
#include "base/thread_pool.h"
#include "tensor/compute.h"
#include "tensor/ops/gradient_cases.h"
#include "tensor/ops/shape.h"

namespace hearth {
namespace {

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() &&
         std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.bytes())) == 0;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  double d = 0.0;
  for (int64_t i = 0; i < a.size(); ++i)
    d = std::max(d, std::abs(static_cast<double>(a.data<float>()[i]) -
                             static_cast<double>(b.data<float>()[i])));
  return d;
}

// Pages of one layer, filled with garbage, for sequences whose pages are dealt out backwards.
class Pages {
 public:
  Pages(codec::KvPageLayout layout, int64_t count) : layout_(layout), count_(count) {
    memory_ = Tensor::empty({count * codec::page_bytes(layout)}, DType::kU8);
    std::memset(memory_.mutable_raw(), 0x7f,
                static_cast<size_t>(memory_.bytes()));  // large floats, NaN in bf16
  }
  PagedLayer layer() { return {memory_.mutable_raw(), codec::page_bytes(layout_), layout_}; }
  // Table of `sequences` rows with `each` pages.
  Tensor table(int64_t sequences, int64_t each) const {
    std::vector<int32_t> ids;
    for (int64_t i = 0; i < sequences * each; ++i)
      ids.push_back(static_cast<int32_t>(count_ - 1 - i));
    return Tensor::from(ids, {sequences, each});
  }

 private:
  codec::KvPageLayout layout_;
  int64_t count_;
  Tensor memory_;
};

struct Slot {
  int32_t first_row, rows, first_position, table_row;
};

Tensor slices_of(const std::vector<Slot>& slots) {
  std::vector<int32_t> flat;
  for (const Slot& s : slots)
    flat.insert(flat.end(), {s.first_row, s.rows, s.first_position, s.table_row});
  return Tensor::from(flat, {static_cast<int64_t>(slots.size()), 4});
}

struct Heads {
  int64_t q, kv, k_dim, v_dim;
};

struct Sequence {
  Tensor q, k, v;
  Sequence(int64_t tokens, const Heads& h, uint64_t seed)
      : q(random_tensor({{tokens, h.q, h.k_dim}}, seed)),
        k(random_tensor({{tokens, h.kv, h.k_dim}}, seed + 1)),
        v(random_tensor({{tokens, h.kv, h.v_dim}}, seed + 2)) {}
};

// One sequence through the pages, cut into steps of the given sizes.
Tensor in_steps(const Sequence& s, const Heads& h, DType dtype, const std::vector<int64_t>& steps,
                const AttendOptions& options) {
  const int64_t each = (s.q.dim(0) + codec::kPageTokens - 1) / codec::kPageTokens;
  Pages pages({dtype, h.kv, h.k_dim, h.v_dim}, each);
  std::vector<Tensor> parts;
  int64_t at = 0;
  for (const int64_t rows : steps) {
    const Tensor slices = slices_of({{0, static_cast<int32_t>(rows), static_cast<int32_t>(at), 0}});
    parts.push_back(attend(slice_rows(s.q, at, rows), slice_rows(s.k, at, rows),
                           slice_rows(s.v, at, rows), {slices, pages.table(1, each)}, pages.layer(),
                           options));
    at += rows;
  }
  return concat_rows(parts);
}

std::vector<int64_t> ones(int64_t n) { return std::vector<int64_t>(static_cast<size_t>(n), 1); }

TEST_CASE("paged attention over f32 pages agrees with the plain form") {
  const Tensor sinks = random_tensor({{4}}, 40);
  for (const Heads& h : {Heads{4, 2, 16, 16}, Heads{4, 1, 24, 8}, Heads{4, 4, 6, 10}}) {
    for (const int64_t tokens : {1, 5, 64, 65, 150}) {
      const Sequence s(tokens, h, 3);
      for (const int64_t window : {0, 1, 48, 100}) {
        for (const float cap : {0.0F, 1.5F}) {
          for (const Tensor* sink : {static_cast<const Tensor*>(nullptr), &sinks}) {
            CAPTURE(tokens);
            CAPTURE(window);
            const AttendOptions o{.scale = 0.5F, .window = window, .softcap = cap, .sinks = sink};
            const Tensor got = in_steps(s, h, DType::kF32, {tokens}, o);
            const Tensor want = sdpa(s.q, s.k, s.v,
                                     {.scale = 0.5F,
                                      .is_causal = true,
                                      .window = window,
                                      .softcap = cap,
                                      .sinks = sink});
            CHECK(largest_difference(got, want) <= 1e-5);
          }
        }
      }
    }
  }
}

TEST_CASE(
    "a row has the same bits however its sequence is cut into steps, and on any number of "
    "threads") {
  ThreadPool pool(3);
  const Heads h{6, 2, 16, 16};
  const Sequence s(700, h, 5);
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (const int64_t window : {0, 200}) {
      const AttendOptions o{.scale = 0.4F, .window = window};
      const Tensor whole = in_steps(s, h, dtype, {700}, o);
      CHECK(same_bits(in_steps(s, h, dtype, {100, 1, 64, 63, 130, 342}, o), whole));
      CHECK(same_bits(in_steps(s, h, dtype, ones(700), o), whole));
      const ComputeScope shared({.pool = &pool});
      CHECK(same_bits(in_steps(s, h, dtype, {700}, o), whole));
      CHECK(same_bits(in_steps(s, h, dtype, {600, 3, 90, 7}, o), whole));
      CHECK(same_bits(in_steps(s, h, dtype, ones(700), o), whole));  // ranges of keys over threads
    }
  }
}

TEST_CASE("a sequence has the same bits alone and beside others in a step") {
  ThreadPool pool(2);
  const Heads h{4, 2, 8, 8};
  std::vector<Sequence> all;
  std::vector<Tensor> alone;
  for (const int64_t tokens : {70, 3, 1, 90}) {
    all.emplace_back(tokens, h, static_cast<uint64_t>(tokens));
    alone.push_back(in_steps(all.back(), h, DType::kF16, {tokens}, {.scale = 0.3F}));
  }
  for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
    const ComputeScope scope({.pool = threads});
    std::vector<Tensor> q;
    std::vector<Tensor> k;
    std::vector<Tensor> v;
    std::vector<Slot> slots;
    int32_t row = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      q.push_back(all[i].q);
      k.push_back(all[i].k);
      v.push_back(all[i].v);
      const auto rows = static_cast<int32_t>(all[i].q.dim(0));
      slots.push_back({row, rows, 0, static_cast<int32_t>(i)});
      row += rows;
    }
    Pages pages({DType::kF16, h.kv, h.k_dim, h.v_dim}, 8);
    const Tensor packed =
        attend(concat_rows(q), concat_rows(k), concat_rows(v),
               {slices_of(slots), pages.table(4, 2)}, pages.layer(), {.scale = 0.3F});
    for (size_t i = 0; i < all.size(); ++i)
      CHECK(same_bits(slice_rows(packed, slots[i].first_row, slots[i].rows), alone[i]));
  }
}

TEST_CASE("pages behind the window need not exist") {
  const Heads h{2, 1, 8, 8};
  const Sequence s(200, h, 7);
  const AttendOptions o{.scale = 0.4F, .window = 30};
  const Tensor whole = in_steps(s, h, DType::kF32, {200}, o);
  Pages pages({DType::kF32, 1, 8, 8}, 4);
  const Tensor table = pages.table(1, 4);
  const auto step = [&](int64_t at, int64_t rows, const Tensor& ids) {
    const Tensor slices = slices_of({{0, static_cast<int32_t>(rows), static_cast<int32_t>(at), 0}});
    return attend(slice_rows(s.q, at, rows), slice_rows(s.k, at, rows), slice_rows(s.v, at, rows),
                  {slices, ids}, pages.layer(), o);
  };
  step(0, 190, table);
  const Tensor late = Tensor::from(std::vector<int32_t>{-1, -1, 1, 0}, {1, 4});
  CHECK(same_bits(step(190, 10, late), slice_rows(whole, 190, 10)));
}

TEST_CASE("tables that do not cover a slice write nowhere and give zeros") {
  const Heads h{2, 1, 8, 8};
  const Sequence s(4, h, 9);
  const std::vector<std::vector<Slot>> bad = {
      {{0, 5, 0, 0}},  {{-1, 2, 0, 0}}, {{3, 2, 0, 0}},
      {{0, 4, 0, 1}},  {{0, 4, 0, -1}}, {{0, 4, 61, 0}},
      {{0, 4, -1, 0}}, {{0, 0, 0, 0}},  {{0, 2147483647, 2147483647, 0}}};
  for (const std::vector<Slot>& slots : bad) {
    Pages pages({DType::kF32, 1, 8, 8}, 1);
    const Tensor y =
        attend(s.q, s.k, s.v, {slices_of(slots), pages.table(1, 1)}, pages.layer(), {});
    for (const float v : y.span<float>()) CHECK(v == 0.0F);
    for (int64_t i = 0; i < codec::page_bytes({DType::kF32, 1, 8, 8}); ++i)
      REQUIRE(pages.layer().base[i] == std::byte{0x7f});
  }
  Pages pages({DType::kF32, 1, 8, 8}, 1);
  const Tensor none = Tensor::from(std::vector<int32_t>{-1}, {1, 1});
  const Tensor y = attend(s.q, s.k, s.v, {slices_of({{0, 4, 0, 0}}), none}, pages.layer(), {});
  for (const float v : y.span<float>()) CHECK(v == 0.0F);
}

TEST_CASE("rows that belong to no slice are zero") {
  const Heads h{2, 1, 8, 8};
  const Sequence s(4, h, 9);
  Pages pages({DType::kF32, 1, 8, 8}, 1);
  const Tensor y =
      attend(s.q, s.k, s.v, {slices_of({{1, 2, 0, 0}}), pages.table(1, 1)}, pages.layer(), {});
  for (int64_t i = 0; i < 16; ++i) CHECK(y.data<float>()[i] == 0.0F);
  CHECK(y.data<float>()[16] != 0.0F);
  for (int64_t i = 48; i < 64; ++i) CHECK(y.data<float>()[i] == 0.0F);
}

TEST_CASE("plain attention follows its definition") {
  const Heads h{4, 2, 6, 5};
  const Tensor q = random_tensor({{3, 4, 6}}, 1);
  const Sequence s(7, h, 2);
  const Tensor sinks = random_tensor({{4}}, 5);
  const Tensor y =
      sdpa(q, s.k, s.v, {.scale = 0.7F, .is_causal = true, .window = 4, .sinks = &sinks});
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t head = 0; head < 4; ++head) {
      double total = std::exp(static_cast<double>(sinks.data<float>()[head]));
      std::vector<double> sum(5, 0.0);
      for (int64_t j = i + 4 - 3; j <= i + 4; ++j) {
        double dot = 0.0;
        for (int64_t d = 0; d < 6; ++d) {
          dot += static_cast<double>(q.data<float>()[(i * 4 + head) * 6 + d]) *
                 static_cast<double>(s.k.data<float>()[(j * 2 + head / 2) * 6 + d]);
        }
        const double p = std::exp(0.7 * dot);
        total += p;
        for (int64_t d = 0; d < 5; ++d)
          sum[static_cast<size_t>(d)] +=
              p * static_cast<double>(s.v.data<float>()[(j * 2 + head / 2) * 5 + d]);
      }
      for (int64_t d = 0; d < 5; ++d) {
        const double want = sum[static_cast<size_t>(d)] / total;
        CHECK(std::abs(static_cast<double>(y.data<float>()[(i * 4 + head) * 5 + d]) - want) <=
              1e-5);
      }
    }
  }
}

TEST_CASE("a query that sees no key gives zeros") {
  const Heads h{2, 1, 4, 4};
  const Sequence s(3, h, 2);
  const Tensor mask = Tensor::zeros({3, 3}, DType::kU8);
  const Tensor hidden = sdpa(s.q, s.k, s.v, {.mask = &mask});
  for (const float v : hidden.span<float>()) CHECK(v == 0.0F);
  // More queries than keys: the first see nothing.
  const Tensor y = sdpa(s.q, slice_rows(s.k, 0, 1), slice_rows(s.v, 0, 1), {.is_causal = true});
  for (int64_t i = 0; i < 16; ++i) CHECK(y.data<float>()[i] == 0.0F);
  CHECK(y.data<float>()[16] == s.v.data<float>()[0]);
}

}  // namespace
}  // namespace hearth
