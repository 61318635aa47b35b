#include "tensor/ops/shape.h"

#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/half.h"
#include "tensor/ops/loops.h"

namespace hearth {
namespace {

int axis_of(const Shape& shape, int axis, std::string_view op) {
  const int i = axis < 0 ? axis + shape.ndim() : axis;
  require(i >= 0 && i < shape.ndim(), op, ": no axis ", axis, " in ", shape);
  return i;
}

Shape with_dim(const Shape& shape, int axis, int64_t extent) {
  std::array<int64_t, Shape::kMaxDims> dims{};
  std::ranges::copy(shape.dims(), dims.begin());
  dims[static_cast<size_t>(axis)] = extent;
  return Shape(std::span<const int64_t>(dims.data(), static_cast<size_t>(shape.ndim())));
}

// A tensor seen along one axis: outer blocks of `extent` pieces of `inner` elements.
struct Along {
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;
};

Along along(const Shape& shape, int axis) {
  Along a;
  for (int i = 0; i < shape.ndim(); ++i)
    (i < axis ? a.outer : i == axis ? a.extent : a.inner) *= shape.dim(i);
  return a;
}

// Copies pieces [from, from + count) of every block of src to pieces [to, ...) of dst.
void copy_along(const Tensor& src, const Along& s, int64_t from, Tensor& dst, const Along& d,
                int64_t to, int64_t count, const ComputeContext& compute) {
  const int64_t piece = s.inner * bytes_of(src.dtype());
  const std::byte* in = src.raw();
  std::byte* out = dst.mutable_raw();
  const int64_t bytes = count * piece;
  if (bytes == 0) return;
  compute.parallel_ranges(s.outer, std::max<int64_t>(1, kElementGrain / bytes), s.outer * bytes / 8,
                          [&](int64_t begin, int64_t end) {
                            for (int64_t o = begin; o < end; ++o) {
                              std::memcpy(out + (o * d.extent + to) * piece,
                                          in + (o * s.extent + from) * piece,
                                          static_cast<size_t>(bytes));
                            }
                          });
}

// Zeros of `shape` with `part` at pieces [begin, ...) of an axis: the gradient of a slice.
Tensor padded(const Tensor& part, const Shape& shape, int axis, int64_t begin) {
  Tensor whole = Tensor::zeros(shape);
  const Along p = along(part.shape(), axis);
  copy_along(part, p, 0, whole, along(shape, axis), begin, p.extent, current_compute());
  return whole;
}

class SliceRows final : public Op {
 public:
  SliceRows(int64_t begin, int64_t count) : begin_(begin), count_(count) {}
  std::string_view name() const override { return "slice_rows"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    const Tensor& x = in[0];
    require(x.ndim() > 0 && begin_ >= 0 && count_ >= 0 && begin_ <= x.dim(0) &&
                count_ <= x.dim(0) - begin_,
            "slice_rows: no rows ", begin_, " to ", begin_ + count_, " in ", x.shape());
    const int64_t row = x.dim(0) == 0 ? 0 : x.size() / x.dim(0);
    return {with_dim(x.shape(), 0, count_), x.dtype(), begin_ * row};
  }
  void run(const RunArgs& /*a*/) const noexcept override {}  // a view
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    return {padded(a.dout, a.in[0].shape(), 0, begin_)};
  }

 private:
  int64_t begin_, count_;
};

class Slice final : public Op {
 public:
  Slice(int axis, int64_t begin, int64_t count) : axis_(axis), begin_(begin), count_(count) {}
  std::string_view name() const override { return "slice"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    const Tensor& x = in[0];
    const int axis = axis_of(x.shape(), axis_, name());
    const int64_t extent = x.dim(axis);
    require(begin_ >= 0 && count_ >= 0 && begin_ <= extent && count_ <= extent - begin_,
            "slice: no elements ", begin_, " to ", begin_ + count_, " on axis ", axis, " of ",
            x.shape());
    return {with_dim(x.shape(), axis, count_), x.dtype()};
  }
  void run(const RunArgs& a) const noexcept override {
    const int axis = axis_of(a.out.shape(), axis_, name());
    copy_along(a.in[0], along(a.in[0].shape(), axis), begin_, a.out, along(a.out.shape(), axis), 0,
               count_, a.compute);
  }
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    return {padded(a.dout, a.in[0].shape(), axis_of(a.out.shape(), axis_, name()), begin_)};
  }

