// The JSON header of a safetensors file (https://github.com/huggingface/safetensors, "Format").
//
// Parsed by a scanner of its own rather than base/json.h: a hostile header of 100 MB must not
// become a tree of gigabytes, duplicate names must be seen, and the first fault must be named by
// byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.h"

namespace hearth {

// One tensor of a safetensors file.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;  // at most kMaxSafetensorsRank axes, each >= 0
  int64_t begin_bytes =
      0;  // offsets into the data section; end - begin is exactly what dtype and shape need
  int64_t end_bytes = 0;

  int64_t size_bytes() const { return end_bytes - begin_bytes; }
  int64_t elements() const { return size_bytes() / bytes_of(dtype); }
};

inline constexpr int64_t kMaxSafetensorsHeaderBytes =
    100'000'000;  // the limit of the reference implementation
inline constexpr int64_t kMaxSafetensorsRank = 8;

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;                            // sorted by name
  std::vector<std::pair<std::string, std::string>> metadata;  // "__metadata__", in file order
};

// Parses and checks a whole header: JSON, known dtypes, shapes that don't overflow, byte counts
// that match, and ranges that tile [0, data_bytes) without gap, overlap or rest. `file` names the
// file in messages. Throws kCorruptData, or kUnsupported for a dtype that the format knows and we
// don't.
SafetensorsHeader parse_safetensors_header(std::string_view json, int64_t data_bytes,
                                           const std::string& file);

// A name from outside, fit for a message: control characters replaced, at most 120 bytes.
std::string printable(std::string_view name);

// "[2, 3]"
std::string shape_text(const std::vector<int64_t>& shape);

}  // namespace hearth
