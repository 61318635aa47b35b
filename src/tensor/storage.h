// The memory behind tensors: 64-byte aligned blocks with a reference count in front of the bytes.
//
// Blocks of up to 16 MiB come from a free list of the calling thread (at most 64 MiB a thread wait
// there) and go to the free list of the thread that drops the last reference, so that an eager decode
// step asks the heap for nothing once it is warm. Foreign memory (a mapped checkpoint) gets a header of
// its own that keeps the owner alive.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace hearth {

// One block. Shared: the count is atomic, everything else is constant after construction.
class Storage {
 public:
  static constexpr int64_t kAlignment = 64;

  // A block of at least `bytes` bytes, not cleared. Throws kResourceExhausted when memory is out.
  static Storage* make(int64_t bytes);
  // Refers to memory that `keep_alive` owns and that is never written through this object.
  static Storage* wrap(const std::byte* data, int64_t bytes,
                       std::shared_ptr<const void> keep_alive);

  void retain() noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(this);
  }

  std::byte* data() const noexcept { return data_; }
  int64_t bytes() const noexcept { return bytes_; }
  bool is_external() const noexcept { return size_class_ < 0; }

 private:
  Storage(std::byte* data, int64_t bytes, int size_class) noexcept
      : data_(data), bytes_(bytes), size_class_(size_class) {}
  ~Storage() = default;
  static void destroy(Storage* s) noexcept;
  friend struct FreeLists;

  std::atomic<int64_t> refs_{1};
  std::byte* data_;
  int64_t bytes_;
  int size_class_;  // index of the free list; kHuge for blocks that go straight to the heap; < 0 external
  Storage* next_ = nullptr;  // in a free list
  std::shared_ptr<const void> keep_alive_;
};

// An owning handle to a Storage, or none.
class StorageRef {
 public:
  StorageRef() = default;
  explicit StorageRef(Storage* adopted) noexcept : s_(adopted) {}  // takes over one reference
  StorageRef(const StorageRef& o) noexcept : s_(o.s_) {
    if (s_ != nullptr) s_->retain();
  }
  StorageRef(StorageRef&& o) noexcept : s_(std::exchange(o.s_, nullptr)) {}
  StorageRef& operator=(StorageRef o) noexcept {
    std::swap(s_, o.s_);
    return *this;
  }
  ~StorageRef() {
    if (s_ != nullptr) s_->release();
  }
  Storage* get() const noexcept { return s_; }
  Storage* operator->() const noexcept { return s_; }
  explicit operator bool() const noexcept { return s_ != nullptr; }

 private:
  Storage* s_ = nullptr;
};

// What this thread has asked for so far. Only differences mean anything.
struct StorageStats {
  int64_t from_heap = 0;   // blocks that the heap had to provide
  int64_t from_cache = 0;  // blocks that the free list provided
};
StorageStats storage_stats() noexcept;

}  // namespace hearth
