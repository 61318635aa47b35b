#include "tensor/ops/products.h"

#include <algorithm>
#include <array>

#include "kernels/activations.h"
#include "kernels/affine_fast.h"
#include "kernels/table.h"

namespace hearth {
namespace {

// Output rows per task: a multiple of the kernels' 16, small enough to share, large enough to stream.
constexpr int64_t kRowsPerTask = 64;
// Input columns per task of a gradient.
constexpr int64_t kColumnsPerTask = 128;
// Activation rows of one task: enough that preparing a tile of weights is paid once for many.
constexpr int64_t kBlockRows = 512;
// Activation rows that one task quantizes.
constexpr int64_t kQuantizeGrain = 8;

constexpr int64_t round_up(int64_t n) { return (n + 63) / 64 * 64; }

// The distinct quantizations of the input that the products need.
struct Quantizations {
  std::array<codec::AffineFormat, kMaxProducts> formats;
  int count = 0;

  int index_of(codec::AffineFormat f) {
    for (int i = 0; i < count; ++i) {
      if (formats[static_cast<size_t>(i)] == f) return i;
    }
    formats[static_cast<size_t>(count)] = f;
    return count++;
  }
};

int64_t worker_bytes(const WeightForm& f) {
  if (!f.is_fast) return kernels::kLinearScratchBytes;
  return round_up(kernels::affine_linear_fast_scratch_bytes(f.in, f.format.group));
}

struct Input {
  const float* x;
  int64_t rows;
  int64_t width;

