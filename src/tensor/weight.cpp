#include "tensor/weight.h"

#include <utility>

#include "base/error.h"

namespace hearth {
namespace {

bool is_plain_float(DType t) { return t == DType::kF32 || t == DType::kBF16 || t == DType::kF16; }

}  // namespace

Weight Weight::dense(Tensor w) {
  require(w.is_defined() && w.ndim() == 2 && is_plain_float(w.dtype()),
          "weight: a dense matrix is [out, in] in F32, BF16 or F16, not ", describe(w));
  Weight r;
  r.kind_ = Kind::kDense;
  r.out_ = w.dim(0);
  r.in_ = w.dim(1);
  r.data_ = std::move(w);
  return r;
}

Weight Weight::affine(Tensor packed, Tensor scales, Tensor biases, codec::AffineFormat format) {
  require(codec::is_valid(format), "weight: no affine format has ", format.bits,
          " bits in groups of ", format.group);
  require(packed.is_defined() && packed.ndim() == 2 && packed.dtype() == DType::kU32,
          "weight: packed codes are U32 [out, words], not ", describe(packed));
  require(scales.is_defined() && scales.ndim() == 2 && is_plain_float(scales.dtype()),
          "weight: scales are F32, BF16 or F16 [out, groups], not ", describe(scales));
  require(
      biases.is_defined() && biases.dtype() == scales.dtype() && biases.shape() == scales.shape(),
      "weight: biases are ", describe(biases), ", scales are ", describe(scales));
  const int64_t out = packed.dim(0);
  const int64_t groups = scales.dim(1);
  require(scales.dim(0) == out, "weight: ", out, " rows of codes and ", scales.dim(0),
          " rows of scales");
  // Groups of 32 or more make whole words, so the row's length follows from the scales without loss.
  require(groups <= (int64_t{1} << 40) / format.group &&
              packed.dim(1) == codec::packed_words(groups * format.group, format.bits),
          "weight: rows of ", packed.dim(1), " words do not hold ", groups, " groups of ",
          format.group, " codes of ", format.bits, " bits");
  Weight r;
  r.kind_ = Kind::kAffine;
  r.out_ = out;
  r.in_ = groups * format.group;
  r.data_ = std::move(packed);
  r.scales_ = std::move(scales);
  r.biases_ = std::move(biases);
  r.format_ = format;
  return r;
}

int64_t Weight::bytes() const {
  if (kind_ == Kind::kNone) return 0;
  return data_.bytes() + (is_affine() ? scales_.bytes() + biases_.bytes() : 0);
}

double Weight::bits_per_weight() const {
  const int64_t count = out_ * in_;
  return count == 0 ? 0.0 : 8.0 * static_cast<double>(bytes()) / static_cast<double>(count);
}

Weight Weight::slice_rows(int64_t begin, int64_t count) const {
  require(is_defined() && begin >= 0 && count >= 0 && begin <= out_ && count <= out_ - begin,
          "weight: no rows ", begin, " to ", begin + count, " in ", out_);
  const auto cut = [&](const Tensor& t) { return t.part(begin * t.dim(1), {count, t.dim(1)}); };
  if (is_dense()) return dense(cut(data_));
  return affine(cut(data_), cut(scales_), cut(biases_), format_);
}

}  // namespace hearth
