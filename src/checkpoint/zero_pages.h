// Zeros that take no memory, for tensors that aren't there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace hearth {

// A read-only mapping that reads as zeros of any size, backed by the kernel's one zero page.
struct ZeroPages {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> keep_alive;

  // Throws kResourceExhausted when the address space doesn't hold so many.
  static ZeroPages map(int64_t bytes);
};

}  // namespace hearth
