// Loss and gradients of every parameter through the ordinary model code under a tape, against the reference's.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "checkpoint/safetensors.h"
#include "kv/attention_state.h"
#include "kv/page_pool.h"
#include "kv/step.h"
#include "models/registry.h"
#include "support/paths.h"
#include "tensor/ops/loss.h"
#include "tensor/ops/shape.h"
#include "tensor/tape.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

// The batch [B, L] as packed sequences of L - 1 inputs, with the target and weight of each row.
struct PackedBatch {
  int64_t rows_per_sequence = 0;
  std::vector<int32_t> inputs;
  std::vector<int32_t> targets;
  std::vector<float> weights;  // 1 / counted tokens, or 0
};

// Target position s, counted from 1, counts when lengths[0] <= s <= lengths[1].
PackedBatch pack(const Tensor& batch, const Tensor& lengths) {
  PackedBatch p{.rows_per_sequence = batch.dim(1) - 1, .inputs = {}, .targets = {}, .weights = {}};
  float counted = 0;
  for (int64_t b = 0; b < batch.dim(0); ++b) {
    const int32_t* row = batch.data<int32_t>() + b * batch.dim(1);
    const int32_t* range = lengths.data<int32_t>() + b * 2;
    for (int64_t s = 1; s < batch.dim(1); ++s) {
      p.inputs.push_back(row[s - 1]);
      p.targets.push_back(row[s]);
      p.weights.push_back(range[0] <= s && s <= range[1] ? 1.0F : 0.0F);
      counted += p.weights.back();
    }
  }
  for (float& w : p.weights) w /= counted;
  return p;
}

void check_gradients(const fs::path& folder) {
  CAPTURE(folder.string());
  const SafetensorsFile golden = SafetensorsFile::open(folder / "golden.safetensors");
  const LoadedModel loaded = load_model(folder);
  const PackedBatch batch = pack(golden.tensor("sft.batch"), golden.tensor("sft.lengths"));
  const int64_t rows = static_cast<int64_t>(batch.inputs.size());

  PagePool pool(loaded.model->cache_layout(), DType::kF32, 64 << 20);
  std::vector<AttentionState> states;
  std::vector<Slice> slices;
  for (int64_t first = 0; first < rows; first += batch.rows_per_sequence) states.emplace_back(pool);
  for (size_t i = 0; i < states.size(); ++i) {
    REQUIRE(states[i].reserve(batch.rows_per_sequence));
    slices.push_back(
        {&states[i], static_cast<int64_t>(i) * batch.rows_per_sequence, batch.rows_per_sequence});
  }
  const StepContext step(pool, batch.inputs, slices);

  Tape tape;
  for (const Parameter& p : loaded.model->parameters().entries()) tape.watch(p.trainable());
  const Tensor logits = loaded.model->logits(loaded.model->hidden(step));
  const Tensor loss = cross_entropy(logits, Tensor::from(batch.targets, {rows}),
                                    Tensor::from(batch.weights, {rows}));
  const float expected_loss = golden.tensor("full.loss").item();
  CHECK(std::abs(loss.item() - expected_loss) <= 1e-5F * std::abs(expected_loss));

  const Gradients gradients = tape.backward(loss);
  int64_t compared = 0;
  for (const TensorInfo& info : golden.tensors()) {
    constexpr std::string_view kPrefix = "full.grad.";
    if (!info.name.starts_with(kPrefix)) continue;
    CAPTURE(info.name);
    const Parameter* parameter = loaded.model->parameters().find(info.name.substr(kPrefix.size()));
    REQUIRE(parameter != nullptr);
    const Tensor expected = golden.tensor(info);
    const Tensor ours = gradients.of(parameter->trainable());
    REQUIRE(ours.size() == expected.size());
    float largest = 0;
    float error = 0;
    for (int64_t i = 0; i < ours.size(); ++i) {
      largest = std::max(largest, std::abs(expected.data<float>()[i]));
      error = std::max(error, std::abs(expected.data<float>()[i] - ours.data<float>()[i]));
    }
    CHECK(error <= 1e-4F * largest + 1e-6F);
    ++compared;
  }
  CHECK(compared == static_cast<int64_t>(loaded.model->parameters().entries().size()));
}

TEST_CASE("full fine-tuning gradients of llama and qwen3 equal the reference's") {
  const fs::path root = test_support::source_dir() / "tests" / "golden" / "train";
  check_gradients(root / "train-llama");
  check_gradients(root / "train-qwen3");
}

}  // namespace
}  // namespace hearth
