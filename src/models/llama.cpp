// Llama and its close relatives: pre-norm decoder, rotary positions, grouped-query attention, SwiGLU.
// Serves model_type llama (mistral and iquestcoder are remapped to it), qwen2 and qwen3.
// Facts: spec/models/llama.md, qwen2.md, qwen3.md.
// Papers: Touvron et al. 2023 (arXiv:2302.13971); GQA, Ainslie et al. 2023 (arXiv:2305.13245); Qwen2
// (arXiv:2407.10671); Qwen3 (arXiv:2505.09388).
//
// Letters:  T tokens of this step   H hidden_size   I intermediate_size   Nq, Nkv query and KV heads   D head_dim
//   R rows whose logits are wanted   V vocab_size
#include "models/llama.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/layer_types.h"
#include "checkpoint/rope_config.h"
#include "nn/attend.h"
#include "nn/layers.h"
#include "nn/loader.h"
#include "tensor/ops/arithmetic.h"
#include "tensor/ops/rope.h"
#include "tensor/ops/shape.h"

namespace hearth {
namespace {

// ---- 1. Config: the keys of config.json under their own names.

struct LlamaConfig {
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;
  int64_t num_hidden_layers = 0;
  int64_t num_attention_heads = 0;
  int64_t num_key_value_heads = 0;
  int64_t head_dim = 0;
  int64_t vocab_size = 0;
  float rms_norm_eps = 0.0F;
  bool tie_word_embeddings = false;
  RopeConfig rope;
  std::vector<std::optional<int64_t>> windows;  // per layer; nullopt = full attention

  Bias qkv_bias = Bias::kNone;
  Bias o_bias = Bias::kNone;
  Bias mlp_bias = Bias::kNone;
  bool has_qk_norm = false;  // RMS norm of each query and key head before RoPE
};

// Bounds that keep every product of two sizes far from overflow; no real model comes near.
constexpr Json::IntRange kSize{.min = 1, .max = 1 << 24};
constexpr Json::IntRange kHeads{.min = 1, .max = 1 << 16};

// What all of them read in the same way.
LlamaConfig parse_sizes(const Json& j) {
  LlamaConfig c;
  c.hidden_size = j.require_int("hidden_size", kSize);
  c.intermediate_size = j.require_int("intermediate_size", kSize);
  c.num_hidden_layers = j.require_int("num_hidden_layers", {.min = 1, .max = kMaxLayers});
  c.num_attention_heads = j.require_int("num_attention_heads", kHeads);
  c.num_key_value_heads = j.get_int("num_key_value_heads", c.num_attention_heads, kHeads);
  require_data(c.num_attention_heads % c.num_key_value_heads == 0, "\"num_attention_heads\" (",
               c.num_attention_heads, ") is not a multiple of \"num_key_value_heads\" (",
               c.num_key_value_heads, ")");
  c.vocab_size = j.require_int("vocab_size", kSize);
  c.rms_norm_eps = j.require_float("rms_norm_eps");
  require_data(c.rms_norm_eps >= 0.0F && c.rms_norm_eps <= 1.0F,
               "\"rms_norm_eps\": ", c.rms_norm_eps,
               " is out of range; it is a small number such as 1e-6");
  const std::string activation = j.get_string("hidden_act", "silu");
  if (activation != "silu" && activation != "swish") {
    fail(Code::kUnsupported, "\"hidden_act\": \"", activation,
         "\" is not supported for this model_type; it is \"silu\"");
  }
  return c;
}

int64_t default_head_dim(const LlamaConfig& c) {
  require_data(c.hidden_size % c.num_attention_heads == 0,
               "\"head_dim\" is missing and \"hidden_size\" (", c.hidden_size,
               ") is not a multiple of \"num_attention_heads\" (", c.num_attention_heads, ")");
  return c.hidden_size / c.num_attention_heads;
}

LlamaConfig parse_llama(const Json& j) {
  LlamaConfig c = parse_sizes(j);
  c.head_dim =
      j.find_value("head_dim") != nullptr ? j.require_int("head_dim", kHeads) : default_head_dim(c);
  c.tie_word_embeddings = j.get_bool("tie_word_embeddings", true);
  c.qkv_bias = Bias{j.get_bool("attention_bias", false)};
  c.o_bias = c.qkv_bias;
  c.mlp_bias = Bias{j.get_bool("mlp_bias", false)};
  c.rope = RopeConfig::parse(j, c.head_dim, 10000.0);
  c.windows = parse_windows(j, c.num_hidden_layers);
  return c;
}

LlamaConfig parse_qwen2(const Json& j) {
  LlamaConfig c = parse_sizes(j);
  c.head_dim = default_head_dim(c);
  c.tie_word_embeddings = j.get_bool("tie_word_embeddings", true);
  c.qkv_bias = Bias::kPresent;
  c.rope = RopeConfig::parse(j, c.head_dim, 1000000.0);
  c.windows.resize(
      static_cast<size_t>(c.num_hidden_layers));  // sliding_window is not honoured by the reference
  return c;
}

LlamaConfig parse_qwen3(const Json& j) {
  LlamaConfig c = parse_sizes(j);
  c.head_dim = j.require_int("head_dim", kHeads);
  c.tie_word_embeddings = j.at("tie_word_embeddings").as_bool();
  c.rope = RopeConfig::parse(j, c.head_dim, 1000000.0);
  c.windows.resize(static_cast<size_t>(c.num_hidden_layers));
  c.has_qk_norm = true;
  return c;
}

// ---- 2. Modules: loading a weight is what registers it, under the checkpoint's own name.

struct Attention {
  int64_t head_dim;
  RopeTable rope_table;
  Linear q_proj, k_proj, v_proj, o_proj;
  std::optional<Norm> q_norm, k_norm;

