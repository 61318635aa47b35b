#include "codec/kv_page.h"

#include <doctest/doctest.h>

namespace hearth::codec {
namespace {

TEST_CASE("a page is its heads' records in order, without gaps or overlap") {
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (const int64_t k_dim : {8, 80, 192}) {
      for (const int64_t v_dim : {8, 72, 128}) {
        const KvPageLayout layout = {.dtype = dtype, .kv_heads = 3, .k_dim = k_dim, .v_dim = v_dim};
        CHECK(is_valid(layout));
        const int64_t size = bytes_of(dtype);
        CHECK(element_bytes(layout) == size);
        int64_t next = 0;
        for (int64_t head = 0; head < layout.kv_heads; ++head) {
          CHECK(k_offset(layout, head) == next);
          next += k_dim * kPageTokens * size;
          CHECK(v_offset(layout, head) == next);
          next += kPageTokens * v_dim * size;
        }
        CHECK(page_bytes(layout) == next);
      }
    }
  }
}

TEST_CASE("layouts that no page can have are refused") {
  const KvPageLayout good = {.dtype = DType::kF32, .kv_heads = 1, .k_dim = 1, .v_dim = 1};
  CHECK(is_valid(good));
  for (const int64_t bad : {int64_t{0}, int64_t{-1}, int64_t{1} << 40}) {
    CHECK_FALSE(is_valid({.dtype = DType::kF32, .kv_heads = bad, .k_dim = 8, .v_dim = 8}));
    CHECK_FALSE(is_valid({.dtype = DType::kF32, .kv_heads = 1, .k_dim = bad, .v_dim = 8}));
    CHECK_FALSE(is_valid({.dtype = DType::kF32, .kv_heads = 1, .k_dim = 8, .v_dim = bad}));
  }
  CHECK_FALSE(is_valid({.dtype = DType::kI8, .kv_heads = 1, .k_dim = 8, .v_dim = 8}));
}

}  // namespace
}  // namespace hearth::codec
