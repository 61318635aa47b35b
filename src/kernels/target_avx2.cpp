// x86 with AVX2, FMA and F16C; built with those flags. Exports one symbol, kAvx2: a script checks it.
#include <immintrin.h>
#include "kernels/table.h"

namespace hearth::kernels {
namespace {

// clang-format off: the order matters, each file uses the ones before it
#include "kernels/vec_avx2.inc"
#include "kernels/codes_avx2.inc"
#include "kernels/wide_pair.inc"
#include "kernels/wide.inc"
#include "kernels/functions.inc"

// 16 registers: 6 rows x 1 Wide are 12 accumulators, 2 for the page, 1 broadcast.
constexpr int64_t kTileRows = 6;
constexpr int wides_for_rows(int rows) { return rows <= 1 ? 4 : rows <= 3 ? 2 : 1; }

// Bodies.
#include "kernels/attend_tiles.inc"
#include "kernels/attend.inc"
#include "kernels/attend_merge.inc"
#include "kernels/elementwise.inc"
#include "kernels/norm.inc"
#include "kernels/rope.inc"
#include "kernels/softmax.inc"
#include "kernels/linear_rows.inc"
#include "kernels/linear_block_vec.inc"
#include "kernels/linear.inc"
#include "kernels/linear_dx.inc"
#include "kernels/activations_avx2.inc"
#include "kernels/affine_sums_avx2.inc"
#include "kernels/affine_gemv_avx2.inc"
#include "kernels/affine_pack_avx2.inc"
#include "kernels/affine_tile_avx2.inc"
#include "kernels/affine_dispatch_avx2.inc"
// clang-format on

}  // namespace

const KernelTable kAvx2 = {
    .target = "avx2",
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
