#include "tensor/ops/sdpa_core.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/table.h"
#include "tensor/ops/loops.h"

namespace hearth {
namespace {

constexpr int64_t kTile = 64;  // query rows at a time
constexpr float kHidden = -std::numeric_limits<float>::infinity();

// Hands out 64-byte aligned pieces of the scratch.
class Pieces {
 public:
  explicit Pieces(float* at) : at_(at) {}
  static int64_t rounded(int64_t floats) { return (floats + 15) / 16 * 16; }
  float* take(int64_t floats) {
    float* piece = at_;
    at_ += rounded(floats);
    return piece;
  }
  std::byte* take_bytes(int64_t bytes) { return reinterpret_cast<std::byte*>(take(bytes / 4)); }

 private:
  float* at_;
};

int64_t head_floats(const SdpaProblem& p) {
  return Pieces::rounded(p.keys * p.k_dim) + Pieces::rounded(p.keys * p.v_dim) +
         Pieces::rounded(kTile * p.k_dim) + Pieces::rounded(kTile * p.v_dim) +
         Pieces::rounded(kTile * p.keys) + kernels::kLinearScratchBytes / 4;
}

// Rows of one head, packed: from [rows, heads, width].
void pack(const float* x, int64_t rows, int64_t heads, int64_t head, int64_t width, float* y) {
  for (int64_t r = 0; r < rows; ++r)
    std::copy_n(x + (r * heads + head) * width, width, y + r * width);
}

// One KV head's keys and values packed, and a tile of queries of one of its heads.
struct Work {
  float* k;  // [S, D]
  float* v;  // [S, Dv]
  float* q;  // [kTile, D]
  float* o;  // [kTile, Dv]: the result, or its gradient
  float* p;  // [kTile, S]: scores, then probabilities
  std::byte* kernel_scratch;

  Work(const SdpaProblem& s, Pieces& pieces, int64_t kv_head)
      : k(pieces.take(s.keys * s.k_dim)),
        v(pieces.take(s.keys * s.v_dim)),
        q(pieces.take(kTile * s.k_dim)),
        o(pieces.take(kTile * s.v_dim)),
        p(pieces.take(kTile * s.keys)),
        kernel_scratch(pieces.take_bytes(kernels::kLinearScratchBytes)) {
    pack(s.k, s.keys, s.kv_heads, kv_head, s.k_dim, k);
    pack(s.v, s.keys, s.kv_heads, kv_head, s.v_dim, v);
  }

