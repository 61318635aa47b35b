#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "checkpoint/safetensors.h"

namespace hearth {
namespace {

constexpr int64_t kAlignment = 64;  // of the data section, so that kernels see aligned rows

// The 8 length bytes and the header, padded with spaces.
std::string make_header(const Json& header) {
  std::string json = header.dump();
  const size_t unpadded = json.size() + 8;
  json.append((static_cast<size_t>(kAlignment) - unpadded % static_cast<size_t>(kAlignment)) %
                  static_cast<size_t>(kAlignment),
              ' ');
  const uint64_t length = json.size();
  std::string out(sizeof length, '\0');
  std::memcpy(out.data(), &length, sizeof length);
  return out + json;
}

}  // namespace

int64_t TensorSpec::size_bytes() const {
  const auto elements = checked_product(shape);
  const auto bytes = elements ? checked_mul(*elements, bytes_of(dtype)) : std::nullopt;
  require(bytes.has_value(), "tensor ", printable(name), " of shape ", shape_text(shape),
          " is too large to write");
  return *bytes;
}

SafetensorsWriter::SafetensorsWriter(std::filesystem::path path, std::vector<TensorSpec> tensors,
                                     std::vector<std::pair<std::string, std::string>> metadata)
    : path_(std::move(path)) {
  // Widest elements first: with the data section aligned, every tensor then is at its own element
  // size.
  std::ranges::stable_sort(tensors, std::ranges::greater{},
                           [](const TensorSpec& t) { return bytes_of(t.dtype); });
  Json header = Json::object();
  if (!metadata.empty()) {
    Json entries = Json::object();
    for (auto& [key, value] : metadata) entries.set(key, Json(std::move(value)));
    header.set("__metadata__", std::move(entries));
  }
  int64_t at = 0;
  for (TensorSpec& t : tensors) {
    const int64_t size = t.size_bytes();
    const auto end = checked_add(at, size);
    require(end.has_value(), path_.string(), ": the tensors are too large for one file");
    Json shape = Json::array();
    for (const int64_t extent : t.shape) shape.push_back(extent);
    require(!header.contains(t.name), path_.string(), ": tensor ", printable(t.name),
            " is to be written twice");
    header.set(t.name, Json::object({{"dtype", Json(hearth::name(t.dtype))},
                                     {"shape", std::move(shape)},
                                     {"data_offsets", Json(Json::Array{Json(at), Json(*end)})}}));
    entries_.push_back({.spec = std::move(t), .begin_bytes = at, .size_bytes = size});
    at = *end;
  }
  std::ranges::sort(entries_, {}, [](const Entry& e) -> const std::string& { return e.spec.name; });

  const std::string head = make_header(header);
  data_begin_ = static_cast<int64_t>(head.size());
  file_bytes_ = data_begin_ + at;
  temporary_ = path_.string() + ".partial-XXXXXX";
  fd_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (fd_ < 0)
    fail(Code::kIo, "can't create a file beside ", path_.string(), ": ", std::strerror(errno));
  try {
    place(0, std::as_bytes(std::span(head)));
  } catch (const Error&) {  // the destructor doesn't run for a failed constructor
    ::close(fd_);
    ::unlink(temporary_.c_str());
    throw;
  }
}

SafetensorsWriter::~SafetensorsWriter() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

void SafetensorsWriter::place(int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(Code::kIo, "can't write ", path_.string(), ": ", std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(n));
    offset += n;
  }
}

void SafetensorsWriter::write(std::string_view name, int64_t offset_bytes,
                              std::span<const std::byte> bytes) {
  HEARTH_CHECK(fd_ >= 0, "write after commit");
  const auto at = std::ranges::lower_bound(
      entries_, name, {}, [](const Entry& e) -> std::string_view { return e.spec.name; });
  require(at != entries_.end() && at->spec.name == name, path_.string(), ": tensor ",
          printable(name), " was not announced");
  const auto size = static_cast<int64_t>(bytes.size());
  require(
      offset_bytes >= 0 && offset_bytes <= at->size_bytes && size <= at->size_bytes - offset_bytes,
      path_.string(), ": bytes ", offset_bytes, " to ", offset_bytes, " + ", size,
      " lie outside tensor ", printable(name), " of ", at->size_bytes, " bytes");
  place(data_begin_ + at->begin_bytes + offset_bytes, bytes);
  written_bytes_ += size;
}

void SafetensorsWriter::write(std::string_view name, std::span<const std::byte> bytes) {
  for (const Entry& e : entries_) {
    if (e.spec.name == name) {
      require(static_cast<int64_t>(bytes.size()) == e.size_bytes, path_.string(), ": tensor ",
              printable(name), " has ", e.size_bytes, " bytes, not ", bytes.size());
    }
  }
  write(name, 0, bytes);
}

void SafetensorsWriter::commit() {
  HEARTH_CHECK(fd_ >= 0, "commit twice");
  const int64_t expected = file_bytes_ - data_begin_;
  HEARTH_CHECK(written_bytes_ == expected, path_.string(), ": ", written_bytes_.load(), " of ",
               expected, " bytes were written");
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
}

}  // namespace hearth
