// x86 with AVX-512 (F, BW, DQ, VL, VNNI, BF16); built with those flags. Exports one symbol, kAvx512.

// g++ 12 takes the intrinsics' own undefined operands for ours (gcc.gnu.org/PR105593, fixed in 13).
#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop

#include "kernels/table.h"

namespace hearth::kernels {
namespace {

// clang-format off: the order matters, each file uses the ones before it
#include "kernels/vec_avx2.inc"
#include "kernels/codes_avx2.inc"
#include "kernels/wide_avx512.inc"
#include "kernels/wide.inc"
#include "kernels/functions.inc"

// 32 registers: 6 rows x 4 Wides are 24 accumulators, 4 for the page, 1 broadcast.
constexpr int64_t kTileRows = 6;
constexpr int wides_for_rows(int) { return 4; }

// Bodies.
#include "kernels/attend_tiles.inc"
#include "kernels/attend.inc"
#include "kernels/attend_merge.inc"
#include "kernels/elementwise.inc"
#include "kernels/norm.inc"
#include "kernels/rope.inc"
#include "kernels/softmax.inc"
#include "kernels/linear_rows.inc"
#include "kernels/linear_block_avx512.inc"
#include "kernels/linear.inc"
#include "kernels/linear_dx.inc"
#include "kernels/activations_avx2.inc"
#include "kernels/affine_sums_avx2.inc"
#include "kernels/affine_gemv_avx2.inc"
#include "kernels/affine_pack_avx2.inc"
#include "kernels/affine_tile_avx512.inc"
#include "kernels/affine_dispatch_avx2.inc"
// clang-format on

}  // namespace

const KernelTable kAvx512 = {
    .target = "avx512",
    .quantize_activations = quantize_activations,
    .affine_linear_fast = affine_linear_fast,
    .affine_linear_exact = affine_linear_exact,
    .affine_linear_dx = affine_linear_dx,
    .affine_dequantize = affine_dequantize,
    .attend = attend,
    .attend_range = attend_range,
    .attend_merge = attend_merge,
    .append_kv = append_kv,
    .dense_linear = dense_linear,
    .dense_linear_dx = dense_linear_dx,
    .exp = unary_exp,
    .sigmoid = unary_sigmoid,
    .tanh = unary_tanh,
    .silu = unary_silu,
    .gelu_tanh = unary_gelu_tanh,
    .gelu_erf = unary_gelu_erf,
    .add = binary_add,
    .mul = binary_mul,
    .swiglu = binary_swiglu,
    .geglu = binary_geglu,
    .gather_rows = gather_rows,
    .rms_norm = rms_norm,
    .layer_norm = layer_norm,
    .rope_table = rope_table,
    .rope = rope,
    .softmax = softmax,
    .logsumexp = logsumexp,
    .argmax = argmax,
};

}  // namespace hearth::kernels
