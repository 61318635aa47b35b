// Safetensors files: reading as a mapping, writing as a stream.
// Layout: 8 bytes little-endian header length, JSON header, raw little-endian row-major data.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "checkpoint/safetensors_header.h"
#include "tensor/tensor.h"

namespace hearth {

// An opened file. Value-like and immutable; usable from any thread. Only the header has been read;
// tensors and spans are views into the mapping, kept alive by the Tensor or, for bytes(), by this
// object.
class SafetensorsFile {
 public:
  // Throws kNotFound, kIo; kCorruptData and kUnsupported as parse_safetensors_header.
  static SafetensorsFile open(const std::filesystem::path& path);

  // The same from memory; `keep_alive` owns the bytes (may be null for static storage). `name` is
  // for messages.
  static SafetensorsFile parse(std::span<const std::byte> file, std::string name,
                               std::shared_ptr<const void> keep_alive);

  const std::string& file_name() const { return name_; }
  const std::vector<TensorInfo>& tensors() const { return header_.tensors; }  // sorted by name
  const std::vector<std::pair<std::string, std::string>>& metadata() const {
    return header_.metadata;
  }

  // Absence is normal: null.
  const TensorInfo* find(std::string_view name) const;

  // The tensor's bytes, at whatever alignment the file has.
  std::span<const std::byte> bytes(const TensorInfo& info) const;

  // A view without copying; only a tensor that isn't aligned to its element size is copied. Float-8
  // tensors are returned as U8 codes. Throws kNotFound naming file and tensor; kUnsupported for
  // more axes than Tensor has.
  Tensor tensor(std::string_view name) const;
  Tensor tensor(const TensorInfo& info) const;

  int64_t header_bytes() const { return header_bytes_; }  // with the 8 length bytes
  int64_t file_bytes() const { return static_cast<int64_t>(file_.size()); }
  std::span<const std::byte> header() const {
    return file_.first(static_cast<size_t>(header_bytes_));
  }

 private:
  std::string name_;
  std::span<const std::byte> file_;
  std::shared_ptr<const void> keep_alive_;
  SafetensorsHeader header_;
  int64_t header_bytes_ = 0;
};

// What a file to be written will hold.
struct TensorSpec {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;

  int64_t size_bytes() const;  // throws kInvalidArgument on overflow
};

// Writes a file whose tensors are known beforehand, in any order and in pieces, with constant
// memory. Data starts at a multiple of 64 bytes and each tensor at its element size (tensors are
// laid out in the order given, widest element first). Nothing appears at `path` before commit();
// without commit() the partial file is removed. Owned by one thread, except write(), which any
// number of threads may call for disjoint ranges.
class SafetensorsWriter {
 public:
  // Throws kInvalidArgument for duplicate names and overflowing shapes, kIo.
  SafetensorsWriter(std::filesystem::path path, std::vector<TensorSpec> tensors,
                    std::vector<std::pair<std::string, std::string>> metadata = {
                        {"format", "mlx"}});
  ~SafetensorsWriter();
  SafetensorsWriter(const SafetensorsWriter&) = delete;
  SafetensorsWriter& operator=(const SafetensorsWriter&) = delete;

  // Places bytes at `offset_bytes` of the tensor. Throws kInvalidArgument outside the tensor, kIo.
  void write(std::string_view name, int64_t offset_bytes, std::span<const std::byte> bytes);
  // The whole tensor; `bytes` must have its size.
  void write(std::string_view name, std::span<const std::byte> bytes);

  // Flushes to disk and renames. Throws kInternal when fewer bytes were written than the tensors
  // have, kIo.
  void commit();

  int64_t file_bytes() const { return file_bytes_; }

 private:
  struct Entry {
    TensorSpec spec;
    int64_t begin_bytes = 0;  // in the data section
    int64_t size_bytes = 0;
  };
  void place(int64_t offset, std::span<const std::byte> bytes);

  std::filesystem::path path_;
  std::string temporary_;
  int fd_ = -1;
  std::vector<Entry> entries_;  // sorted by name
  int64_t data_begin_ = 0;
  int64_t file_bytes_ = 0;
  std::atomic<int64_t> written_bytes_ = 0;
};

}  // namespace hearth