 private:
  int axis_;
  int64_t begin_, count_;
};

class Permute final : public Op {
 public:
  using Axes = std::array<int, Shape::kMaxDims>;
  Permute(const Axes& axes, int count) : axes_(axes), count_(count) {}
  std::string_view name() const override { return "permute"; }

  OutputSpec infer(std::span<const Tensor> in) const override {
    const Shape& s = in[0].shape();
    require(count_ == s.ndim(), "permute: ", count_, " axes for ", s);
    std::array<bool, Shape::kMaxDims> seen{};
    std::array<int64_t, Shape::kMaxDims> dims{};
    for (int i = 0; i < count_; ++i) {
      const int axis = axes_[static_cast<size_t>(i)];
      require(axis >= 0 && axis < count_ && !seen[static_cast<size_t>(axis)], "permute: axis ",
              axis, " of ", s, " is out of range or named twice");
      seen[static_cast<size_t>(axis)] = true;
      dims[static_cast<size_t>(i)] = s.dim(axis);
    }
    return {Shape(std::span<const int64_t>(dims.data(), static_cast<size_t>(count_))),
            in[0].dtype()};
  }

  void run(const RunArgs& a) const noexcept override {
    switch (bytes_of(a.out.dtype())) {
      case 1:
        return move<uint8_t>(a);
      case 2:
        return move<uint16_t>(a);
      case 4:
        return move<uint32_t>(a);
      default:
        return move<uint64_t>(a);
    }
  }

  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    Axes inverse{};
    for (int i = 0; i < count_; ++i)
      inverse[static_cast<size_t>(axes_[static_cast<size_t>(i)])] = i;
    return {apply(Permute(inverse, count_), {a.dout})};
  }

 private:
  // Walks the output in order; each output row reads the input with one stride.
  template <class T>
  void move(const RunArgs& a) const {
    if (a.out.size() == 0) return;
    const Shape& s = a.in[0].shape();
    std::array<int64_t, Shape::kMaxDims>
        stride{};  // of the input, in the order of the output's axes
    for (int i = 0; i < count_; ++i) {
      int64_t step = 1;
      for (int j = axes_[static_cast<size_t>(i)] + 1; j < count_; ++j) step *= s.dim(j);
      stride[static_cast<size_t>(i)] = step;
    }
    const auto* x = reinterpret_cast<const T*>(a.in[0].raw());
    auto* y = reinterpret_cast<T*>(a.out.mutable_raw());
    const int64_t width = a.out.width();
    const int64_t step = count_ == 0 ? 0 : stride[static_cast<size_t>(count_ - 1)];
    over_rows(a.compute, a.out.rows(), width, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        int64_t at = 0;
        int64_t rest = r;
        for (int i = count_ - 2; i >= 0; --i) {
          const int64_t extent = a.out.dim(i);
          at += rest % extent * stride[static_cast<size_t>(i)];
          rest /= extent;
        }
        for (int64_t c = 0; c < width; ++c) y[r * width + c] = x[at + c * step];
      }
    });
  }

  Axes axes_;
  int count_;
};

