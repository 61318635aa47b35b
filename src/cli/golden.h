// Golden folders: a checkpoint beside recorded outputs of the reference implementation.
//
// golden.json + golden.safetensors: prompts with logits at every position and along a greedy continuation
// (tests/golden/models/README.md); goldens.json: logits at named positions and greedy ids (tests/golden/starters).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "tensor/compute.h"

namespace hearth::cli {

struct GoldenOptions {
  int threads = 0;
  Numerics numerics = Numerics::kExact;
};

// What one prompt gave.
struct GoldenPromptReport {
  std::string name;
  int64_t rows = 0;      // of logits compared
  double max_error = 0;  // largest absolute difference of a logit
  double mean_kl = 0;    // of reference from ours, over rows
  int64_t greedy_compared =
      0;                     // choices whose margin exceeds twice the error (exact) or 0.3 (fast)
  int64_t greedy_equal = 0;  // of those
  // Are the logits the same bits when the prompt is read whole, in chunks of 7, and packed with others?
  bool has_same_bits = true;

  Json to_json() const;
};

struct GoldenReport {
  std::string folder;
  std::vector<GoldenPromptReport> prompts;
  std::string error;  // why it could not be run; "" = it ran
  Numerics numerics = Numerics::kExact;

  double max_error() const;
  double mean_kl() const;
  // exact: every logit within 1e-3 and greedy tokens equal; fast: mean KL within 2e-3 and clear greedy choices equal;
  // both: the same bits every way.
  bool has_passed() const;
  Json to_json() const;
};

// Throws what opening the checkpoint throws, and kCorruptData for a golden file that doesn't fit it.
GoldenReport verify_golden(const std::filesystem::path& folder, const GoldenOptions& options);

}  // namespace hearth::cli