  int64_t blocks() const { return (rows + kBlockRows - 1) / kBlockRows; }
};

int64_t tiles_of(const Product& p) { return (p.form->out + kRowsPerTask - 1) / kRowsPerTask; }

// One task: output rows [begin, end) of one product, for `rows` activation rows from `first`.
struct Task {
  const Product* product;
  int64_t begin;
  int64_t end;
  int64_t first;
  int64_t rows;
};

Task task_at(std::span<const Product> products, const Input& in, int64_t index) {
  const int64_t first = index % in.blocks() * kBlockRows;
  const int64_t rows = std::min(kBlockRows, in.rows - first);
  int64_t tile = index / in.blocks();
  for (const Product& p : products) {
    if (tile < tiles_of(p))
      return {&p, tile * kRowsPerTask, std::min(p.form->out, (tile + 1) * kRowsPerTask), first,
              rows};
    tile -= tiles_of(p);
  }
  return {};
}

void run_exact(const Task& t, const Input& in, std::byte* scratch) {
  const WeightForm& f = *t.product->form;
  const float* x = in.x + t.first * in.width;
  float* y = t.product->y + t.first * f.out;
  if (f.is_dense) {
    kernels::table().dense_linear({.x = x,
                                   .w = t.product->parts[0].raw(),
                                   .w_dtype = f.dtype,
                                   .bias = t.product->bias,
                                   .y = y,
                                   .m = t.rows,
                                   .n_begin = t.begin,
                                   .n_end = t.end,
                                   .k = in.width,
                                   .ldx = in.width,
                                   .ldy = f.out,
                                   .scratch = scratch});
    return;
  }
  kernels::table().affine_linear_exact({.x = x,
                                        .w = f.view(t.product->parts),
                                        .bias = t.product->bias,
                                        .y = y,
                                        .m = t.rows,
                                        .n_begin = t.begin,
                                        .n_end = t.end,
                                        .ldx = in.width,
                                        .ldy = f.out,
                                        .scratch = scratch});
}

void run_fast(const Task& t, kernels::QuantizedActivations x, std::byte* scratch) {
  const WeightForm& f = *t.product->form;
  x.codes += t.first * x.code_stride;
  x.d += t.first * x.group_stride;
  x.sigma += t.first * x.group_stride;
  x.sums += t.first * x.group_stride;
  kernels::table().affine_linear_fast({.x = x,
                                       .w = f.view(t.product->parts),
                                       .bias = t.product->bias,
                                       .y = t.product->y + t.first * f.out,
                                       .m = t.rows,
                                       .n_begin = t.begin,
                                       .n_end = t.end,
                                       .ldy = f.out,
                                       .scratch = scratch});
}

}  // namespace

WeightForm WeightForm::of(const Weight& w, Numerics numerics) {
  return {.is_dense = w.is_dense(),
          .is_fast = w.is_affine() && numerics == Numerics::kFast,
          .dtype = w.is_dense() ? w.data().dtype() : w.scales().dtype(),
          .format = w.format(),
          .out = w.out(),
          .in = w.in()};
}

kernels::AffineView WeightForm::view(std::span<const Tensor> parts) const {
  return {.packed = parts[0].data<uint32_t>(),
          .scales = parts[1].raw(),
          .biases = parts[2].raw(),
          .scale_dtype = dtype,
          .bits = format.bits,
          .group = format.group,
          .rows = out,
          .cols = in};
}

int64_t products_scratch_bytes(std::span<const WeightForm> forms, int64_t rows,
                               const ComputeContext& compute) {
  int64_t per_worker = 0;
  int64_t quantized = 0;
  Quantizations q;
  for (const WeightForm& f : forms) {
    per_worker = std::max(per_worker, worker_bytes(f));
    if (!f.is_fast) continue;
    const int before = q.count;
    if (q.index_of(f.format) == before)
      quantized += round_up(kernels::quantized_activation_bytes(rows, f.in, f.format.group));
  }
  return per_worker * compute.workers() + quantized;
}

void run_products(std::span<const Product> products, const Tensor& x, std::span<std::byte> scratch,
                  const ComputeContext& compute) noexcept {
  const Input in{x.data<float>(), x.rows(), x.width()};
  int64_t per_worker = 0;
  int64_t tasks = 0;
  int64_t outputs = 0;
  for (const Product& p : products) {
    per_worker = std::max(per_worker, worker_bytes(*p.form));
    tasks += tiles_of(p) * in.blocks();
    outputs += p.form->out;
  }
  if (tasks == 0) return;

  std::array<kernels::QuantizedActivations, kMaxProducts> quantized{};
  std::array<int, kMaxProducts> slot{};
  Quantizations q;
  std::byte* memory = scratch.data() + per_worker * compute.workers();
  for (size_t i = 0; i < products.size(); ++i) {
    const WeightForm& f = *products[i].form;
    if (!f.is_fast) continue;
    const int before = q.count;
    slot[i] = q.index_of(f.format);
    if (slot[i] != before) continue;
    kernels::QuantizedActivations& to = quantized[static_cast<size_t>(before)];
    to = kernels::place_quantized_activations(memory, in.rows, in.width, f.format.bits,
                                              f.format.group);
    memory += round_up(kernels::quantized_activation_bytes(in.rows, in.width, f.format.group));
    compute.parallel_ranges(in.rows, kQuantizeGrain, in.rows * in.width,
                            [&](int64_t begin, int64_t end) {
                              kernels::table().quantize_activations({.x = in.x,
                                                                     .to = to,
                                                                     .m_begin = begin,
                                                                     .m_end = end,
                                                                     .k = in.width,
                                                                     .ldx = in.width});
                            });
  }

  compute.parallel_for(tasks, in.rows * in.width * outputs, [&](int64_t index, int worker) {
    const Task t = task_at(products, in, index);
    std::byte* own = scratch.data() + per_worker * worker;
    if (t.product->form->is_fast) {
      const auto i = static_cast<size_t>(t.product - products.data());
      run_fast(t, quantized[static_cast<size_t>(slot[i])], own);
    } else {
      run_exact(t, in, own);
    }
  });
}

void run_product_dx(const WeightForm& form, std::span<const Tensor> parts, const Tensor& dy,
                    Tensor& dx, std::span<std::byte> scratch,
                    const ComputeContext& compute) noexcept {
  const float* g = dy.data<float>();
  float* d = dx.mutable_data<float>();
  const int64_t rows = dy.dim(0);
  const int64_t blocks = (rows + kBlockRows - 1) / kBlockRows;
  const int64_t tasks = (form.in + kColumnsPerTask - 1) / kColumnsPerTask * blocks;
  compute.parallel_for(tasks, rows * form.in * form.out, [&](int64_t index, int worker) {
    const int64_t first = index % blocks * kBlockRows;
    const int64_t count = std::min(kBlockRows, rows - first);
    const int64_t begin = index / blocks * kColumnsPerTask;
    const int64_t end = std::min(form.in, begin + kColumnsPerTask);
    std::byte* own = scratch.data() + kernels::kLinearScratchBytes * worker;
    if (form.is_dense) {
      kernels::table().dense_linear_dx({.dy = g + first * form.out,
                                        .w = parts[0].raw(),
                                        .w_dtype = form.dtype,
                                        .dx = d + first * form.in,
                                        .m = count,
                                        .n = form.out,
                                        .k = form.in,
                                        .k_begin = begin,
                                        .k_end = end,
                                        .lddy = form.out,
                                        .lddx = form.in,
                                        .scratch = own});
    } else {
      kernels::table().affine_linear_dx({.dy = g + first * form.out,
                                         .w = form.view(parts),
                                         .dx = d + first * form.in,
                                         .m = count,
                                         .k_begin = begin,
                                         .k_end = end,
                                         .lddy = form.out,
                                         .lddx = form.in,
                                         .scratch = own});
    }
  });
}

Tensor product_dx(const WeightForm& form, std::span<const Tensor> parts, const Tensor& dy) {
  const ComputeContext& compute = current_compute();
  Tensor dx = Tensor::empty({dy.dim(0), form.in});
  const int64_t bytes = compute.workers() * kernels::kLinearScratchBytes;
  const StorageRef scratch(Storage::make(bytes));
  run_product_dx(form, parts, dy, dx, {scratch->data(), static_cast<size_t>(bytes)}, compute);
  return dx;
}

}  // namespace hearth
