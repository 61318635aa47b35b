// For the .cpp files of this folder: plain attention of one sequence, forward and backward, by heads.
#pragma once

#include <cstdint>

namespace hearth {

// q [L, Nq, D], k [S, Nkv, D], v [S, Nkv, Dv]; the mathematics of sdpa() in attention.h.
struct SdpaProblem {
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  const float* sinks = nullptr;      // [Nq] or null
  const float* added = nullptr;      // additive mask or null
  const uint8_t* visible = nullptr;  // boolean mask or null
  bool is_mask_per_head = false;     // masks are [Nq, L, S], else [L, S]
  int64_t queries = 0;               // L
  int64_t keys = 0;                  // S
  int64_t heads = 0;                 // Nq
  int64_t kv_heads = 0;              // Nkv
  int64_t k_dim = 0;                 // D
  int64_t v_dim = 0;                 // Dv
  float scale = 1.0F;
  float softcap = 0.0F;
  bool is_causal = false;
  int64_t window = 0;
};

// Scratch of one call below; 64-byte aligned.
int64_t sdpa_forward_floats(const SdpaProblem& p);
int64_t sdpa_backward_floats(const SdpaProblem& p);

// Rows of every query head of one KV head: y [L, Nq, Dv].
void sdpa_forward(const SdpaProblem& p, int64_t kv_head, float* y, float* scratch) noexcept;

// Writes dq [L, Nq, D], dk [S, Nkv, D], dv [S, Nkv, Dv] and dsinks [Nq] (or null) of one KV head, given dy.
void sdpa_backward(const SdpaProblem& p, int64_t kv_head, const float* dy, float* dq, float* dk,
                   float* dv, float* dsinks, float* scratch) noexcept;

}  // namespace hearth
