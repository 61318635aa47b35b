#include "base/file.h"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mapped_file.h"

namespace hearth {

std::string read_text_file(const std::filesystem::path& path, int64_t max_bytes) {
  const auto file = MappedFile::open(path);
  const auto bytes = file->bytes();
  require_data(static_cast<int64_t>(bytes.size()) <= max_bytes, path.string(), " has ",
               bytes.size(), " bytes; at most ", max_bytes, " are accepted for this kind of file");
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write_file_atomic(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void write_file_atomic(const std::filesystem::path& path, std::string_view text) {
  write_file_atomic(path, std::as_bytes(std::span(text)));
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  std::string name = path_.string() + ".partial-XXXXXX";
  fd_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd_ < 0)
    fail(Code::kIo, "can't create a file beside ", path_.string(), ": ", std::strerror(errno));
  temporary_ = name;
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) {
    ::close(fd_);
    ::unlink(temporary_.c_str());
  }
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  HEARTH_CHECK(fd_ >= 0, "write after commit");
  written_bytes_ += static_cast<int64_t>(bytes.size());
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(Code::kIo, "can't write ", path_.string(), ": ", std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

void AtomicFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void AtomicFile::commit() {
  HEARTH_CHECK(fd_ >= 0, "commit twice");
  // mkostemp makes the file private; give it the mode that an ordinary creation would.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(fd_, 0666U & ~mask);
  if (::fsync(fd_) != 0)
    fail(Code::kIo, "can't flush ", path_.string(), ": ", std::strerror(errno));
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    fail(Code::kIo, "can't rename to ", path_.string(), ": ", std::strerror(errno));
  ::close(fd_);
  fd_ = -1;
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  const int dir = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir >= 0) {  // some file systems refuse to sync a folder; the rename itself has happened
    ::fsync(dir);
    ::close(dir);
  }
}

}  // namespace hearth
