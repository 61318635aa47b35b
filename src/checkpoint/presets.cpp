// The model shapes that benchmarks use. Values: spec/models/llama.md and qwen3.md; "110m" is the
// shape of stories110M (karpathy/llama2.c).
#include <array>
#include <string>
#include <utility>

#include "base/error.h"
#include "checkpoint/make_checkpoint.h"

namespace hearth {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"110m", "llama-3.2-1b", "qwen3-0.6b"};

constexpr std::string_view k110m = R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "hidden_size": 768, "intermediate_size": 2048, "num_hidden_layers": 12,
  "num_attention_heads": 12, "num_key_value_heads": 12, "head_dim": 64,
  "vocab_size": 32000, "max_position_embeddings": 4096, "rms_norm_eps": 1e-05,
  "rope_theta": 10000.0, "rope_scaling": null, "hidden_act": "silu",
  "attention_bias": false, "mlp_bias": false, "tie_word_embeddings": true,
  "bos_token_id": 1, "eos_token_id": 2
})";

constexpr std::string_view kLlama1b = R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16,
  "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64,
  "vocab_size": 128256, "max_position_embeddings": 131072, "rms_norm_eps": 1e-05,
  "rope_theta": 500000.0, "rope_scaling": {"rope_type": "llama3", "factor": 32.0,
    "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
  "hidden_act": "silu", "attention_bias": false, "mlp_bias": false, "tie_word_embeddings": true,
  "bos_token_id": 128000, "eos_token_id": [128001, 128008, 128009]
})";

constexpr std::string_view kQwen06b = R"({
  "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3",
  "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28,
  "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
  "vocab_size": 151936, "max_position_embeddings": 40960, "rms_norm_eps": 1e-06,
  "rope_theta": 1000000, "rope_scaling": null, "hidden_act": "silu",
  "attention_bias": false, "tie_word_embeddings": true,
  "bos_token_id": 151643, "eos_token_id": 151645
})";

constexpr std::array<std::string_view, 3> kConfigs = {k110m, kLlama1b, kQwen06b};

}  // namespace

std::span<const std::string_view> preset_names() { return kNames; }

Json preset_config(std::string_view name) {
  std::string known;
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return Json::parse(kConfigs[i]);
    known += (i > 0 ? ", " : "") + std::string(kNames[i]);
  }
  fail(Code::kInvalidArgument, "there is no preset \"", name, "\"; known are ", known);
}

}  // namespace hearth
