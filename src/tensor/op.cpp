#include "tensor/op.h"

#include "base/error.h"

namespace hearth::detail {

Tensor apply(const Op& op, CloneOp clone, std::span<const Tensor> in) {
  for (size_t i = 0; i < in.size(); ++i) {
    require(in[i].is_defined(), op.name(), ": input ", i, " is undefined");
  }
  const ComputeContext& compute = current_compute();
  const OutputSpec spec = op.infer(in);
  Tensor out;
  if (spec.view_offset >= 0) {
    out = in[0].part(spec.view_offset, spec.shape);
  } else {
    out = Tensor::empty(spec.shape, spec.dtype);
    StorageRef scratch;
    const int64_t scratch_bytes = op.scratch_bytes(in, spec, compute);
    if (scratch_bytes > 0) scratch = StorageRef(Storage::make(scratch_bytes));
    op.run({in,
            out,
            {scratch ? scratch->data() : nullptr, static_cast<size_t>(scratch_bytes)},
            compute});
  }
  if (compute.recorder != nullptr) compute.recorder->record(op, clone, in, out);
  return out;
}

}  // namespace hearth::detail
