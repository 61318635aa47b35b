#include "checkpoint/zero_pages.h"

#include <algorithm>

#include <sys/mman.h>

#include "base/error.h"

namespace hearth {

ZeroPages ZeroPages::map(int64_t bytes) {
  const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  void* memory =
      ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    fail(Code::kResourceExhausted, "no address space for a tensor of ", bytes, " bytes");
  std::shared_ptr<const void> owner(memory, [size](void* p) { ::munmap(p, size); });
  return {{static_cast<const std::byte*>(memory), static_cast<size_t>(bytes)}, std::move(owner)};
}

}  // namespace hearth
