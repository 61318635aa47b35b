#include "kv/page_pool.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/mman.h>

#include "base/checked.h"
#include "base/error.h"
#include "codec/kv_page.h"

namespace hearth {
namespace {

codec::KvPageLayout page_layout(const AttentionLayer& l, DType dtype) {
  const codec::KvPageLayout page{dtype, l.kv_heads, l.k_dim, l.v_dim};
  require(codec::is_valid(page), "KV cache: ", l.kv_heads, " heads of ", l.k_dim, " and ", l.v_dim,
          " stored as ", dtype, " are not supported");
  return page;
}

}  // namespace

PagePool::PagePool(const CacheLayout& layout, DType dtype, int64_t budget_bytes)
    : dtype_(dtype), budget_bytes_(budget_bytes) {
  for (const AttentionLayer& l : layout.layers()) {
    const codec::KvPageLayout page = page_layout(l, dtype);
    auto group = std::ranges::find(groups_, l.window, &Group::window);
    if (group == groups_.end()) group = groups_.insert(groups_.end(), Group{.window = l.window});
    layers_.push_back({static_cast<int>(group - groups_.begin()), group->page_bytes, page});
    group->page_bytes += codec::page_bytes(page);
  }
  int64_t one_of_each = 0;
  for (const Group& g : groups_) one_of_each += g.page_bytes;
  require(budget_bytes >= one_of_each, "KV cache: a budget of ", budget_bytes,
          " bytes is less than one page of ", codec::kPageTokens, " tokens (", one_of_each,
          " bytes)");
  for (Group& g : groups_) {
    g.max_pages = std::min<int64_t>(budget_bytes / g.page_bytes, INT32_MAX);
    void* memory =
        ::mmap(nullptr, static_cast<size_t>(g.max_pages * g.page_bytes), PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      release_memory();  // of the groups before this one: no destructor runs
      fail(Code::kResourceExhausted, "KV cache: can't reserve ", g.max_pages * g.page_bytes,
           " bytes of address space: ", std::strerror(errno), "; ask for a smaller context");
    }
    ::madvise(memory, static_cast<size_t>(g.max_pages * g.page_bytes), MADV_HUGEPAGE);
    g.memory = static_cast<std::byte*>(memory);
  }
}

PagePool::~PagePool() { release_memory(); }

void PagePool::release_memory() noexcept {
  for (const Group& g : groups_) {
    if (g.memory != nullptr) ::munmap(g.memory, static_cast<size_t>(g.max_pages * g.page_bytes));
  }
}

PagedLayer PagePool::layer(int64_t layer) const {
  const Layer& l = layers_[static_cast<size_t>(layer)];
  return {at(l.group).memory + l.offset_bytes, at(l.group).page_bytes, l.layout};
}

int64_t PagePool::token_bytes() const {
  int64_t bytes = 0;
  for (const Group& g : groups_) bytes += g.page_bytes;
  return bytes / codec::kPageTokens;
}

int64_t PagePool::token_bytes(const CacheLayout& layout, DType dtype) {
  int64_t bytes = 0;
  for (const AttentionLayer& l : layout.layers()) bytes += codec::page_bytes(page_layout(l, dtype));
  return bytes / codec::kPageTokens;
}

int64_t PagePool::bytes_for(int64_t tokens) const {
  const int64_t pages = (tokens + codec::kPageTokens - 1) / codec::kPageTokens;
  return pages * token_bytes() * codec::kPageTokens;
}

std::optional<int32_t> PagePool::acquire(int group) {
  Group& g = at(group);
  if (used_bytes_ + g.page_bytes > budget_bytes_) return std::nullopt;
  int32_t page = 0;
  if (!g.free.empty()) {
    page = g.free.back();
    g.free.pop_back();
  } else {
    page = static_cast<int32_t>(g.references.size());
    g.references.push_back(0);
  }
  g.references[static_cast<size_t>(page)] = 1;
  used_bytes_ += g.page_bytes;
  return page;
}

void PagePool::retain(int group, int32_t page) {
  ++at(group).references[static_cast<size_t>(page)];
}

void PagePool::release(int group, int32_t page) {
  Group& g = at(group);
  int32_t& references = g.references[static_cast<size_t>(page)];
  HEARTH_CHECK(references > 0, "page released twice");
  if (--references > 0) return;
  g.free.push_back(page);
  used_bytes_ -= g.page_bytes;
}

bool PagePool::is_shared(int group, int32_t page) const {
  return at(group).references[static_cast<size_t>(page)] > 1;
}

void PagePool::copy(int group, int32_t from, int32_t to) {
  const Group& g = at(group);
  std::memcpy(g.memory + to * g.page_bytes, g.memory + from * g.page_bytes,
              static_cast<size_t>(g.page_bytes));
}

}  // namespace hearth
