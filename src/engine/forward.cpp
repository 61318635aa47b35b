#include "engine/forward.h"

#include <vector>

#include "base/error.h"
#include "kv/step.h"
#include "tensor/ops/shape.h"

namespace hearth {

Tensor forward(const Model& model, const PagePool& pool, std::span<const ForwardSlice> slices) {
  std::vector<int32_t> tokens;
  std::vector<int32_t> wanted;  // rows whose logits are asked for
  std::vector<Slice> step_slices;
  for (const ForwardSlice& s : slices) {
    const int64_t first = static_cast<int64_t>(tokens.size());
    const int64_t rows = static_cast<int64_t>(s.tokens.size());
    // Pages reserved by earlier slices stay with their sequence; they are only room, not content.
    if (!s.state->reserve(rows)) {
      fail(Code::kResourceExhausted, "KV cache: no room for ", rows, " more tokens; ",
           pool.used_bytes(), " of ", pool.budget_bytes(), " bytes are in use");
    }
    step_slices.push_back({s.state, first, rows});
    tokens.insert(tokens.end(), s.tokens.begin(), s.tokens.end());
    for (int64_t i = s.logits == LogitsOf::kAll ? 0 : rows - 1;
         s.logits != LogitsOf::kNone && i < rows; ++i)
      wanted.push_back(static_cast<int32_t>(first + i));
  }
  const StepContext step(pool, tokens, step_slices);
  const Tensor hidden = model.hidden(step);  // [T, H]
  for (const ForwardSlice& s : slices) s.state->advance(static_cast<int64_t>(s.tokens.size()));
  if (wanted.empty()) return Tensor::empty({0, model.vocab_size()});
  const int64_t rows = static_cast<int64_t>(wanted.size());
  const Tensor chosen =
      rows == hidden.dim(0) ? hidden : take_rows(hidden, Tensor::from(wanted, {rows}));  // [R, H]
  return model.logits(chosen);
}

}  // namespace hearth
