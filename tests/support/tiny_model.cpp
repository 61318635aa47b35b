#include "support/tiny_model.h"

#include "checkpoint/checkpoint.h"

namespace hearth::test_support {

Json tiny_config(const TinyShape& s) {
  Json j = Json::object({{"model_type", s.model_type},
                         {"num_hidden_layers", s.layers},
                         {"hidden_size", s.hidden},
                         {"intermediate_size", s.intermediate},
                         {"num_attention_heads", s.heads},
                         {"num_key_value_heads", s.kv_heads},
                         {"head_dim", s.head_dim},
                         {"vocab_size", s.vocab},
                         {"rms_norm_eps", 1e-6},
                         {"rope_theta", 10000.0},
                         {"max_position_embeddings", 4096},
                         {"tie_word_embeddings", s.is_tied},
                         {"eos_token_id", 0}});
  if (s.window > 0) {
    Json types = Json::array();
    for (int64_t i = 0; i < s.layers; ++i)
      types.push_back(i % 2 == 0 ? "full_attention" : "sliding_attention");
    j.set("layer_types", std::move(types));
    j.set("sliding_window", s.window);
  }
  return j;
}

LoadedModel make_tiny_model(const std::filesystem::path& folder, const Json& config,
                            const MakeCheckpointOptions& options) {
  Checkpoint blueprint = Checkpoint::blueprint(config);
  make_model(blueprint);
  make_checkpoint(folder, config, blueprint.expected(), options);
  return load_model(folder);
}

}  // namespace hearth::test_support