class Concat final : public Op {
 public:
  explicit Concat(int axis) : axis_(axis) {}
  std::string_view name() const override { return "concat"; }
  OutputSpec infer(std::span<const Tensor> in) const override {
    require(!in.empty(), "concat: nothing to join");
    const Shape& first = in[0].shape();
    const int axis = axis_of(first, axis_, name());
    int64_t total = 0;
    for (const Tensor& t : in) {
      require(t.dtype() == in[0].dtype() && t.ndim() == first.ndim() &&
                  with_dim(t.shape(), axis, 0) == with_dim(first, axis, 0),
              "concat: ", describe(t), " does not fit ", describe(in[0]), " along axis ", axis);
      total += t.dim(axis);
    }
    return {with_dim(first, axis, total), in[0].dtype()};
  }
  void run(const RunArgs& a) const noexcept override {
    const int axis = axis_of(a.out.shape(), axis_, name());
    const Along out = along(a.out.shape(), axis);
    int64_t at = 0;
    for (const Tensor& t : a.in) {
      const Along part = along(t.shape(), axis);
      copy_along(t, part, 0, a.out, out, at, part.extent, a.compute);
      at += part.extent;
    }
  }
  std::vector<Tensor> vjp(const VjpArgs& a) const override {
    const int axis = axis_of(a.out.shape(), axis_, name());
    std::vector<Tensor> grads;
    int64_t at = 0;
    for (const Tensor& t : a.in) {
      grads.push_back(slice(a.dout, axis, at, t.dim(axis)));
      at += t.dim(axis);
    }
    return grads;
  }

 private:
  int axis_;
};

}  // namespace

Tensor reshape(const Tensor& x, std::initializer_list<int64_t> dims) {
  std::array<int64_t, Shape::kMaxDims> extents{};
  require(dims.size() <= extents.size(), "reshape: ", dims.size(), " axes");
  int64_t known = 1;
  int64_t* open = nullptr;
  size_t n = 0;
  for (const int64_t d : dims) {
    extents[n] = d;
    if (d == -1) {
      require(open == nullptr, "reshape: two extents are -1");
      open = &extents[n];
    } else {
      require(d >= 0 && (d == 0 || known <= INT64_MAX / d), "reshape: extent ", d);
      known *= d;
    }
    ++n;
  }
  if (open != nullptr) {
    require(known != 0 && x.size() % known == 0, "reshape: ", x.shape(),
            " has no whole number of parts of ", known);
    *open = x.size() / known;
  }
  return x.with_shape(Shape(std::span<const int64_t>(extents.data(), n)));
}

Tensor slice_rows(const Tensor& x, int64_t begin, int64_t count) {
  return apply(SliceRows(begin, count), {x});
}

Tensor slice(const Tensor& x, int axis, int64_t begin, int64_t count) {
  return apply(Slice(axis, begin, count), {x});
}

std::vector<Tensor> split_last(const Tensor& x, std::span<const int64_t> sizes) {
  require(std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) == x.width() && x.ndim() > 0,
          "split_last: the sizes do not add up to the last axis of ", x.shape());
  std::vector<Tensor> parts;
  int64_t at = 0;
  for (const int64_t size : sizes) {
    parts.push_back(slice(x, -1, at, size));
    at += size;
  }
  return parts;
}

Tensor transpose(const Tensor& x) {
  require(x.ndim() >= 2, "transpose: ", x.shape(), " has fewer than two axes");
  Permute::Axes axes{};
  std::iota(axes.begin(), axes.end(), 0);
  const auto n = static_cast<size_t>(x.ndim());
  std::swap(axes[n - 1], axes[n - 2]);
  return apply(Permute(axes, x.ndim()), {x});
}

Tensor permute(const Tensor& x, std::initializer_list<int> axes) {
  require(axes.size() <= Shape::kMaxDims, "permute: ", axes.size(), " axes");
  Permute::Axes kept{};
  std::ranges::copy(axes, kept.begin());
  return apply(Permute(kept, static_cast<int>(axes.size())), {x});
}

Tensor concat(std::span<const Tensor> parts, int axis) { return apply_all(Concat(axis), parts); }
Tensor concat_rows(std::span<const Tensor> parts) { return apply_all(Concat(0), parts); }

}  // namespace hearth
