// Random affine matrices for tests of kernels and ops. Buffers have exactly the size of the format, so that a
// sanitizer sees any read beyond them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "base/half.h"
#include "base/random.h"
#include "codec/affine.h"
#include "kernels/affine_linear.h"

namespace hearth::test_support {

// Uniform codes; scales around +-0.05, and biases that put the middle code near 0, rounded to scale_dtype.
class AffineMatrix {
 public:
  AffineMatrix(int64_t rows, int64_t cols, codec::AffineFormat format, DType scale_dtype,
               SplitMix64& rng)
      : rows_(rows), cols_(cols), format_(format), dtype_(scale_dtype) {
    const int64_t words = rows * codec::packed_words(cols, format.bits);
    packed_ = std::make_unique<uint32_t[]>(static_cast<size_t>(words));
    for (int64_t i = 0; i < words; ++i)
      packed_[static_cast<size_t>(i)] = static_cast<uint32_t>(rng.next() >> 32);
    for (int64_t i = 0; i < rows * (cols / format.group); ++i) {
      const float s = (rng.next() % 4 == 0 ? -0.1F : 0.1F) * (0.1F + rng.uniform());
      const float middle = static_cast<float>((1 << format.bits) - 1) * 0.5F;
      scales_.push_back(s);
      biases_.push_back(-s * (middle + 0.5F * rng.normal()));
    }
    store();
  }

  // Overwrites one group's scale and bias (rounded to the stored dtype).
  void set(int64_t row, int64_t group, float scale, float bias) {
    const size_t at = static_cast<size_t>(row * (cols_ / format_.group) + group);
    scales_[at] = scale;
    biases_[at] = bias;
    store();
  }

  kernels::AffineView view() const {
    return {packed_.get(),
            scale_bytes_.get(),
            bias_bytes_.get(),
            dtype_,
            format_.bits,
            format_.group,
            rows_,
            cols_};
  }

  // By codec::dequantize_row, the reference of every kernel.
  std::vector<float> dequantized() const {
    std::vector<float> w(static_cast<size_t>(rows_ * cols_));
    const int64_t groups = cols_ / format_.group;
    for (int64_t n = 0; n < rows_; ++n) {
      codec::dequantize_row(packed_.get() + n * codec::packed_words(cols_, format_.bits),
                            &scales_[static_cast<size_t>(n * groups)],
                            &biases_[static_cast<size_t>(n * groups)], cols_, format_,
                            &w[static_cast<size_t>(n * cols_)]);
    }
    return w;
  }

 private:
  void store() {
    scale_bytes_ = stored(scales_);
    bias_bytes_ = stored(biases_);
  }

  // Rounds the values in place and returns their bytes.
  std::unique_ptr<uint16_t[]> stored(std::vector<float>& values) const {
    const size_t halves = dtype_ == DType::kF32 ? 2 : 1;
    auto bytes = std::make_unique<uint16_t[]>(values.size() * halves);
    for (size_t i = 0; i < values.size(); ++i) {
      if (dtype_ == DType::kBF16) {
        bytes[i] = to_bf16(values[i]).bits;
        values[i] = to_float(bf16{bytes[i]});
      } else if (dtype_ == DType::kF16) {
        bytes[i] = to_f16(values[i]).bits;
        values[i] = to_float(f16{bytes[i]});
      } else {
        const uint32_t word = std::bit_cast<uint32_t>(values[i]);
        bytes[2 * i] = static_cast<uint16_t>(word);
        bytes[2 * i + 1] = static_cast<uint16_t>(word >> 16);
      }
    }
    return bytes;
  }

  int64_t rows_, cols_;
  codec::AffineFormat format_;
  DType dtype_;
  std::unique_ptr<uint32_t[]> packed_;
  std::vector<float> scales_, biases_;
  std::unique_ptr<uint16_t[]> scale_bytes_, bias_bytes_;
};

// Scratch of a kernel: 64-byte aligned, filled with garbage.
class Scratch {
 public:
  explicit Scratch(int64_t bytes)
      : memory_(static_cast<std::byte*>(
            ::operator new(static_cast<size_t>(bytes), std::align_val_t{64}))) {
    for (int64_t i = 0; i < bytes; ++i) memory_[i] = std::byte{0xFF};
  }
  ~Scratch() { ::operator delete(memory_, std::align_val_t{64}); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::byte* get() const { return memory_; }

 private:
  std::byte* memory_;
};

}  // namespace hearth::test_support
