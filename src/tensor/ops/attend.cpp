// attend() of attention.h.
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/attend.h"
#include "kernels/table.h"
#include "tensor/ops/attention.h"
#include "tensor/ops/attention_grad.h"
#include "tensor/ops/loops.h"
#include "tensor/ops/sdpa_core.h"

namespace hearth {
namespace {

constexpr int64_t kPage = codec::kPageTokens;
// Steps of at most this many tokens may split one sequence's keys over threads.
constexpr int64_t kMaxSplitTokens = 16;

constexpr int64_t round_up(int64_t bytes) { return (bytes + 63) / 64 * 64; }

struct SliceRow {
  int32_t first_row;
  int32_t rows;
  int32_t first_position;
  int32_t table_row;
};

enum Input : size_t { kQ, kK, kV, kSlices, kPages, kSinks };

// Where things lie in the scratch.
struct Plan {
  int64_t tokens, tables, pages, slices;
  int64_t heads, kv_heads, group;
  int64_t tile_tokens;
  int64_t partial_stride;  // floats of one row's partial result
  int64_t max_ranges;      // of key ranges that a row can see; 0: no room to split
  int64_t worker_floats;
  int64_t pages_at, tiles_at, partials_at, total_bytes;  // workers' scratch comes first

  Plan(std::span<const Tensor> in, const codec::KvPageLayout& layout, int workers)
      : tokens(in[kQ].dim(0)),
        tables(in[kPages].dim(0)),
        pages(in[kPages].dim(1)),
        slices(in[kSlices].dim(0)),
        heads(in[kQ].dim(1)),
        kv_heads(layout.kv_heads),
        group(heads / kv_heads),
        tile_tokens(std::max<int64_t>(1, kernels::kAttendTileRows / std::max<int64_t>(1, group))),
        partial_stride(kernels::attend_partial_stride(layout)),
        max_ranges(workers > 1 && tokens <= kMaxSplitTokens
                       ? (pages * kPage + kernels::kAttendRangeTokens - 1) /
                             kernels::kAttendRangeTokens
                       : 0),
        worker_floats(round_up(kernels::attend_scratch_floats(layout) * 4) / 4),
        pages_at(workers * worker_floats * 4),
        tiles_at(pages_at + round_up(slices * pages * 8)),
        partials_at(tiles_at + round_up((slices + 1) * 8)),
        total_bytes(partials_at +
                    (max_ranges > 1 ? tokens * heads * partial_stride * max_ranges * 4 : 0)) {}
};

// One call of run(): the plan with the step's data.
class Attention {
 public:
  Attention(const Plan& plan, const PagedLayer& layer, const AttendOptions& options,
            const RunArgs& a)
      : plan_(plan),
        layer_(layer),
        options_(options),
        a_(a),
        q_(a.in[kQ].data<float>()),
        k_(a.in[kK].data<float>()),
        v_(a.in[kV].data<float>()),
        y_(a.out.mutable_data<float>()),
        slices_(reinterpret_cast<const SliceRow*>(a.in[kSlices].data<int32_t>())),
        page_ptrs_(reinterpret_cast<std::byte**>(a.scratch.data() + plan.pages_at)),
        tile_start_(reinterpret_cast<int64_t*>(a.scratch.data() + plan.tiles_at)),
        partials_(reinterpret_cast<float*>(a.scratch.data() + plan.partials_at)) {}

