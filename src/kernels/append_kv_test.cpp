#include <cmath>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/attend.h"
#include "kernels/table.h"
#include "support/floats.h"
#include "support/paged_sequence.h"

namespace hearth::kernels {
namespace {

using test_support::kInfinity;
using test_support::kNaN;
using test_support::normal_floats;

double rounded(float x, DType dtype) {
  if (dtype == DType::kBF16) return static_cast<double>(to_float(to_bf16(x)));
  if (dtype == DType::kF16) return static_cast<double>(to_float(to_f16(x)));
  return static_cast<double>(x);
}

// Numbers that are hard to round: ties, subnormals, overflow, infinities.
std::vector<float> hard_floats(int64_t n, uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<float> v;
  const float special[] = {0.0F,        -0.0F,       kInfinity, -kInfinity, 65504.0F, 65519.99F,
                           65520.0F,    3e38F,       1e-45F,    6.1e-5F,    5.96e-8F, 2.98e-8F,
                           1.00390625F, 1.01171875F, 2049.0F,   2051.0F};
  for (const float x : special) v.push_back(x);
  while (static_cast<int64_t>(v.size()) < n)
    v.push_back(std::ldexp(random.normal(), static_cast<int>(random.below(60)) - 40));
  return v;
}

TEST_CASE(
    "append_kv writes every token where the layout says, rounded to nearest even, and nothing "
    "else") {
  const RunnableTables runnable = runnable_tables();
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (const int64_t k_dim : {5, 16, 64}) {
      const int64_t v_dim = k_dim == 64 ? 48 : k_dim;
      const codec::KvPageLayout layout = {
          .dtype = dtype, .kv_heads = 2, .k_dim = k_dim, .v_dim = v_dim};
      const int64_t rows = 80;
      const int64_t first = 50;  // crosses a page edge twice
      const std::vector<float> k = hard_floats(rows * 2 * k_dim, 3);
      const std::vector<float> v = hard_floats(rows * 2 * v_dim, 4);
      test_support::PagedSequence want(layout, 192, 7);
      const test_support::PagedSequence before = want;
      want.append(k, v, first, rows);
      int64_t wrong = 0;
      for (int64_t token = 0; token < 192; ++token) {
        const bool is_new = token >= first && token < first + rows;
        for (int64_t head = 0; head < 2; ++head) {
          for (int64_t d = 0; d < k_dim; ++d) {
            const double x = is_new ? rounded(k[((token - first) * 2 + head) * k_dim + d], dtype)
                                    : before.k(token, head, d);
            wrong += want.k(token, head, d) != x;
          }
          for (int64_t d = 0; d < v_dim; ++d) {
            const double x = is_new ? rounded(v[((token - first) * 2 + head) * v_dim + d], dtype)
                                    : before.v(token, head, d);
            wrong += want.v(token, head, d) != x;
          }
        }
      }
      CHECK(wrong == 0);
      // Every target, one head at a time and in two pieces, writes the same bytes.
      for (int i = 0; i < runnable.count; ++i) {
        CAPTURE(runnable.tables[i]->target);
        std::vector<std::vector<std::byte>> pages(
            3, std::vector<std::byte>(static_cast<size_t>(codec::page_bytes(layout))));
        for (int64_t p = 0; p < 3; ++p)
          std::memcpy(pages[p].data(), before.pages()[p], pages[p].size());
        std::vector<std::byte*> table_of_pages;
        for (std::vector<std::byte>& page : pages) table_of_pages.push_back(page.data());
        for (int64_t head = 0; head < 2; ++head) {
          for (const int64_t begin : {int64_t{0}, int64_t{31}}) {
            runnable.tables[i]->append_kv({.k = k.data() + begin * 2 * k_dim,
                                           .v = v.data() + begin * 2 * v_dim,
                                           .k_row_stride = 2 * k_dim,
                                           .v_row_stride = 2 * v_dim,
                                           .pages = table_of_pages.data(),
                                           .layout = layout,
                                           .head_begin = head,
                                           .head_end = head + 1,
                                           .rows = begin == 0 ? 31 : rows - 31,
                                           .first_position = first + begin});
          }
        }
        for (int64_t p = 0; p < 3; ++p)
          CHECK(std::memcmp(pages[p].data(), want.pages()[p], pages[p].size()) == 0);
      }
    }
  }
}

TEST_CASE("append_kv keeps NaN a NaN in every codec") {
  const RunnableTables runnable = runnable_tables();
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    const codec::KvPageLayout layout = {.dtype = dtype, .kv_heads = 1, .k_dim = 2, .v_dim = 2};
    const std::vector<float> x = {kNaN, std::bit_cast<float>(0xFF800001U)};
    for (int i = 0; i < runnable.count; ++i) {
      std::vector<std::byte> page(static_cast<size_t>(codec::page_bytes(layout)));
      std::byte* pages[] = {page.data()};
      runnable.tables[i]->append_kv({.k = x.data(),
                                     .v = x.data(),
                                     .k_row_stride = 2,
                                     .v_row_stride = 2,
                                     .pages = pages,
                                     .layout = layout,
                                     .head_begin = 0,
                                     .head_end = 1,
                                     .rows = 1,
                                     .first_position = 0});
      const std::byte* v = page.data() + codec::v_offset(layout, 0);
      for (int64_t d = 0; d < 2; ++d) {
        float back = 0.0F;
        uint16_t bits = 0;
        if (dtype == DType::kF32) {
          std::memcpy(&back, v + 4 * d, sizeof back);
        } else {
          std::memcpy(&bits, v + 2 * d, sizeof bits);
          back = dtype == DType::kBF16 ? to_float(bf16{bits}) : to_float(f16{bits});
        }
        CHECK(std::isnan(back));
      }
    }
  }
}

}  // namespace
}  // namespace hearth::kernels
