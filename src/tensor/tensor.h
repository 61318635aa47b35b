// A typed, shaped, contiguous view of shared memory.
//
// A Tensor is a cheap handle (pass const Tensor&): copying it shares the bytes. Rows are row-major and
// the last axis is contiguous, always. Data never changes after the op that made it, so a Tensor may be
// read from any thread; only the op that fills a fresh output calls mutable_data().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "base/dtype.h"
#include "base/error.h"
#include "base/half.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

namespace hearth {

// The dtypes that T can read: float kF32, bf16 kBF16, f16 kF16, int32_t kI32, uint32_t kU32, int64_t
// kI64, int8_t kI8, uint8_t kU8 and kBool, double kF64.
template <class T>
constexpr bool reads_as(DType dtype);

class Tensor {
 public:
  // Undefined: no storage. Only is_defined(), assignment and destruction are allowed.
  Tensor() = default;

  // Fresh memory, not cleared. Throws kInvalidArgument when the size overflows, kResourceExhausted when
  // there is no memory.
  static Tensor empty(const Shape& shape, DType dtype = DType::kF32);
  static Tensor zeros(const Shape& shape, DType dtype = DType::kF32);
  static Tensor full(const Shape& shape, float value);  // f32
  static Tensor scalar(float value) { return full({}, value); }

  // A copy of `values`, whose count must be shape.size() (else kInvalidArgument).
  static Tensor from(std::span<const float> values, const Shape& shape);
  static Tensor from(std::span<const int32_t> values, const Shape& shape);
  // The same from raw bytes of any dtype.
  static Tensor from_bytes(std::span<const std::byte> bytes, const Shape& shape, DType dtype);

  // A view of memory that `keep_alive` owns (may be null when the caller guarantees the lifetime).
  // Memory that is not aligned to its elements is copied instead. Throws kInvalidArgument when `bytes` is not
  // exactly the tensor's size.
  static Tensor view(std::span<const std::byte> bytes, const Shape& shape, DType dtype,
                     std::shared_ptr<const void> keep_alive);

  bool is_defined() const { return static_cast<bool>(storage_); }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  int ndim() const { return shape_.ndim(); }
  int64_t dim(int axis) const { return shape_.dim(axis); }
  int64_t size() const { return shape_.size(); }
  int64_t width() const { return shape_.width(); }  // last axis; 1 for a scalar
  int64_t rows() const { return shape_.rows(); }    // size() / width(); 0 when empty
  int64_t bytes() const;

  // The elements. Throws kInternal when T does not fit the dtype.
  template <class T>
  const T* data() const {
    check_reads(reads_as<T>(dtype_));
    return reinterpret_cast<const T*>(data_);
  }
  template <class T>
  std::span<const T> span() const {
    return {data<T>(), static_cast<size_t>(size())};
  }
  const std::byte* raw() const { return data_; }

  // For the op that makes this tensor, and for memory with one owner (optimizer state). Throws
  // kInternal for external memory.
  template <class T>
  T* mutable_data() {
    check_reads(reads_as<T>(dtype_));
    return reinterpret_cast<T*>(mutable_raw());
  }
  std::byte* mutable_raw();

  // The only element of a one-element f32 tensor.
  float item() const;

  // The same bytes seen through another shape of the same size, or a contiguous part of them starting
  // at element `offset`. Views, unknown to any recorder: ops use them, models call reshape() and
  // slice_rows() of ops/shape.h. Throw kInvalidArgument when sizes do not fit.
  Tensor with_shape(const Shape& shape) const;
  Tensor part(int64_t offset, const Shape& shape) const;

  // Do both handles name the same elements of the same memory? (Shapes may differ.)
  bool is_same_memory(const Tensor& other) const {
    return data_ == other.data_ && size() == other.size() && dtype_ == other.dtype_;
  }

 private:
  Tensor(StorageRef storage, std::byte* data, const Shape& shape, DType dtype)
      : storage_(std::move(storage)), data_(data), shape_(shape), dtype_(dtype) {}
  static void check_reads(bool fits) {
    HEARTH_CHECK(fits, "tensor: data is read as a type that does not fit its dtype");
  }

  StorageRef storage_;
  std::byte* data_ = nullptr;
  Shape shape_{0};
  DType dtype_ = DType::kF32;
};

// A part of a message, made into text only if it is needed: require(ok, "weight is ", describe(w)).
struct Description {
  const Tensor& tensor;
};
inline Description describe(const Tensor& t) { return {t}; }
std::string to_string(const Description& d);  // "F32 [4, 64]"

template <class T>
constexpr bool reads_as(DType dtype) {
  if constexpr (std::is_same_v<T, float>) return dtype == DType::kF32;
  if constexpr (std::is_same_v<T, double>) return dtype == DType::kF64;
  if constexpr (std::is_same_v<T, bf16>) return dtype == DType::kBF16;
  if constexpr (std::is_same_v<T, f16>) return dtype == DType::kF16;
  if constexpr (std::is_same_v<T, int32_t>) return dtype == DType::kI32;
  if constexpr (std::is_same_v<T, uint32_t>) return dtype == DType::kU32;
  if constexpr (std::is_same_v<T, int64_t>) return dtype == DType::kI64;
  if constexpr (std::is_same_v<T, int8_t>) return dtype == DType::kI8;
  if constexpr (std::is_same_v<T, uint8_t>) return dtype == DType::kU8 || dtype == DType::kBool;
  return false;
}

}  // namespace hearth
