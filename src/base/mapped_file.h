// A file as read-only memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace hearth {

// Read-only private mapping of a whole file; pages are read by the kernel when touched. Value-like: immutable and
// usable from any thread. Views stay valid as long as someone holds the shared_ptr. (A file that another process
// truncates while mapped raises SIGBUS on access: checkpoints are replaced by rename, never truncated.)
class MappedFile {
 public:
  // Throws kNotFound when there is no such file, kIo when it can't be read, kCorruptData when it
  // isn't a regular file.
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  MappedFile(std::filesystem::path path, std::span<const std::byte> bytes);

  std::filesystem::path path_;
  std::span<const std::byte> bytes_;
};

}  // namespace hearth
