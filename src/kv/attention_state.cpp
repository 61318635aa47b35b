#include "kv/attention_state.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "codec/kv_page.h"

namespace hearth {
namespace {

using codec::kPageTokens;

int64_t pages_for(int64_t tokens) { return (tokens + kPageTokens - 1) / kPageTokens; }

}  // namespace

AttentionState::AttentionState(PagePool& pool)
    : pool_(&pool), pages_(static_cast<size_t>(pool.group_count())) {}

AttentionState::AttentionState(AttentionState&& other) noexcept
    : pool_(other.pool_),
      length_(std::exchange(other.length_, 0)),
      pages_(std::move(other.pages_)) {
  other.pages_.clear();
}

AttentionState::~AttentionState() {
  for (size_t group = 0; group < pages_.size(); ++group) {
    for (const int32_t page : pages_[group])
      if (page >= 0) pool_->release(static_cast<int>(group), page);
  }
}

bool AttentionState::reserve(int64_t rows) {
  struct Taken {
    int group;
    int32_t page;
    int64_t index;  // whose place it takes; -1 = appended
  };
  std::vector<Taken> taken;
  const auto give_back = [&] {
    for (const Taken& t : taken) pool_->release(t.group, t.page);
    return false;
  };
  for (int group = 0; group < pool_->group_count(); ++group) {
    const auto& list = pages_[static_cast<size_t>(group)];
    const int64_t have = static_cast<int64_t>(list.size());
    // Only the page that the next token falls in can be both shared and written.
    const int64_t partial = length_ / kPageTokens;
    if (rows > 0 && partial < have && pool_->is_shared(group, list[static_cast<size_t>(partial)])) {
      const auto page = pool_->acquire(group);
      if (!page) return give_back();
      taken.push_back({group, *page, partial});
    }
    for (int64_t i = have; i < pages_for(length_ + rows); ++i) {
      const auto page = pool_->acquire(group);
      if (!page) return give_back();
      taken.push_back({group, *page, -1});
    }
  }
  for (const Taken& t : taken) {
    auto& list = pages_[static_cast<size_t>(t.group)];
    if (t.index < 0) {
      list.push_back(t.page);
    } else {
      int32_t& place = list[static_cast<size_t>(t.index)];
      pool_->copy(t.group, place, t.page);
      pool_->release(t.group, place);
      place = t.page;
    }
  }
  return true;
}

void AttentionState::advance(int64_t rows) {
  length_ += rows;
  for (int group = 0; group < pool_->group_count(); ++group) {
    const int64_t window = pool_->window(group);
    if (window == 0) continue;
    // The next query, at position length_, sees positions after length_ - window.
    const int64_t gone = std::max<int64_t>(0, length_ - window + 1) / kPageTokens;
    auto& list = pages_[static_cast<size_t>(group)];
    for (int64_t i = gone - 1; i >= 0 && list[static_cast<size_t>(i)] >= 0; --i) {
      pool_->release(group, list[static_cast<size_t>(i)]);
      list[static_cast<size_t>(i)] = -1;
    }
  }
}

void AttentionState::truncate(int64_t length) {
  require(length >= 0 && length <= length_, "can't cut a sequence of ", length_, " tokens to ",
          length);
  for (int group = 0; group < pool_->group_count(); ++group) {
    const int64_t window = pool_->window(group);
    auto& list = pages_[static_cast<size_t>(group)];
    const int64_t first_seen = window == 0 ? 0 : std::max<int64_t>(0, length - window + 1);
    for (int64_t i = first_seen / kPageTokens; i < pages_for(length); ++i) {
      require(list[static_cast<size_t>(i)] >= 0, "can't cut a sequence to ", length,
              " tokens: its sliding window of ", window, " has moved past them");
    }
  }
  for (int group = 0; group < pool_->group_count(); ++group) {
    auto& list = pages_[static_cast<size_t>(group)];
    while (static_cast<int64_t>(list.size()) > pages_for(length)) {
      if (list.back() >= 0) pool_->release(group, list.back());
      list.pop_back();
    }
  }
  length_ = length;
}

AttentionState AttentionState::fork() const {
  AttentionState copy(*pool_);
  copy.length_ = length_;
  copy.pages_ = pages_;
  for (size_t group = 0; group < pages_.size(); ++group) {
    for (const int32_t page : pages_[group])
      if (page >= 0) pool_->retain(static_cast<int>(group), page);
  }
  return copy;
}

int64_t AttentionState::bytes() const {
  int64_t bytes = 0;
  for (size_t group = 0; group < pages_.size(); ++group) {
    const auto held = std::ranges::count_if(pages_[group], [](int32_t page) { return page >= 0; });
    bytes += held * pool_->page_bytes(static_cast<int>(group));
  }
  return bytes;
}

}  // namespace hearth
