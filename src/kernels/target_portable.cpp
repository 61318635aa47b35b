// The reference that every other target is tested against, and the fallback where there is none better.
// Built with the baseline flags. Exports one symbol, kPortable.
#include "kernels/table.h"

namespace hearth::kernels {
namespace {

// clang-format off: the order matters, each file uses the ones before it
#include "kernels/vec_portable.inc"
#include "kernels/codes_portable.inc"
#include "kernels/wide_pair.inc"
#include "kernels/wide.inc"
#include "kernels/functions.inc"

constexpr int64_t kTileRows = 6;
constexpr int wides_for_rows(int) { return 1; }

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
#include "kernels/affine_fast_plain.inc"
// clang-format on

}  // namespace

const KernelTable kPortable = {
    .target = "portable",
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
