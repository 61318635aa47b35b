// Law: a safetensors file of any bytes is refused with an Error or gives tensors that lie within
// it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "checkpoint/safetensors.h"

namespace hearth {
namespace {

void check(std::span<const std::byte> bytes) {
  const SafetensorsFile file = SafetensorsFile::parse(bytes, "fuzz", nullptr);
  int64_t total = file.header_bytes();
  for (const TensorInfo& info : file.tensors()) {
    const std::span<const std::byte> data = file.bytes(info);
    total += static_cast<int64_t>(data.size());
    HEARTH_CHECK(file.find(info.name) == &info, "a tensor that is listed is found");
    if (!data.empty()) {
      HEARTH_CHECK(data.data() >= bytes.data() && &data.back() <= &bytes.back(), "inside the file");
    }
    try {
      HEARTH_CHECK(file.tensor(info).bytes() == static_cast<int64_t>(data.size()), "whole");
    } catch (const Error& e) {
      if (e.code() == Code::kInternal) throw;  // more axes than a Tensor has
    }
  }
  HEARTH_CHECK(total == static_cast<int64_t>(bytes.size()), "header and tensors tile the file");
}

}  // namespace
}  // namespace hearth

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A heap block of exactly this size, so that AddressSanitizer sees a read beyond the end.
  const auto owner = std::make_unique<std::byte[]>(size);
  for (size_t i = 0; i < size; ++i) owner[i] = static_cast<std::byte>(data[i]);
  try {
    hearth::check({owner.get(), size});
  } catch (const hearth::Error& e) {
    if (e.code() == hearth::Code::kInternal) __builtin_trap();
  }
  return 0;
}
