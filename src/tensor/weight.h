// A matrix of parameters as it lies in the checkpoint: a closed type that only linear(), embedding() and
// dequantize() (ops/linear.h) accept. A value; copies share the bytes, which are never written.
#pragma once

#include <cstdint>

#include "codec/affine.h"
#include "tensor/tensor.h"

namespace hearth {

struct Weight {
  enum class Kind { kNone, kDense, kAffine };

  // None: refused by every op. Lets a struct hold a Weight that is loaded later.
  Weight() = default;

  //   w  [out, in]  f32, bf16 or f16
  // Throws kInvalidArgument for another rank or dtype.
  static Weight dense(Tensor w);

  // MLX's affine quantization (spec/quantization.md, 1): w = scale * code + bias per group of the row.
  //   packed  [out, in * bits / 32]  u32
  //   scales, biases  [out, in / group]  f32, bf16 or f16, both alike
  // Throws kInvalidArgument when bits, group or the three shapes do not fit each other.
  static Weight affine(Tensor packed, Tensor scales, Tensor biases, codec::AffineFormat format);

  Kind kind() const { return kind_; }
  bool is_defined() const { return kind_ != Kind::kNone; }
  bool is_dense() const { return kind_ == Kind::kDense; }
  bool is_affine() const { return kind_ == Kind::kAffine; }

  int64_t out() const { return out_; }  // rows N
  int64_t in() const { return in_; }    // columns K
  Shape shape() const { return {out_, in_}; }

  // The parts. data() is w or packed; scales() and biases() are undefined for a dense weight.
  const Tensor& data() const { return data_; }
  const Tensor& scales() const { return scales_; }
  const Tensor& biases() const { return biases_; }
  codec::AffineFormat format() const { return format_; }

  int64_t bytes() const;           // of all parts
  double bits_per_weight() const;  // 8 * bytes / (out * in); 0 for an empty matrix

  // Rows [begin, begin + count) as a weight of their own, without a copy. Throws kInvalidArgument.
  Weight slice_rows(int64_t begin, int64_t count) const;

 private:
  Kind kind_ = Kind::kNone;
  int64_t out_ = 0;
  int64_t in_ = 0;
  Tensor data_, scales_, biases_;
  codec::AffineFormat format_{};
};

}  // namespace hearth
