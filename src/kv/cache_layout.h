// What a model keeps per layer and sequence. A model states it once; the pool is built from it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace hearth {

// Keys and values of one attention layer. Sizes are per token.
struct AttentionLayer {
  int64_t kv_heads = 0;
  int64_t k_dim = 0;
  int64_t v_dim = 0;
  int64_t window = 0;  // tokens that a query sees, itself included; 0 = all

  friend bool operator==(const AttentionLayer&, const AttentionLayer&) = default;
};

class CacheLayout {
 public:
  // Every layer added has these heads: keys and values [kv_heads, head_dim].
  CacheLayout(int64_t kv_heads, int64_t head_dim) : kv_heads_(kv_heads), head_dim_(head_dim) {}

  void add_attention(std::optional<int64_t> window = std::nullopt) {
    layers_.push_back({kv_heads_, head_dim_, head_dim_, window.value_or(0)});
  }

  const std::vector<AttentionLayer>& layers() const { return layers_; }

 private:
  int64_t kv_heads_;
  int64_t head_dim_;
  std::vector<AttentionLayer> layers_;
};

}  // namespace hearth
