// Whole files: read with a bound, written so that a kill leaves the old or the new.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace hearth {

// Throws kNotFound, kIo, or kCorruptData when the file is larger than max_bytes.
std::string read_text_file(const std::filesystem::path& path, int64_t max_bytes);

// Replaces path at once: written beside it, flushed to disk, renamed. Throws kIo; then path is unchanged and the
// temporary file is gone.
void write_file_atomic(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file_atomic(const std::filesystem::path& path, std::string_view text);

// The same, streamed: write() any number of times, then commit(). Without commit() nothing appears at path.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  // Flushes to disk and renames; write() is not allowed afterwards.
  void commit();
  int64_t written_bytes() const { return written_bytes_; }

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int fd_ = -1;
  int64_t written_bytes_ = 0;
};

}  // namespace hearth
