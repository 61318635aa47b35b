// The memory of all sequences of one model, in pages of 64 tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/dtype.h"
#include "kv/cache_layout.h"
#include "tensor/ops/attention.h"

namespace hearth {

// Layers with one window form a group; a page of a group holds 64 tokens of each of its layers. Pages are reference
// counted, so that sequences may share a prefix. Address space for the whole budget is reserved at construction and
// backed by memory only as pages are first written.
//
// Owned by the engine thread.
class PagePool {
 public:
  // dtype: how keys and values are stored, kF32, kBF16 or kF16. The budget covers all groups together.
  // Throws kInvalidArgument when it holds less than one page of each group, kResourceExhausted when address space
  // is out.
  PagePool(const CacheLayout& layout, DType dtype, int64_t budget_bytes);
  ~PagePool();
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  int group_count() const { return static_cast<int>(groups_.size()); }
  int64_t window(int group) const { return at(group).window; }  // 0 = full attention
  int group_of(int64_t layer) const { return layers_[static_cast<size_t>(layer)].group; }
  int64_t layer_count() const { return static_cast<int64_t>(layers_.size()); }
  // Where a layer's part of the pages lies.
  PagedLayer layer(int64_t layer) const;

  int64_t page_bytes(int group) const { return at(group).page_bytes; }
  // Bytes of one token in all layers. The second form tells it before there is a pool; it throws as the constructor
  // for what can't be stored.
  int64_t token_bytes() const;
  static int64_t token_bytes(const CacheLayout& layout, DType dtype);
  // What a sequence of `tokens` tokens holds at most: whole pages of every group.
  int64_t bytes_for(int64_t tokens) const;
  int64_t used_bytes() const { return used_bytes_; }
  int64_t budget_bytes() const { return budget_bytes_; }
  DType dtype() const { return dtype_; }

  // A page with one reference, or nothing when the budget is used up.
  std::optional<int32_t> acquire(int group);
  void retain(int group, int32_t page);
  void release(int group, int32_t page);
  bool is_shared(int group, int32_t page) const;
  // Copies the whole content of one page of a group to another.
  void copy(int group, int32_t from, int32_t to);

 private:
  struct Group {
    int64_t window = 0;
    int64_t page_bytes = 0;
    int64_t max_pages = 0;
    std::byte* memory = nullptr;
    std::vector<int32_t> references{};  // one for each page ever handed out
    std::vector<int32_t> free{};
  };
  struct Layer {
    int group = 0;
    int64_t offset_bytes = 0;  // inside a page of the group
    codec::KvPageLayout layout{};
  };

  void release_memory() noexcept;
  const Group& at(int group) const { return groups_[static_cast<size_t>(group)]; }
  Group& at(int group) { return groups_[static_cast<size_t>(group)]; }

  std::vector<Group> groups_;
  std::vector<Layer> layers_;
  DType dtype_;
  int64_t budget_bytes_;
  int64_t used_bytes_ = 0;
};

}  // namespace hearth