  void run() {
    prepare();
    if (covered_ < plan_.tokens) std::memset(y_, 0, static_cast<size_t>(a_.out.bytes()));
    if (most_tiles_ == 0) return;
    if (most_ranges_ > 1 && plan_.max_ranges > 1 && most_tiles_ == 1) return run_by_ranges();
    const bool is_one_fork = most_tiles_ == 1;  // then a task's keys are its own
    if (!is_one_fork) {
      a_.compute.parallel_for(
          plan_.slices * plan_.kv_heads, plan_.tokens * plan_.kv_heads * layer_.layout.k_dim * 4,
          [&](int64_t i, int) { append(i / plan_.kv_heads, i % plan_.kv_heads); });
    }
    a_.compute.parallel_for(
        tile_start_[plan_.slices] * plan_.kv_heads, work_, [&](int64_t i, int worker) {
          const int64_t head = i % plan_.kv_heads;
          const int64_t tile = i / plan_.kv_heads;
          const int64_t s =
              std::upper_bound(tile_start_, tile_start_ + plan_.slices + 1, tile) - tile_start_ - 1;
          if (is_one_fork) append(s, head);
          const int64_t begin = (tile - tile_start_[s]) * plan_.tile_tokens;
          const int64_t rows = std::min<int64_t>(plan_.tile_tokens, slices_[s].rows - begin);
          kernels::table().attend(args(s, head, begin, rows, worker));
        });
  }

 private:
  // Page pointers and tiles of every slice. A slice that the tables do not cover is left out (its rows stay zero):
  // such tables are a bug of the caller, and this must not write elsewhere.
  void prepare() {
    tile_start_[0] = 0;
    for (int64_t s = 0; s < plan_.slices; ++s) {
      const SliceRow& r = slices_[s];
      const bool is_good = point_to_pages(r, page_ptrs_ + s * plan_.pages);
      const int64_t tiles = is_good ? (r.rows + plan_.tile_tokens - 1) / plan_.tile_tokens : 0;
      tile_start_[s + 1] = tile_start_[s] + tiles;
      if (tiles == 0) continue;
      most_tiles_ = std::max(most_tiles_, tiles);
      most_ranges_ = std::max(
          most_ranges_, kernels::attend_ranges(r.first_position, r.rows, options_.window).count);
      covered_ += r.rows;
      const int64_t seen = int64_t{r.first_position} + r.rows;
      const int64_t keys = options_.window > 0 ? std::min(seen, options_.window + r.rows) : seen;
      work_ += r.rows * keys * plan_.heads * (layer_.layout.k_dim + layer_.layout.v_dim);
    }
  }

  bool point_to_pages(const SliceRow& r, std::byte** to) const {
    const bool is_inside = r.rows > 0 && r.first_row >= 0 && r.rows <= plan_.tokens - r.first_row &&
                           r.table_row >= 0 && r.table_row < plan_.tables &&
                           r.first_position >= 0 &&
                           int64_t{r.first_position} + r.rows <= plan_.pages * kPage;
    if (!is_inside) return false;
    const int32_t* ids = a_.in[kPages].data<int32_t>() + r.table_row * plan_.pages;
    const int64_t oldest =
        options_.window > 0 ? std::max<int64_t>(0, r.first_position + 1 - options_.window) : 0;
    const int64_t last = (int64_t{r.first_position} + r.rows - 1) / kPage;
    for (int64_t i = 0; i <= last; ++i) {
      to[i] = ids[i] < 0 ? nullptr : layer_.base + ids[i] * layer_.page_stride_bytes;
      if (to[i] == nullptr && i >= oldest / kPage) return false;
    }
    return true;
  }

  void append(int64_t s, int64_t head) const {
    if (tile_start_[s + 1] == tile_start_[s]) return;
    const SliceRow& r = slices_[s];
    const codec::KvPageLayout& layout = layer_.layout;
    const int64_t k_stride = layout.kv_heads * layout.k_dim;
    const int64_t v_stride = layout.kv_heads * layout.v_dim;
    kernels::table().append_kv({.k = k_ + r.first_row * k_stride,
                                .v = v_ + r.first_row * v_stride,
                                .k_row_stride = k_stride,
                                .v_row_stride = v_stride,
                                .pages = page_ptrs_ + s * plan_.pages,
                                .layout = layout,
                                .head_begin = head,
                                .head_end = head + 1,
                                .rows = r.rows,
                                .first_position = r.first_position});
  }

