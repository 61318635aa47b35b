// Reading golden folders.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/dtype.h"

namespace hearth::cli {

// A prompt with a continuation that is fed token by token, and what is known of the logits.
struct GoldenCase {
  struct Row {
    int64_t position;           // logits after the token at this position
    std::vector<float> logits;  // [V]
  };
  std::string name;
  std::vector<int32_t> tokens;  // prompt, then the tokens to feed
  int64_t prompt_tokens = 0;
  std::vector<int32_t> greedy;  // greedy[i] = the choice after position prompt_tokens - 1 + i
  std::vector<Row> rows;
};

// `activation` tells which of the recorded arithmetics to compare with: for 16-bit checkpoints the one in f32.
// Throws kNotFound when the folder has neither golden.json nor goldens.json, kCorruptData.
std::vector<GoldenCase> read_golden_cases(const std::filesystem::path& folder, DType activation);

}  // namespace hearth::cli