  Attention(const LlamaConfig& c, const RopeTable& table, const Loader& w)
      : head_dim(c.head_dim),
        rope_table(table),
        q_proj(w.linear("q_proj", c.hidden_size, c.num_attention_heads * head_dim, c.qkv_bias)),
        k_proj(w.linear("k_proj", c.hidden_size, c.num_key_value_heads * head_dim, c.qkv_bias)),
        v_proj(w.linear("v_proj", c.hidden_size, c.num_key_value_heads * head_dim, c.qkv_bias)),
        o_proj(w.linear("o_proj", c.num_attention_heads * head_dim, c.hidden_size, c.o_bias)) {
    if (c.has_qk_norm) {
      q_norm = w.norm("q_norm", head_dim, c.rms_norm_eps);
      k_norm = w.norm("k_norm", head_dim, c.rms_norm_eps);
    }
  }

  // x [T, H] -> [T, H]
  Tensor operator()(const Tensor& x, const LayerStep& step) const {
    auto [q, k, v] = project<3>(x, {&q_proj, &k_proj, &v_proj});
    q = reshape(q, {x.dim(0), -1, head_dim});  // [T, Nq, D]
    k = reshape(k, {x.dim(0), -1, head_dim});  // [T, Nkv, D]
    v = reshape(v, {x.dim(0), -1, head_dim});  // [T, Nkv, D]
    if (q_norm) q = (*q_norm)(q);
    if (k_norm) k = (*k_norm)(k);
    q = rope(q, step.positions(), rope_table);
    k = rope(k, step.positions(), rope_table);
    const Tensor a =
        attend(q, k, v, step, 1.0F / std::sqrt(static_cast<float>(head_dim)));  // [T, Nq, D]
    return o_proj(reshape(a, {x.dim(0), -1}));
  }
};

struct Layer {
  Norm input_layernorm, post_attention_layernorm;
  Attention self_attn;
  SwigluMlp mlp;

  Layer(const LlamaConfig& c, const RopeTable& table, const Loader& w)
      : input_layernorm(w.norm("input_layernorm", c.hidden_size, c.rms_norm_eps)),
        post_attention_layernorm(w.norm("post_attention_layernorm", c.hidden_size, c.rms_norm_eps)),
        self_attn(c, table, w.in("self_attn")),
        mlp{.gate_proj =
                w.in("mlp").linear("gate_proj", c.hidden_size, c.intermediate_size, c.mlp_bias),
            .up_proj =
                w.in("mlp").linear("up_proj", c.hidden_size, c.intermediate_size, c.mlp_bias),
            .down_proj =
                w.in("mlp").linear("down_proj", c.intermediate_size, c.hidden_size, c.mlp_bias)} {}

  Tensor operator()(const Tensor& h, const LayerStep& step) const {
    const Tensor mid = add(h, self_attn(input_layernorm(h), step));
    return add(mid, mlp(post_attention_layernorm(mid)));
  }
};

// ---- 3. The model: tokens -> hidden rows -> logits.

class Llama final : public Model {
 public:
  Llama(LlamaConfig c, Checkpoint& checkpoint) : config_(std::move(c)) {
    const Loader w(checkpoint, parameters_);
    embed_tokens_ = w.embedding("model.embed_tokens", config_.vocab_size, config_.hidden_size);
    const RopeTable table = config_.rope.make_table();
    layers_.reserve(static_cast<size_t>(config_.num_hidden_layers));
    for (int64_t i = 0; i < config_.num_hidden_layers; ++i)
      layers_.emplace_back(config_, table, w.in("model.layers", i));
    norm_ = w.norm("model.norm", config_.hidden_size, config_.rms_norm_eps);
    if (config_.tie_word_embeddings) {
      checkpoint.audit({"*.rotary_emb.inv_freq", "lm_head.*"});
    } else {
      lm_head_ = w.linear("lm_head", config_.hidden_size, config_.vocab_size);
      checkpoint.audit({"*.rotary_emb.inv_freq"});
    }
  }

  // -> [T, H]
  Tensor hidden(const StepContext& step) const override {
    Tensor h = embed_tokens_(step.tokens());
    for (size_t i = 0; i < layers_.size(); ++i)
      h = layers_[i](h, step.layer(static_cast<int64_t>(i)));
    return norm_(h);
  }

  // rows [R, H] -> [R, V]
  Tensor logits(const Tensor& rows) const override {
    return lm_head_ ? (*lm_head_)(rows) : embed_tokens_.as_linear(rows);
  }

  CacheLayout cache_layout() const override {
    CacheLayout layout(config_.num_key_value_heads, config_.head_dim);
    for (const std::optional<int64_t>& window : config_.windows) layout.add_attention(window);
    return layout;
  }

  int64_t vocab_size() const override { return config_.vocab_size; }
  const ParameterTree& parameters() const override { return parameters_; }

 private:
  LlamaConfig config_;
  ParameterTree parameters_;
  Embedding embed_tokens_;
  std::vector<Layer> layers_;
  Norm norm_{};
  std::optional<Linear> lm_head_;
};

}  // namespace

std::unique_ptr<Model> make_llama(Checkpoint& checkpoint) {
  return std::make_unique<Llama>(parse_llama(checkpoint.text_config()), checkpoint);
}

std::unique_ptr<Model> make_qwen2(Checkpoint& checkpoint) {
  return std::make_unique<Llama>(parse_qwen2(checkpoint.text_config()), checkpoint);
}

std::unique_ptr<Model> make_qwen3(Checkpoint& checkpoint) {
  return std::make_unique<Llama>(parse_qwen3(checkpoint.text_config()), checkpoint);
}

}  // namespace hearth
