// The pages of one sequence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kv/page_pool.h"

namespace hearth {

// Owned by the engine thread; the pool outlives it. A step calls reserve(rows), runs the model, then advance(rows).
class AttentionState {
 public:
  explicit AttentionState(PagePool& pool);
  ~AttentionState();
  AttentionState(AttentionState&& other) noexcept;
  AttentionState& operator=(AttentionState&&) = delete;
  AttentionState(const AttentionState&) = delete;

  int64_t length() const { return length_; }  // tokens stored

  // Makes room for `rows` more tokens in every group, copying a page that is shared and would be written.
  // False when the pool is dry; then nothing has changed.
  bool reserve(int64_t rows);
  // The step wrote `rows` tokens: they count from now on, and pages that no later token can see go back.
  void advance(int64_t rows);

  // Forgets everything from token `length` on. Throws kInvalidArgument for a length beyond the present one, or
  // where a sliding window's pages have already gone back.
  void truncate(int64_t length);
  // A second sequence with the same past; the pages are shared.
  AttentionState fork() const;

  // Page ids of a group; entry i holds tokens [64 i, 64 i + 64), -1 where the page went back.
  std::span<const int32_t> pages(int group) const { return pages_[static_cast<size_t>(group)]; }
  int64_t bytes() const;  // of the pages held, shared ones included

 private:
  PagePool* pool_;
  int64_t length_ = 0;
  std::vector<std::vector<int32_t>> pages_;  // by group
};

}  // namespace hearth
