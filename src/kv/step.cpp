#include "kv/step.h"

#include <algorithm>

#include "base/error.h"

namespace hearth {

const Tensor& LayerStep::positions() const { return step_->positions_; }
const SliceTable& LayerStep::slices() const {
  return step_->tables_[static_cast<size_t>(step_->pool_->group_of(layer_))];
}
PagedLayer LayerStep::pages() const { return step_->pool_->layer(layer_); }
int64_t LayerStep::window() const { return step_->pool_->window(step_->pool_->group_of(layer_)); }

StepContext::StepContext(const PagePool& pool, std::span<const int32_t> tokens,
                         std::span<const Slice> slices)
    : pool_(&pool), tokens_(Tensor::from(tokens, {static_cast<int64_t>(tokens.size())})) {
  std::vector<int32_t> positions(tokens.size());
  std::vector<int32_t> table;
  int64_t row = 0;
  for (size_t i = 0; i < slices.size(); ++i) {
    const Slice& s = slices[i];
    HEARTH_CHECK(s.first_row == row && s.rows >= 1, "slices must cover the rows in order");
    const int64_t first_position = s.state->length();
    HEARTH_CHECK(first_position + s.rows <= INT32_MAX &&
                 row + s.rows <= static_cast<int64_t>(tokens.size()));
    for (int64_t j = 0; j < s.rows; ++j)
      positions[static_cast<size_t>(row + j)] = static_cast<int32_t>(first_position + j);
    table.insert(table.end(), {static_cast<int32_t>(row), static_cast<int32_t>(s.rows),
                               static_cast<int32_t>(first_position), static_cast<int32_t>(i)});
    row += s.rows;
  }
  HEARTH_CHECK(row == static_cast<int64_t>(tokens.size()), "slices must cover all rows");
  positions_ = Tensor::from(positions, {row});
  const int64_t count = static_cast<int64_t>(slices.size());
  const Tensor slice_tensor = Tensor::from(table, {count, 4});

  for (int group = 0; group < pool.group_count(); ++group) {
    int64_t width = 1;
    for (const Slice& s : slices)
      width = std::max(width, static_cast<int64_t>(s.state->pages(group).size()));
    std::vector<int32_t> pages(static_cast<size_t>(count * width), -1);
    for (size_t i = 0; i < slices.size(); ++i) {
      const auto list = slices[i].state->pages(group);
      std::ranges::copy(
          list, pages.begin() + static_cast<std::ptrdiff_t>(static_cast<int64_t>(i) * width));
    }
    tables_.push_back({slice_tensor, Tensor::from(pages, {count, width})});
  }
}

}  // namespace hearth
