// For the .cpp files of this folder: products of f32 rows with weights, over the kernels, spread over threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/affine_linear.h"
#include "tensor/compute.h"
#include "tensor/op.h"
#include "tensor/weight.h"

namespace hearth {

inline constexpr int kMaxProducts = 4;  // of one input in one go

// What an op keeps of a weight: everything but the bytes, which are inputs {w} or {packed, scales, biases}.
struct WeightForm {
  bool is_dense = true;
  bool is_fast = false;       // int8 activations
  DType dtype = DType::kF32;  // of the dense elements, or of the scales
  codec::AffineFormat format{};
  int64_t out = 0;
  int64_t in = 0;

  static WeightForm of(const Weight& w, Numerics numerics);
  kernels::AffineView view(std::span<const Tensor> parts) const;
};

struct Product {
  const WeightForm* form = nullptr;
  std::span<const Tensor> parts;  // the weight's bytes; may be followed by other inputs
  const float* bias = nullptr;    // [out] f32 or null
  float* y = nullptr;             // [rows, out]
};

int64_t products_scratch_bytes(std::span<const WeightForm> forms, int64_t rows,
                               const ComputeContext& compute);

// y = x W^T + bias for each product; x [..., in] f32. Activations are quantized once per distinct format.
void run_products(std::span<const Product> products, const Tensor& x, std::span<std::byte> scratch,
                  const ComputeContext& compute) noexcept;

// dx = dy W: dy [rows, out] -> [rows, in]. Scratch: kernels::kLinearScratchBytes per worker.
void run_product_dx(const WeightForm& form, std::span<const Tensor> parts, const Tensor& dy,
                    Tensor& dx, std::span<std::byte> scratch,
                    const ComputeContext& compute) noexcept;
Tensor product_dx(const WeightForm& form, std::span<const Tensor> parts, const Tensor& dy);

}  // namespace hearth
