#include "tensor/tensor.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/checked.h"

namespace hearth {
namespace {

int64_t bytes_for(const Shape& shape, DType dtype) {
  const std::optional<int64_t> bytes = checked_mul(shape.size(), bytes_of(dtype));
  if (!bytes) fail(Code::kInvalidArgument, "tensor: the size of ", shape, " overflows");
  return *bytes;
}

}  // namespace

Tensor Tensor::empty(const Shape& shape, DType dtype) {
  StorageRef storage(Storage::make(bytes_for(shape, dtype)));
  std::byte* data = storage->data();
  return {std::move(storage), data, shape, dtype};
}

Tensor Tensor::zeros(const Shape& shape, DType dtype) {
  Tensor t = empty(shape, dtype);
  std::memset(t.data_, 0, static_cast<size_t>(t.bytes()));
  return t;
}

Tensor Tensor::full(const Shape& shape, float value) {
  Tensor t = empty(shape, DType::kF32);
  std::fill_n(t.mutable_data<float>(), t.size(), value);
  return t;
}

Tensor Tensor::from(std::span<const float> values, const Shape& shape) {
  return from_bytes(std::as_bytes(values), shape, DType::kF32);
}

Tensor Tensor::from(std::span<const int32_t> values, const Shape& shape) {
  return from_bytes(std::as_bytes(values), shape, DType::kI32);
}

Tensor Tensor::from_bytes(std::span<const std::byte> bytes, const Shape& shape, DType dtype) {
  require(std::cmp_equal(bytes.size(), bytes_for(shape, dtype)), "tensor: ", bytes.size(),
          " bytes for ", dtype, " ", shape);
  Tensor t = empty(shape, dtype);
  if (!bytes.empty()) std::memcpy(t.data_, bytes.data(), bytes.size());
  return t;
}

Tensor Tensor::view(std::span<const std::byte> bytes, const Shape& shape, DType dtype,
                    std::shared_ptr<const void> keep_alive) {
  require(std::cmp_equal(bytes.size(), bytes_for(shape, dtype)), "tensor: ", bytes.size(),
          " bytes for ", dtype, " ", shape);
  if (reinterpret_cast<uintptr_t>(bytes.data()) % static_cast<uintptr_t>(bytes_of(dtype)) != 0) {
    return from_bytes(bytes, shape, dtype);
  }
  StorageRef storage(
      Storage::wrap(bytes.data(), static_cast<int64_t>(bytes.size()), std::move(keep_alive)));
  std::byte* data = storage->data();
  return {std::move(storage), data, shape, dtype};
}

int64_t Tensor::bytes() const { return size() * bytes_of(dtype_); }

std::byte* Tensor::mutable_raw() {
  HEARTH_CHECK(storage_ && !storage_->is_external(), "tensor: this memory is not ours to write");
  return data_;
}

float Tensor::item() const {
  require(size() == 1, "tensor: item() of ", describe(*this));
  return *data<float>();
}

Tensor Tensor::with_shape(const Shape& shape) const {
  require(shape.size() == size(), "tensor: ", shape_, " can't be seen as ", shape);
  return {storage_, data_, shape, dtype_};
}

Tensor Tensor::part(int64_t offset, const Shape& shape) const {
  require(offset >= 0 && offset <= size() && shape.size() <= size() - offset, "tensor: no part ",
          shape, " at element ", offset, " of ", shape_);
  return {storage_, data_ + offset * bytes_of(dtype_), shape, dtype_};
}

std::string to_string(const Description& d) {
  if (!d.tensor.is_defined()) return "an undefined tensor";
  return to_string(d.tensor.dtype()) + " " + to_string(d.tensor.shape());
}

}  // namespace hearth
