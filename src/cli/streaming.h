// Runs one generation to its end and hands out its text as it comes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "base/json.h"
#include "engine/engine.h"
#include "text/tokenizer.h"

namespace hearth::cli {

struct Session;

struct StreamResult {
  std::string text;
  double first_token_seconds = 0;  // from the first step to the first token: the prefill
  double total_seconds = 0;

  // {"prompt_seconds", "generate_seconds", "prompt_tokens_per_second", ...}, for --json.
  Json timings() const;
  // "5 prompt tokens in 0.3 ms, 64 tokens in 9 ms (7,111 tokens/s), 2 threads, avx2, stop"
  std::string summary(const Generation& generation, const Session& session) const;

  int64_t prompt_tokens = 0;
  int64_t generated_tokens = 0;
  int threads = 0;
};

// Steps the engine until the generation has finished; Ctrl-C cancels it. `emit` gets whole characters. `before` are ids
// whose text the answer goes on from (a continued prompt): a word that starts with a space keeps it.
StreamResult stream(Engine& engine, const Generation& generation, const Tokenizer& tokenizer,
                    std::span<const int32_t> before, function_ref<void(std::string_view)> emit);

}  // namespace hearth::cli
