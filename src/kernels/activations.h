// Activations quantized to int8, one scale per row and group of the weights they will meet ("fast" numerics).
// One quantization serves every projection that reads the same rows with the same bits and group.
//
//   d     = max |x| / 127 over the group          a_k = round(x_k * (127 / max |x|)), half to even, in -127 .. 127
//   sum   = sum of a_k, exact                     sigma = d * sum
//
// sigma uses the quantized activations: then a product is exactly that of the weights with x^ = d a, and the
// rounding error of an activation meets the weight (around zero) instead of its unsigned code.
// A group with max |x| < 2^-100 counts as zero (d = 0). A group that holds NaN or infinity has a = 0 and
// d = sigma = NaN, so every output it touches is NaN.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hearth::kernels {

// Rows are padded to whole steps of the widest kernel: codes to code_stride bytes, d, sigma and sum to
// group_stride entries, all of the padding zero. The order of codes within a row is the target's own and
// depends on bits: an array made by one table, bits and group is only for products of the same three.
struct QuantizedActivations {
  int8_t* codes;  // [m, code_stride]
  float* d;       // [m, group_stride]
  float* sigma;   // [m, group_stride]
  int32_t* sums;  // [m, group_stride]
  int64_t code_stride;
  int64_t group_stride;
  int bits;
  int64_t group;
};

// Bytes that m rows of k activations take for that group; k is a multiple of group. 0 <= m, k and the result
// fits int64 for every shape that fits memory.
int64_t quantized_activation_bytes(int64_t m, int64_t k, int64_t group);

// Lays the arrays out in `memory`: 64-byte aligned, quantized_activation_bytes long, owned by the caller.
QuantizedActivations place_quantized_activations(std::byte* memory, int64_t m, int64_t k, int bits,
                                                 int64_t group);

// Quantizes rows m_begin .. m_end - 1 of x [m, k] f32, rows ldx floats apart. Every row by itself: any split.
struct QuantizeActivationsArgs {
  const float* x;
  QuantizedActivations to;
  int64_t m_begin;
  int64_t m_end;
  int64_t k;  // a multiple of to.group
  int64_t ldx;
};
using QuantizeActivationsFn = void(const QuantizeActivationsArgs&) noexcept;

}  // namespace hearth::kernels
