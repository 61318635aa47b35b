#include "checkpoint/safetensors_header.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/checked.h"
#include "base/error.h"
#include "checkpoint/header_scanner.h"

namespace hearth {
namespace {

constexpr std::string_view kAgain = "; the file is damaged, get it again";

constexpr std::array kTypes = {DType::kF32,    DType::kBF16,   DType::kF16,  DType::kF64,
                               DType::kF8E4M3, DType::kF8E5M2, DType::kBool, DType::kU8,
                               DType::kI8,     DType::kU16,    DType::kI16,  DType::kU32,
                               DType::kI32,    DType::kU64,    DType::kI64};

// Types of the format that we have no use for yet.
constexpr std::array<std::string_view, 7> kForeignTypes = {
    "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "F6_E2M3", "F6_E3M2", "F4", "C64"};

DType parse_dtype(std::string_view text, const std::string& tensor, const std::string& file) {
  for (const DType t : kTypes) {
    if (name(t) == text) return t;
  }
  if (std::ranges::find(kForeignTypes, text) != kForeignTypes.end()) {
    fail(Code::kUnsupported, file, ": tensor ", printable(tensor), " is stored as ", text,
         ", which is not supported yet; use a checkpoint in BF16, F16, F32 or MLX affine "
         "quantization");
  }
  fail(Code::kCorruptData, file, ": tensor ", printable(tensor), " has the unknown dtype \"",
       printable(text), "\"", kAgain);
}

void parse_shape(HeaderScanner& s, TensorInfo& info) {
  s.expect('[', "before a shape");
  info.shape.clear();
  if (s.consume(']')) return;
  do {
    if (static_cast<int64_t>(info.shape.size()) == kMaxSafetensorsRank)
      s.fault("tensor " + printable(info.name) + " has more than 8 axes");
    info.shape.push_back(s.integer("an extent of the shape of " + printable(info.name)));
  } while (s.consume(','));
  s.expect(']', "after the shape of " + printable(info.name));
}

void parse_offsets(HeaderScanner& s, TensorInfo& info) {
  const std::string what = "data_offsets of tensor " + printable(info.name);
  s.expect('[', "before " + what);
  info.begin_bytes = s.integer(what);
  if (!s.consume(',')) s.fault(what + " must be two numbers, [begin, end]");
  info.end_bytes = s.integer(what);
  if (!s.consume(']')) s.fault(what + " must be two numbers, [begin, end]");
}

// The value of one tensor: {"dtype": ..., "shape": [...], "data_offsets": [begin, end]}.
void parse_tensor(HeaderScanner& s, TensorInfo& info, const std::string& file) {
  bool has_dtype = false, has_shape = false, has_offsets = false;
  const auto once = [&](bool& seen, const std::string& key) {
    if (seen) s.fault("tensor " + printable(info.name) + " has \"" + key + "\" twice");
    seen = true;
  };
  s.expect('{', "before the description of " + printable(info.name));
  if (!s.next_is('}')) {
    do {
      const std::string key = s.string("a key of " + printable(info.name));
      s.expect(':', "after a key of " + printable(info.name));
      if (key == "dtype") {
        once(has_dtype, key);
        info.dtype = parse_dtype(s.string("the dtype of " + printable(info.name)), info.name, file);
      } else if (key == "shape") {
        once(has_shape, key);
        parse_shape(s, info);
      } else if (key == "data_offsets") {
        once(has_offsets, key);
        parse_offsets(s, info);
      } else {
        s.skip_value();
      }
    } while (s.consume(','));
  }
  s.expect('}', "after the description of " + printable(info.name));
  if (!has_dtype || !has_shape || !has_offsets)
    s.fault("tensor " + printable(info.name) + " needs dtype, shape and data_offsets");
}

void parse_metadata(HeaderScanner& s, SafetensorsHeader& header) {
  s.expect('{', "before __metadata__");
  if (s.consume('}')) return;
  do {
    std::string key = s.string("a key of __metadata__");
    s.expect(':', "after a key of __metadata__");
    std::string value = s.string("a value of __metadata__ (only strings are allowed)");
    header.metadata.emplace_back(std::move(key), std::move(value));
  } while (s.consume(','));
  s.expect('}', "after __metadata__");
}

void check_size(const TensorInfo& t, const std::string& file) {
  require_data(t.begin_bytes <= t.end_bytes, file, ": tensor ", printable(t.name),
               " has data_offsets [", t.begin_bytes, ", ", t.end_bytes,
               "], whose end lies before its begin", kAgain);
  const auto elements = checked_product(t.shape);
  const auto bytes = elements ? checked_mul(*elements, bytes_of(t.dtype)) : std::nullopt;
  require_data(bytes.has_value(), file, ": tensor ", printable(t.name), " has the shape ",
               shape_text(t.shape), ", which is larger than any file", kAgain);
  require_data(*bytes == t.size_bytes(), file, ": tensor ", printable(t.name), " (", t.dtype, " ",
               shape_text(t.shape), ") needs ", *bytes, " bytes, but its data_offsets [",
               t.begin_bytes, ", ", t.end_bytes, "] span ", t.size_bytes(), kAgain);
}

// The ranges must tile the data section: the format forbids holes, and an overlap or a rest is a
// damaged file.
void check_tiling(const std::vector<TensorInfo>& tensors, int64_t data_bytes,
                  const std::string& file) {
  std::vector<const TensorInfo*> by_place;
  by_place.reserve(tensors.size());
  for (const TensorInfo& t : tensors) by_place.push_back(&t);
  std::ranges::sort(by_place, [](const TensorInfo* a, const TensorInfo* b) {
    return std::pair(a->begin_bytes, a->end_bytes) < std::pair(b->begin_bytes, b->end_bytes);
  });
  int64_t at = 0;
  const TensorInfo* before = nullptr;
  for (const TensorInfo* t : by_place) {
    require_data(t->end_bytes <= data_bytes, file, ": tensor ", printable(t->name),
                 " ends at byte ", t->end_bytes, " of the data, but the file has only ", data_bytes,
                 "; it is truncated, get it again");
    require_data(t->begin_bytes >= at, file, ": tensor ", printable(t->name), " begins at byte ",
                 t->begin_bytes, " and overlaps ",
                 before != nullptr ? printable(before->name) : std::string(), ", which ends at ",
                 at, kAgain);
    require_data(t->begin_bytes == at, file, ": bytes ", at, " to ", t->begin_bytes,
                 " before tensor ", printable(t->name), " belong to no tensor", kAgain);
    at = t->end_bytes;
    before = t;
  }
  require_data(at == data_bytes, file, ": ", data_bytes - at,
               " bytes after the last tensor belong to no tensor", kAgain);
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr size_t kMaxBytes = 120;
  std::string out(text.substr(0, kMaxBytes));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20U || c == '\x7F') c = '?';
  }
  if (text.size() > kMaxBytes) out += "...";
  return out;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) out += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return out + "]";
}

SafetensorsHeader parse_safetensors_header(std::string_view json, int64_t data_bytes,
                                           const std::string& file) {
  HeaderScanner s(json, file);
  SafetensorsHeader header;
  bool has_metadata = false;
  if (!s.consume('{')) s.fault("not JSON: a header begins with '{'");
  if (!s.consume('}')) {
    do {
      TensorInfo info;
      info.name = s.string("a tensor name");
      s.expect(':', "after a tensor name");
      if (info.name == "__metadata__") {
        if (has_metadata) s.fault("__metadata__ stands there twice");
        has_metadata = true;
        parse_metadata(s, header);
        continue;
      }
      parse_tensor(s, info, file);
      check_size(info, file);
      header.tensors.push_back(std::move(info));
    } while (s.consume(','));
    s.expect('}', "at the end of the header");
  }
  s.expect_end();
  std::ranges::sort(header.tensors, {}, &TensorInfo::name);
  for (size_t i = 1; i < header.tensors.size(); ++i) {
    require_data(header.tensors[i - 1].name != header.tensors[i].name, file, ": tensor ",
                 printable(header.tensors[i].name), " stands in the header twice", kAgain);
  }
  check_tiling(header.tensors, data_bytes, file);
  return header;
}

}  // namespace hearth
