#include "tensor/tape.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "tensor/ops/arithmetic.h"

namespace hearth {
namespace {

// A tensor is the memory that it names. The tape keeps a handle to everything that it knows, so addresses stay
// unique while it lives.
struct Key {
  const std::byte* data;
  int64_t size;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  size_t operator()(const Key& k) const {
    return std::hash<const void*>{}(k.data) ^
           (std::hash<int64_t>{}(k.size) * 0x9E3779B97F4A7C15ULL);
  }
};
Key key_of(const Tensor& t) { return {t.raw(), t.size()}; }

struct Node {
  std::unique_ptr<const Op> op;
  std::vector<Tensor> in;
  Tensor out;
};

ComputeContext recording_into(Recorder* tape) {
  ComputeContext c = current_compute();
  c.recorder = tape;
  return c;
}

bool is_differentiable(DType t) {
  return t == DType::kF32 || t == DType::kBF16 || t == DType::kF16;
}

}  // namespace

struct Tape::Impl {
  std::vector<Node> nodes;
  std::vector<Tensor> watched;
  std::unordered_map<Key, Tensor, KeyHash>
      gradients;  // tracked memory; undefined until something arrives
  bool is_used_up = false;

  bool tracks(const Tensor& t) const { return gradients.contains(key_of(t)); }
  void track(const Tensor& t) { gradients.try_emplace(key_of(t)); }

  bool is_watched(const Tensor& t) const {
    return std::ranges::any_of(watched, [&](const Tensor& w) { return w.is_same_memory(t); });
  }

  void accumulate(const Tensor& t, Tensor gradient) {
    const auto it = gradients.find(key_of(t));
    if (it == gradients.end()) return;
    gradient = gradient.with_shape(t.shape());
    it->second =
        it->second.is_defined() ? add(it->second.with_shape(t.shape()), gradient) : gradient;
  }

  void run_back(Node& node);
  Gradients collect() const;
};

void Tape::Impl::run_back(Node& node) {
  const auto it = gradients.find(key_of(node.out));
  if (it == gradients.end() || !it->second.is_defined()) return;
  const Tensor dout = it->second.with_shape(node.out.shape());
  // Taken, unless it is asked for: memory falls as we go back. The key stays, since another view of the same
  // memory may have been recorded earlier.
  if (!is_watched(node.out)) it->second = Tensor();
  const std::unique_ptr<bool[]> wanted = std::make_unique<bool[]>(node.in.size());
  for (size_t i = 0; i < node.in.size(); ++i) wanted[i] = tracks(node.in[i]);
  std::vector<Tensor> grads =
      node.op->vjp({node.in, node.out, dout, std::span<const bool>(wanted.get(), node.in.size())});
  HEARTH_CHECK(grads.size() == node.in.size(), node.op->name());
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!wanted[i] || !grads[i].is_defined()) continue;
    HEARTH_CHECK(grads[i].dtype() == DType::kF32 && grads[i].size() == node.in[i].size(),
                 node.op->name());
    accumulate(node.in[i], std::move(grads[i]));
  }
}

Gradients Tape::Impl::collect() const {
  Gradients result;
  for (const Tensor& t : watched) {
    const Tensor& g = gradients.at(key_of(t));
    result.entries_.push_back({t, g.is_defined() ? g.with_shape(t.shape()) : Tensor()});
  }
  std::ranges::sort(result.entries_, std::less<>(), [](const auto& e) { return e.watched.raw(); });
  return result;
}

Tape::Tape() : impl_(std::make_unique<Impl>()), scope_(recording_into(this)) {}
Tape::~Tape() = default;

void Tape::watch(const Tensor& t) {
  require(t.is_defined() && is_differentiable(t.dtype()), "tape: can't watch ", describe(t));
  if (impl_->tracks(t)) return;
  impl_->watched.push_back(t);
  impl_->track(t);
}

int64_t Tape::recorded_ops() const { return static_cast<int64_t>(impl_->nodes.size()); }

void Tape::record(const Op& op, CloneOp clone, std::span<const Tensor> in, const Tensor& out) {
  const bool depends = std::ranges::any_of(in, [&](const Tensor& t) { return impl_->tracks(t); });
  // A view of the whole of its input is its input (same memory), and needs no record.
  if (!depends || !is_differentiable(out.dtype()) || out.is_same_memory(in[0])) return;
  impl_->nodes.push_back({clone(op), {in.begin(), in.end()}, out});
  impl_->track(out);
}

Gradients Tape::backward(const Tensor& loss) {
  require(loss.is_defined() && loss.size() == 1 && loss.dtype() == DType::kF32,
          "tape: backward needs a scalar, not ", describe(loss));
  return backward(loss, Tensor::full(loss.shape(), 1.0F));
}

Gradients Tape::backward(const Tensor& t, const Tensor& dt) {
  require(!impl_->is_used_up, "tape: backward has been called");
  require(t.is_defined() && dt.is_defined() && dt.dtype() == DType::kF32 && dt.size() == t.size(),
          "tape: gradient ", describe(dt), " for ", describe(t));
  impl_->is_used_up = true;
  ComputeContext plain = current_compute();
  plain.recorder = nullptr;
  const ComputeScope no_recorder(plain);
  impl_->accumulate(t, dt);
  while (!impl_->nodes.empty()) {
    Node node = std::move(impl_->nodes.back());
    impl_->nodes.pop_back();
    impl_->run_back(node);
  }
  return impl_->collect();
}

const Gradients::Entry* Gradients::find(const Tensor& t) const {
  for (const Entry& e : entries_) {
    if (e.watched.is_same_memory(t)) return &e;
  }
  return nullptr;
}

Tensor Gradients::of(const Tensor& t) const {
  const Entry* e = find(t);
  require(e != nullptr, "gradients: ", describe(t), " was not watched");
  return e->gradient.is_defined() ? e->gradient.with_shape(t.shape()) : Tensor::zeros(t.shape());
}

bool Gradients::has(const Tensor& t) const {
  const Entry* e = find(t);
  return e != nullptr && e->gradient.is_defined();
}

}  // namespace hearth
