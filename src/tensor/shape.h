// The extents of a tensor: at most five axes, stored inline. A value.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace hearth {

class Shape {
 public:
  static constexpr int kMaxDims = 5;

  // A scalar: no axes, one element.
  Shape() = default;

  // Throws kInvalidArgument when there are more than kMaxDims extents, when one is negative, or when
  // their product does not fit an int64_t.
  Shape(std::initializer_list<int64_t>
            dims);  // NOLINT(google-explicit-constructor): {T, H} is a shape
  explicit Shape(std::span<const int64_t> dims);

  int ndim() const { return ndim_; }
  int64_t size() const { return size_; }  // number of elements; 1 for a scalar
  std::span<const int64_t> dims() const { return {dims_.data(), static_cast<size_t>(ndim_)}; }

  // The extent of an axis; negative axes count from the end, -1 is the last. Throws kInvalidArgument
  // when there is no such axis.
  int64_t dim(int axis) const;

  // The last axis' extent, 1 for a scalar; and how many such rows there are.
  int64_t width() const { return ndim_ == 0 ? 1 : dims_[static_cast<size_t>(ndim_ - 1)]; }
  int64_t rows() const;

  bool operator==(const Shape& other) const = default;

 private:
  void assign(std::span<const int64_t> dims);

  std::array<int64_t, kMaxDims> dims_{};  // unused extents stay 0, so that == is memberwise
  int64_t size_ = 1;
  int ndim_ = 0;
};

// "[4, 64]"; "[]" for a scalar.
std::string to_string(const Shape& shape);

// A copy of `shape` with its last extent replaced. Throws kInvalidArgument for a scalar.
Shape with_width(const Shape& shape, int64_t width);

}  // namespace hearth