  kernels::AttendArgs args(int64_t s, int64_t head, int64_t begin, int64_t rows, int worker) const {
    const SliceRow& r = slices_[s];
    const int64_t q_stride = plan_.heads * layer_.layout.k_dim;
    const int64_t y_stride = plan_.heads * layer_.layout.v_dim;
    return {.q = q_ + (r.first_row + begin) * q_stride,
            .y = y_ + (r.first_row + begin) * y_stride,
            .q_row_stride = q_stride,
            .y_row_stride = y_stride,
            .pages = page_ptrs_ + s * plan_.pages,
            .layout = layer_.layout,
            .kv_head = head,
            .group_size = plan_.group,
            .rows = rows,
            .first_position = r.first_position + begin,
            .scale = options_.scale,
            .window = options_.window,
            .softcap = options_.softcap,
            .sinks = a_.in.size() > kSinks ? a_.in[kSinks].data<float>() : nullptr,
            .scratch = reinterpret_cast<float*>(a_.scratch.data()) + worker * plan_.worker_floats};
  }

  // A few rows over many keys: tasks are (slice, KV head, range of keys), merged afterwards in order. The same bits
  // as in one piece (kernels/attend.h).
  void run_by_ranges() {
    for (int64_t s = 0; s < plan_.slices; ++s) {
      for (int64_t head = 0; head < plan_.kv_heads; ++head) append(s, head);
    }
    const int64_t per_slice = plan_.kv_heads * most_ranges_;
    a_.compute.parallel_for(plan_.slices * per_slice, work_, [&](int64_t i, int worker) {
      const int64_t s = i / per_slice;
      const int64_t head = i % per_slice / most_ranges_;
      const int64_t range = i % most_ranges_;
      const SliceRow& r = slices_[s];
      if (tile_start_[s + 1] == tile_start_[s]) return;
      const kernels::AttendRanges seen =
          kernels::attend_ranges(r.first_position, r.rows, options_.window);
      if (range >= seen.count) return;
      kernels::table().attend_range({.attend = args(s, head, 0, r.rows, worker),
                                     .range = seen.first + range,
                                     .partial = partial(s, head) + range * range_stride(r)});
    });
    a_.compute.parallel_for(plan_.slices * plan_.kv_heads, work_ / 8, [&](int64_t i, int worker) {
      const int64_t s = i / plan_.kv_heads;
      const SliceRow& r = slices_[s];
      if (tile_start_[s + 1] == tile_start_[s]) return;
      const int64_t count = kernels::attend_ranges(r.first_position, r.rows, options_.window).count;
      kernels::table().attend_merge({.attend = args(s, i % plan_.kv_heads, 0, r.rows, worker),
                                     .partials = partial(s, i % plan_.kv_heads),
                                     .range_stride = range_stride(r),
                                     .ranges = count});
    });
  }

  int64_t range_stride(const SliceRow& r) const {
    return r.rows * plan_.group * plan_.partial_stride;
  }
  float* partial(int64_t s, int64_t head) const {
    const SliceRow& r = slices_[s];
    const int64_t row = plan_.partial_stride * plan_.max_ranges;
    return partials_ + r.first_row * plan_.heads * row + head * r.rows * plan_.group * row;
  }

  const Plan& plan_;
  const PagedLayer& layer_;
  const AttendOptions& options_;
  const RunArgs& a_;
  const float* q_;
  const float* k_;
  const float* v_;
  float* y_;
  const SliceRow* slices_;
  std::byte** page_ptrs_;  // [slices, pages]
  int64_t* tile_start_;    // [slices + 1]
  float* partials_;
  int64_t most_tiles_ = 0;
  int64_t most_ranges_ = 0;
  int64_t covered_ = 0;
  int64_t work_ = 0;
};

class Attend final : public Op {
 public:
  Attend(const PagedLayer& layer, const AttendOptions& options) : layer_(layer), options_(options) {
    options_.sinks = nullptr;  // an input
  }
  std::string_view name() const override { return "attend"; }