  // y[i, n] = x[i, :] . w[n, :], n in [begin, end), rows of y `keys` apart
  void dot(const float* x, const float* w, float* y, int64_t rows, int64_t begin, int64_t end,
           int64_t width, int64_t keys) const {
    kernels::table().dense_linear({.x = x,
                                   .w = w,
                                   .w_dtype = DType::kF32,
                                   .bias = nullptr,
                                   .y = y,
                                   .m = rows,
                                   .n_begin = begin,
                                   .n_end = end,
                                   .k = width,
                                   .ldx = width,
                                   .ldy = keys,
                                   .scratch = kernel_scratch});
  }
  // y[i, :] = sum over n of x[i, n] w[n, :]
  void mix(const float* x, int64_t ldx, const float* w, float* y, int64_t rows, int64_t n,
           int64_t width) const {
    kernels::table().dense_linear_dx({.dy = x,
                                      .w = w,
                                      .w_dtype = DType::kF32,
                                      .dx = y,
                                      .m = rows,
                                      .n = n,
                                      .k = width,
                                      .k_begin = 0,
                                      .k_end = width,
                                      .lddy = ldx,
                                      .lddx = width,
                                      .scratch = kernel_scratch});
  }
};

// The keys that some query of rows [begin, end) may see.
struct Keys {
  int64_t begin;
  int64_t end;
};
Keys keys_of(const SdpaProblem& p, int64_t begin, int64_t end) {
  Keys keys{0, p.keys};
  const int64_t shift = p.keys - p.queries;
  if (p.is_causal) keys.end = std::clamp<int64_t>(end + shift, 0, p.keys);
  if (p.window > 0) keys.begin = std::clamp<int64_t>(begin + shift - p.window + 1, 0, keys.end);
  return keys;
}

// Turns row `i` of raw products into probabilities; returns that of the sink. `slope`, if not null, gets the
// derivative of the soft cap at each score.
float softmax_row(const SdpaProblem& p, int64_t head, int64_t i, Keys tile, float* row,
                  float* slope) {
  const int64_t mask_at = ((p.is_mask_per_head ? head * p.queries : 0) + i) * p.keys;
  const Keys own = keys_of(p, i, i + 1);
  const bool has_sink = p.sinks != nullptr;
  float top = has_sink ? p.sinks[head] : kHidden;
  for (int64_t j = tile.begin; j < tile.end; ++j) {
    float s = p.scale * row[j];
    if (p.softcap > 0.0F) {
      const float t = std::tanh(s / p.softcap);
      s = p.softcap * t;
      if (slope != nullptr) slope[j] = 1.0F - t * t;
    } else if (slope != nullptr) {
      slope[j] = 1.0F;
    }
    if (p.added != nullptr) s += p.added[mask_at + j];
    const bool is_hidden =
        j < own.begin || j >= own.end || (p.visible != nullptr && p.visible[mask_at + j] == 0);
    row[j] = is_hidden ? kHidden : s;
    top = std::max(top, row[j]);
  }
  if (top == kHidden) {  // nothing to see
    std::fill(row + tile.begin, row + tile.end, 0.0F);
    return 0.0F;
  }
  for (int64_t j = tile.begin; j < tile.end; ++j) row[j] -= top;
  kernels::table().exp({.x = row + tile.begin, .y = row + tile.begin, .n = tile.end - tile.begin});
  const double sink =
      has_sink ? std::exp(static_cast<double>(p.sinks[head]) - static_cast<double>(top)) : 0.0;
  const double total =
      sink + sum_of(tile.end - tile.begin, [&](int64_t j) { return row[tile.begin + j]; });
  const auto inverse = static_cast<float>(1.0 / total);
  for (int64_t j = tile.begin; j < tile.end; ++j) row[j] *= inverse;
  return static_cast<float>(sink / total);
}

// Rows [begin, end) of x [rows, stride] turned: y[j, i] = x[i, j], j < width, i < rows.
void turn(const float* x, int64_t stride, int64_t rows, int64_t width, float* y) {
  for (int64_t j = 0; j < width; ++j) {
    for (int64_t i = 0; i < rows; ++i) y[j * rows + i] = x[i * stride + j];
  }
}

// to [rows, heads, width] += scale * from [rows, width], at one head.
void add_head(const float* from, int64_t rows, int64_t heads, int64_t head, int64_t width,
              float scale, float* to) {
  for (int64_t r = 0; r < rows; ++r) {
    float* t = to + (r * heads + head) * width;
    for (int64_t i = 0; i < width; ++i) t[i] += scale * from[r * width + i];
  }
}

void clear_head(float* to, int64_t rows, int64_t heads, int64_t head, int64_t width) {
  for (int64_t r = 0; r < rows; ++r) std::fill_n(to + (r * heads + head) * width, width, 0.0F);
}

}  // namespace

int64_t sdpa_forward_floats(const SdpaProblem& p) { return head_floats(p); }

int64_t sdpa_backward_floats(const SdpaProblem& p) {
  return head_floats(p) + 3 * Pieces::rounded(kTile * p.keys) +
         Pieces::rounded(p.keys * std::max(p.k_dim, p.v_dim)) + Pieces::rounded(kTile * p.k_dim);
}

void sdpa_forward(const SdpaProblem& p, int64_t kv_head, float* y, float* scratch) noexcept {
  Pieces pieces(scratch);
  const Work w(p, pieces, kv_head);
  const int64_t group = p.heads / p.kv_heads;
  for (int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    for (int64_t begin = 0; begin < p.queries; begin += kTile) {
      const int64_t rows = std::min(kTile, p.queries - begin);
      const Keys keys = keys_of(p, begin, begin + rows);
      pack(p.q + begin * p.heads * p.k_dim, rows, p.heads, head, p.k_dim, w.q);
      w.dot(w.q, w.k, w.p, rows, keys.begin, keys.end, p.k_dim, p.keys);
      for (int64_t i = 0; i < rows; ++i)
        softmax_row(p, head, begin + i, keys, w.p + i * p.keys, nullptr);
      w.mix(w.p + keys.begin, p.keys, w.v + keys.begin * p.v_dim, w.o, rows, keys.end - keys.begin,
            p.v_dim);
      float* out = y + begin * p.heads * p.v_dim;
      for (int64_t i = 0; i < rows; ++i)
        std::copy_n(w.o + i * p.v_dim, p.v_dim, out + (i * p.heads + head) * p.v_dim);
    }
  }
}

// With scores s = cap(scale q k^T) + mask, p = softmax(s), y = p v:
//   dv = p^T dy    dp = dy v^T    ds = p * (dp - sum_j p dp)    dsink = -p_sink sum_j p dp
//   dq = scale (ds * cap') k    dk = scale (ds * cap')^T q
void sdpa_backward(const SdpaProblem& p, int64_t kv_head, const float* dy, float* dq, float* dk,
                   float* dv, float* dsinks, float* scratch) noexcept {
  Pieces pieces(scratch);
  const Work w(p, pieces, kv_head);
  float* dp = pieces.take(kTile * p.keys);
  float* slope = pieces.take(kTile * p.keys);
  float* turned = pieces.take(kTile * p.keys);
  float* mixed = pieces.take(p.keys * std::max(p.k_dim, p.v_dim));
  float* dq_tile = pieces.take(kTile * p.k_dim);
  const int64_t group = p.heads / p.kv_heads;
  clear_head(dk, p.keys, p.kv_heads, kv_head, p.k_dim);
  clear_head(dv, p.keys, p.kv_heads, kv_head, p.v_dim);
  for (int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    double dsink = 0.0;
    for (int64_t begin = 0; begin < p.queries; begin += kTile) {
      const int64_t rows = std::min(kTile, p.queries - begin);
      const Keys keys = keys_of(p, begin, begin + rows);
      const int64_t n = keys.end - keys.begin;
      pack(p.q + begin * p.heads * p.k_dim, rows, p.heads, head, p.k_dim, w.q);
      pack(dy + begin * p.heads * p.v_dim, rows, p.heads, head, p.v_dim, w.o);
      w.dot(w.q, w.k, w.p, rows, keys.begin, keys.end, p.k_dim, p.keys);
      w.dot(w.o, w.v, dp, rows, keys.begin, keys.end, p.v_dim, p.keys);
      for (int64_t i = 0; i < rows; ++i) {
        float* prob = w.p + i * p.keys;
        float* d = dp + i * p.keys;
        float* s = slope + i * p.keys;
        const float sink = softmax_row(p, head, begin + i, keys, prob, s);
        const double inner =
            sum_of(n, [&](int64_t j) { return prob[keys.begin + j] * d[keys.begin + j]; });
        dsink -= static_cast<double>(sink) * inner;
        for (int64_t j = keys.begin; j < keys.end; ++j)
          d[j] = prob[j] * (d[j] - static_cast<float>(inner)) * s[j];
      }
      turn(w.p + keys.begin, p.keys, rows, n, turned);
      w.mix(turned, rows, w.o, mixed, n, rows, p.v_dim);
      add_head(mixed, n, p.kv_heads, kv_head, p.v_dim, 1.0F,
               dv + keys.begin * p.kv_heads * p.v_dim);
      turn(dp + keys.begin, p.keys, rows, n, turned);
      w.mix(turned, rows, w.q, mixed, n, rows, p.k_dim);
      add_head(mixed, n, p.kv_heads, kv_head, p.k_dim, p.scale,
               dk + keys.begin * p.kv_heads * p.k_dim);
      w.mix(dp + keys.begin, p.keys, w.k + keys.begin * p.k_dim, dq_tile, rows, n, p.k_dim);
      float* dq_rows = dq + begin * p.heads * p.k_dim;
      clear_head(dq_rows, rows, p.heads, head, p.k_dim);
      add_head(dq_tile, rows, p.heads, head, p.k_dim, p.scale, dq_rows);
    }
    if (dsinks != nullptr) dsinks[head] = static_cast<float>(dsink);
  }
}

}  // namespace hearth
