#include "tensor/storage.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <new>

#include "base/error.h"

namespace hearth {
namespace {

constexpr int64_t kHeaderBytes = 64;
constexpr int64_t kMaxCachedBlock = int64_t{16} << 20;
constexpr int64_t kMaxBytes = int64_t{1} << 48;  // no machine has more
constexpr int64_t kMaxCachedBytes = int64_t{64} << 20;

// Size classes: 64, 128, 192, 256, then four to a doubling, so that rounding up wastes at most a fifth.
constexpr int kSmallClasses = 4;
constexpr int kClasses = kSmallClasses + 16 * 4;
constexpr int kHuge = kClasses;  // no free list
constexpr int kExternal = -1;

struct SizeClass {
  int index;
  int64_t bytes;
};

constexpr SizeClass size_class_of(int64_t bytes) {
  if (bytes <= 256) {
    const int64_t n = std::max<int64_t>(1, (bytes + 63) / 64);
    return {static_cast<int>(n - 1), n * 64};
  }
  if (bytes > kMaxCachedBlock) return {kHuge, (bytes + 63) / 64 * 64};
  const int k = static_cast<int>(std::bit_width(static_cast<uint64_t>(bytes - 1))) -
                1;  // 2^k < bytes <= 2^(k + 1)
  const int64_t step = int64_t{1} << (k - 2);
  const int64_t i = (bytes - 1 - (int64_t{1} << k)) / step;
  return {kSmallClasses + (k - 8) * 4 + static_cast<int>(i), (int64_t{1} << k) + (i + 1) * step};
}
static_assert(size_class_of(257).bytes == 320 && size_class_of(257).index == 4);
static_assert(size_class_of(kMaxCachedBlock).index == kClasses - 1);
static_assert(size_class_of(kMaxCachedBlock).bytes == kMaxCachedBlock);

thread_local bool lists_are_gone = false;  // tensors may outlive the thread's lists at thread exit
thread_local StorageStats stats;

}  // namespace

// The waiting blocks of one thread.
struct FreeLists {
  std::array<Storage*, kClasses> heads{};
  int64_t cached_bytes = 0;

  FreeLists() = default;
  FreeLists(const FreeLists&) = delete;
  FreeLists& operator=(const FreeLists&) = delete;
  ~FreeLists() {
    lists_are_gone = true;
    for (Storage* head : heads) {
      while (head != nullptr) {
        Storage* next = head->next_;
        free_block(head);
        head = next;
      }
    }
  }

  static FreeLists* mine() {
    if (lists_are_gone) return nullptr;
    thread_local FreeLists lists;
    return &lists;
  }

  static void free_block(Storage* s) noexcept {
    s->~Storage();
    std::free(s);
  }
};

Storage* Storage::make(int64_t bytes) {
  static_assert(sizeof(Storage) <= kHeaderBytes);
  const SizeClass c = size_class_of(bytes);
  FreeLists* lists = c.index == kHuge ? nullptr : FreeLists::mine();
  if (lists != nullptr) {
    Storage*& head = lists->heads[static_cast<size_t>(c.index)];
    if (head != nullptr) {
      Storage* s = head;
      head = s->next_;
      lists->cached_bytes -= c.bytes;
      s->next_ = nullptr;
      s->bytes_ = bytes;
      s->refs_.store(1, std::memory_order_relaxed);
      ++stats.from_cache;
      return s;
    }
  }
  void* p = bytes > kMaxBytes
                ? nullptr
                : std::aligned_alloc(kAlignment, static_cast<size_t>(kHeaderBytes + c.bytes));
  if (p == nullptr) fail(Code::kResourceExhausted, "tensor: no memory for ", bytes, " bytes");
  ++stats.from_heap;
  return new (p) Storage(static_cast<std::byte*>(p) + kHeaderBytes, bytes, c.index);
}

Storage* Storage::wrap(const std::byte* data, int64_t bytes,
                       std::shared_ptr<const void> keep_alive) {
  // Never written through: Tensor::mutable_data refuses external storage.
  auto* s = new Storage(const_cast<std::byte*>(data), bytes, kExternal);
  s->keep_alive_ = std::move(keep_alive);
  return s;
}

void Storage::destroy(Storage* s) noexcept {
  if (s->size_class_ == kExternal) {
    delete s;
    return;
  }
  FreeLists* lists = s->size_class_ == kHuge ? nullptr : FreeLists::mine();
  const int64_t block_bytes = size_class_of(s->bytes_).bytes;
  if (lists == nullptr || lists->cached_bytes + block_bytes > kMaxCachedBytes) {
    FreeLists::free_block(s);
    return;
  }
  Storage*& head = lists->heads[static_cast<size_t>(s->size_class_)];
  s->next_ = head;
  head = s;
  lists->cached_bytes += block_bytes;
}

StorageStats storage_stats() noexcept { return stats; }

}  // namespace hearth