  OutputSpec infer(std::span<const Tensor> in) const override {
    const Tensor& q = in[kQ];
    check_attention_shapes(name(), q, in[kK], in[kV]);
    const codec::KvPageLayout& l = layer_.layout;
    require(codec::is_valid(l) && l.kv_heads == in[kK].dim(1) && l.k_dim == q.dim(2) &&
                l.v_dim == in[kV].dim(2),
            "attend: pages of ", l.kv_heads, " heads, ", l.k_dim, " and ", l.v_dim, " wide, for k ",
            in[kK].shape(), " and v ", in[kV].shape());
    require(in[kK].dim(0) == q.dim(0), "attend: q ", q.shape(), " and k ", in[kK].shape());
    require(layer_.base != nullptr && layer_.page_stride_bytes >= codec::page_bytes(l),
            "attend: pages of ", codec::page_bytes(l), " bytes lie ", layer_.page_stride_bytes,
            " bytes apart");
    require(
        in[kSlices].dtype() == DType::kI32 && in[kSlices].ndim() == 2 && in[kSlices].dim(1) == 4,
        "attend: slices are I32 [n, 4], not ", describe(in[kSlices]));
    require(in[kPages].dtype() == DType::kI32 && in[kPages].ndim() == 2,
            "attend: pages are I32 [n, P], not ", describe(in[kPages]));
    require(options_.window >= 0 && options_.softcap >= 0.0F, "attend: window ", options_.window,
            ", soft cap ", options_.softcap);
    if (in.size() > kSinks) check_sinks(name(), in[kSinks], q);
    return {Shape{q.dim(0), q.dim(1), l.v_dim}};
  }

  int64_t scratch_bytes(std::span<const Tensor> in, const OutputSpec& /*out*/,
                        const ComputeContext& compute) const override {
    return Plan(in, layer_.layout, compute.workers()).total_bytes;
  }

  void run(const RunArgs& a) const noexcept override {
    const Plan plan(a.in, layer_.layout, a.compute.workers());
    Attention(plan, layer_, options_, a).run();
  }

  // A slice that starts at position 0 is plain causal attention over the step's own keys.
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    const bool has_sinks = a.in.size() > kSinks;
    AttentionGradients g(a.in[kQ], a.in[kK], a.in[kV], has_sinks);
    const auto* slices = reinterpret_cast<const SliceRow*>(a.in[kSlices].data<int32_t>());
    for (int64_t s = 0; s < a.in[kSlices].dim(0); ++s) {
      const SliceRow& r = slices[s];
      if (r.first_position != 0)
        fail(Code::kUnsupported, "attend: no gradient for a slice that starts at position ",
             r.first_position);
      SdpaProblem p = attention_problem(a.in[kQ], a.in[kK], a.in[kV]);
      p.q += r.first_row * p.heads * p.k_dim;
      p.k += r.first_row * p.kv_heads * p.k_dim;
      p.v += r.first_row * p.kv_heads * p.v_dim;
      p.queries = p.keys = r.rows;
      p.scale = options_.scale;
      p.softcap = options_.softcap;
      p.window = options_.window;
      p.is_causal = true;
      if (has_sinks) p.sinks = a.in[kSinks].data<float>();
      g.add(p, a.dout.data<float>() + r.first_row * p.heads * p.v_dim, r.first_row);
    }
    std::vector<Tensor> grads(a.in.size());
    grads[kQ] = g.dq;
    grads[kK] = g.dk;
    grads[kV] = g.dv;
    if (has_sinks) grads[kSinks] = g.dsinks;
    return grads;
  }

 private:
  PagedLayer layer_;
  AttendOptions options_;
};

}  // namespace

Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const SliceTable& slices,
              const PagedLayer& layer, const AttendOptions& options) {
  const Attend op(layer, options);
  if (options.sinks != nullptr)
    return apply(op, {q, k, v, slices.slices, slices.pages, *options.sinks});
  return apply(op, {q, k, v, slices.slices, slices.pages});
}

}  // namespace hearth
