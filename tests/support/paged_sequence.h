// A sequence's keys and values in pages, for attention tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/half.h"
#include "codec/kv_page.h"
#include "kernels/table.h"
#include "support/floats.h"

namespace hearth::test_support {

// `length` tokens of normal keys and values, appended by the portable kernel to pages that were full of NaN bits.
// A value; pages are copied with it.
class PagedSequence {
 public:
  PagedSequence(codec::KvPageLayout layout, int64_t length, uint64_t seed)
      : layout_(layout),
        storage_(static_cast<size_t>((length + 63) / 64),
                 std::vector<std::byte>(static_cast<size_t>(codec::page_bytes(layout)),
                                        std::byte{0xFF})),
        dropped_(storage_.size()) {
    append(normal_floats(length * layout.kv_heads * layout.k_dim, seed, 1.0F),
           normal_floats(length * layout.kv_heads * layout.v_dim, seed + 1, 1.0F), 0, length);
  }

  // Writes tokens [first, first + rows) through append_kv; k [rows, Nkv, k_dim], v [rows, Nkv, v_dim].
  void append(const std::vector<float>& k, const std::vector<float>& v, int64_t first,
              int64_t rows) {
    std::vector<std::byte*> table;
    for (std::vector<std::byte>& page : storage_) table.push_back(page.data());
    kernels::kPortable.append_kv({.k = k.data(),
                                  .v = v.data(),
                                  .k_row_stride = layout_.kv_heads * layout_.k_dim,
                                  .v_row_stride = layout_.kv_heads * layout_.v_dim,
                                  .pages = table.data(),
                                  .layout = layout_,
                                  .head_begin = 0,
                                  .head_end = layout_.kv_heads,
                                  .rows = rows,
                                  .first_position = first});
  }

  // Overwrites keys and values of tokens [begin, end) with one number.
  void fill(int64_t begin, int64_t end, float x) {
    const int64_t rows = end - begin;
    append(std::vector<float>(static_cast<size_t>(rows * layout_.kv_heads * layout_.k_dim), x),
           std::vector<float>(static_cast<size_t>(rows * layout_.kv_heads * layout_.v_dim), x),
           begin, rows);
  }

  // From now on the page table has a null at this index.
  void drop_page(int64_t page) { dropped_[static_cast<size_t>(page)] = 1; }

  // Valid until the object changes, is copied from or moved.
  const std::byte* const* pages() const {
    table_.clear();
    for (size_t i = 0; i < storage_.size(); ++i)
      table_.push_back(dropped_[i] != 0 ? nullptr : storage_[i].data());
    return table_.data();
  }

  // Stored key and value, read by the layout's definition.
  double k(int64_t token, int64_t head, int64_t d) const {
    return element(token, codec::k_offset(layout_, head),
                   d * codec::kPageTokens + token % codec::kPageTokens);
  }
  double v(int64_t token, int64_t head, int64_t d) const {
    return element(token, codec::v_offset(layout_, head),
                   token % codec::kPageTokens * layout_.v_dim + d);
  }

 private:
  double element(int64_t token, int64_t offset, int64_t i) const {
    const std::byte* base =
        storage_[static_cast<size_t>(token / codec::kPageTokens)].data() + offset;
    if (layout_.dtype == DType::kF32) {
      float x;
      std::memcpy(&x, base + 4 * i, sizeof x);
      return static_cast<double>(x);
    }
    uint16_t bits;
    std::memcpy(&bits, base + 2 * i, sizeof bits);
    return static_cast<double>(layout_.dtype == DType::kBF16 ? to_float(bf16{bits})
                                                             : to_float(f16{bits}));
  }

  codec::KvPageLayout layout_;
  std::vector<std::vector<std::byte>> storage_;
  std::vector<int> dropped_;
  mutable std::vector<const std::byte*> table_;
};

}  // namespace hearth::test_support
