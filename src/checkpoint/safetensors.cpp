#include "checkpoint/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "base/mapped_file.h"
#include "tensor/shape.h"

namespace hearth {
namespace {

constexpr int64_t kLengthBytes = 8;

int64_t checked_header_bytes(std::span<const std::byte> file, const std::string& name) {
  require_data(
      file.size() >= static_cast<size_t>(kLengthBytes), name, " has ", file.size(),
      " bytes; a safetensors file begins with an 8-byte header length. Get the file again");
  uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  static_assert(std::endian::native == std::endian::little);
  require_data(length <= static_cast<uint64_t>(kMaxSafetensorsHeaderBytes), name,
               ": the header length is ", length, " bytes, more than the ",
               kMaxSafetensorsHeaderBytes,
               " that the format allows; the file is damaged or not safetensors");
  require_data(length <= file.size() - static_cast<size_t>(kLengthBytes), name,
               ": the header length is ", length, " bytes, but only ",
               file.size() - static_cast<size_t>(kLengthBytes),
               " follow; the file is truncated, get it again");
  return static_cast<int64_t>(length);
}

}  // namespace

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  return parse(file->bytes(), path.string(), file);
}

SafetensorsFile SafetensorsFile::parse(std::span<const std::byte> file, std::string name,
                                       std::shared_ptr<const void> keep_alive) {
  SafetensorsFile f;
  const int64_t length = checked_header_bytes(file, name);
  f.name_ = std::move(name);
  f.file_ = file;
  f.keep_alive_ = std::move(keep_alive);
  f.header_bytes_ = kLengthBytes + length;
  const std::string_view json(reinterpret_cast<const char*>(file.data()) + kLengthBytes,
                              static_cast<size_t>(length));
  f.header_ = parse_safetensors_header(json, f.file_bytes() - f.header_bytes_, f.name_);
  return f;
}

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(header_.tensors, name, {}, &TensorInfo::name);
  return at != header_.tensors.end() && at->name == name ? &*at : nullptr;
}

std::span<const std::byte> SafetensorsFile::bytes(const TensorInfo& info) const {
  return file_.subspan(static_cast<size_t>(header_bytes_ + info.begin_bytes),
                       static_cast<size_t>(info.size_bytes()));
}

Tensor SafetensorsFile::tensor(std::string_view name) const {
  const TensorInfo* info = find(name);
  if (info == nullptr) fail(Code::kNotFound, name_, " has no tensor ", printable(name));
  return tensor(*info);
}

Tensor SafetensorsFile::tensor(const TensorInfo& info) const {
  if (std::ssize(info.shape) > Shape::kMaxDims) {
    fail(Code::kUnsupported, name_, ": tensor ", printable(info.name), " has ", info.shape.size(),
         " axes; at most ", Shape::kMaxDims, " are supported");
  }
  const Shape shape(std::span<const int64_t>(info.shape));
  const std::span<const std::byte> data = bytes(info);
  const auto address = reinterpret_cast<uintptr_t>(data.data());
  if (address % static_cast<uintptr_t>(bytes_of(info.dtype)) != 0)
    return Tensor::from_bytes(data, shape, info.dtype);
  return Tensor::view(data, shape, info.dtype, keep_alive_);
}

}  // namespace hearth
