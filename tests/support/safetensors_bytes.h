// Safetensors files by hand, right or wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

namespace hearth::test_support {

// The bytes of a file: a length (that of `header` unless given), the header as it is, and
// data_bytes bytes of data 0, 1, 2, ...
inline std::string safetensors_bytes(std::string_view header, int64_t data_bytes,
                                     uint64_t claimed_length) {
  std::string out(sizeof claimed_length, '\0');
  std::memcpy(out.data(), &claimed_length, sizeof claimed_length);
  out += header;
  for (int64_t i = 0; i < data_bytes; ++i) out += static_cast<char>(i);
  return out;
}
inline std::string safetensors_bytes(std::string_view header, int64_t data_bytes) {
  return safetensors_bytes(header, data_bytes, header.size());
}

inline void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace hearth::test_support
