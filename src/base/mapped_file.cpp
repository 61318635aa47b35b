#include "base/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace hearth {
namespace {

struct FileDescriptor {
  int fd;
  ~FileDescriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // Not blocking: opening a pipe would wait for its writer before anyone could say that it is no file.
  const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) {
    fail(errno == ENOENT || errno == ENOTDIR ? Code::kNotFound : Code::kIo, "can't open ",
         path.string(), ": ", std::strerror(errno));
  }
  struct stat info{};
  if (::fstat(file.fd, &info) != 0)
    fail(Code::kIo, "can't stat ", path.string(), ": ", std::strerror(errno));
  if (!S_ISREG(info.st_mode)) fail(Code::kCorruptData, path.string(), " is not a regular file");
  const size_t size = static_cast<size_t>(info.st_size);
  std::span<const std::byte> bytes;
  if (size > 0) {
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (memory == MAP_FAILED)
      fail(Code::kIo, "can't map ", path.string(), ": ", std::strerror(errno));
    bytes = {static_cast<const std::byte*>(memory), size};
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(path, bytes));
}

MappedFile::MappedFile(std::filesystem::path path, std::span<const std::byte> bytes)
    : path_(std::move(path)), bytes_(bytes) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace hearth
