#include "tensor/shape.h"

#include <algorithm>
#include <optional>

#include "base/checked.h"
#include "base/error.h"

namespace hearth {

Shape::Shape(std::initializer_list<int64_t> dims) { assign({dims.begin(), dims.size()}); }
Shape::Shape(std::span<const int64_t> dims) { assign(dims); }

void Shape::assign(std::span<const int64_t> dims) {
  require(dims.size() <= kMaxDims, "shape: ", dims.size(), " axes, at most ", kMaxDims,
          " are possible");
  const std::optional<int64_t> size = checked_product(dims);
  if (!size)
    fail(Code::kInvalidArgument,
         "shape: an extent is negative or the number of elements overflows");
  std::ranges::copy(dims, dims_.begin());
  ndim_ = static_cast<int>(dims.size());
  size_ = *size;
}

int64_t Shape::dim(int axis) const {
  const int i = axis < 0 ? axis + ndim_ : axis;
  require(i >= 0 && i < ndim_, "shape: no axis ", axis, " in ", *this);
  return dims_[static_cast<size_t>(i)];
}

int64_t Shape::rows() const { return width() == 0 ? 0 : size_ / width(); }

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const int64_t d : shape.dims()) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(d);
  }
  return text + "]";
}

Shape with_width(const Shape& shape, int64_t width) {
  require(shape.ndim() > 0, "shape: a scalar has no last axis");
  std::array<int64_t, Shape::kMaxDims> dims{};
  std::ranges::copy(shape.dims(), dims.begin());
  const auto n = static_cast<size_t>(shape.ndim());
  dims[n - 1] = width;
  return Shape(std::span<const int64_t>(dims.data(), n));
}

}  // namespace hearth
