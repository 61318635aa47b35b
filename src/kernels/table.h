// All that the rest of the program sees of instruction sets: one table of kernels per target.
#pragma once

#include "kernels/activations.h"
#include "kernels/affine_fast.h"
#include "kernels/affine_linear.h"
#include "kernels/attend.h"
#include "kernels/dense_linear.h"
#include "kernels/elementwise.h"
#include "kernels/gather.h"
#include "kernels/norm.h"
#include "kernels/rope.h"
#include "kernels/softmax.h"

namespace hearth::kernels {

// Members in the order of the header files. A kernel is stateless and may run on any thread.
struct KernelTable {
  const char* target;

  // activations.h
  QuantizeActivationsFn* quantize_activations;
  // affine_fast.h
  AffineLinearFastFn* affine_linear_fast;
  // affine_linear.h
  AffineLinearExactFn* affine_linear_exact;
  AffineLinearDxFn* affine_linear_dx;
  AffineDequantizeFn* affine_dequantize;
  // attend.h
  AttendFn* attend;
  AttendRangeFn* attend_range;
  AttendMergeFn* attend_merge;
  AppendKvFn* append_kv;
  // dense_linear.h
  DenseLinearFn* dense_linear;
  DenseLinearDxFn* dense_linear_dx;
  // elementwise.h
  UnaryFn* exp;
  UnaryFn* sigmoid;
  UnaryFn* tanh;
  UnaryFn* silu;
  UnaryFn* gelu_tanh;
  UnaryFn* gelu_erf;
  BinaryFn* add;
  BinaryFn* mul;
  BinaryFn* swiglu;
  BinaryFn* geglu;
  // gather.h
  GatherRowsFn* gather_rows;
  // norm.h
  RmsNormFn* rms_norm;
  LayerNormFn* layer_norm;
  // rope.h
  RopeTableFn* rope_table;
  RopeFn* rope;
  // softmax.h
  SoftmaxFn* softmax;
  LogSumExpFn* logsumexp;
  ArgmaxFn* argmax;
};

// The best table for this processor, chosen on first use and then fixed for the life of the process.
// HEARTH_TARGET=portable|avx2|avx512 forces one; forcing one that the build or the processor lacks throws
// kUnsupported, so that a forced run never measures something else.
const KernelTable& table();

// Every table that this processor can run, best first; the portable one is last. For tests and benches.
struct RunnableTables {
  const KernelTable* tables[4];
  int count;
};
RunnableTables runnable_tables();

extern const KernelTable kPortable;
#if defined(__x86_64__)
extern const KernelTable kAvx2;
extern const KernelTable kAvx512;
#endif

}  // namespace hearth::kernels
