// Walking, slicing and searching of containers.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "text/jinja/operators.h"
#include "text/jinja/text_ops.h"

namespace hearth::jinja {
namespace {

class EmptyIter final : public Iter {
 public:
  bool next(Value&) override { return false; }
};

class ListIter final : public Iter {
 public:
  explicit ListIter(const List& list) : list_(list) {}
  bool next(Value& out) override {
    if (at_ >= list_.items.size()) return false;
    out = list_.items[at_++];
    return true;
  }

 private:
  const List& list_;
  size_t at_ = 0;
};

class CharIter final : public Iter {
 public:
  CharIter(Budget& budget, Str s) : budget_(budget), s_(std::move(s)) {}
  bool next(Value& out) override {
    if (at_ >= s_.size()) return false;
    const int64_t end = at_ + char_bytes(s_.view(), at_);
    out = Value::string(substr(budget_, s_, at_, end));
    at_ = end;
    return true;
  }

 private:
  Budget& budget_;
  Str s_;
  int64_t at_ = 0;
};

class RangeIter final : public Iter {
 public:
  explicit RangeIter(const Range& range) : range_(range) {}
  bool next(Value& out) override {
    if (at_ >= range_.length) return false;
    out = Value::integer(range_.at(at_++));
    return true;
  }

 private:
  const Range& range_;
  int64_t at_ = 0;
};

class DictIter final : public Iter {
 public:
  DictIter(Heap& heap, const Dict& dict, DictView::Part part)
      : heap_(heap), dict_(dict), part_(part) {}
  bool next(Value& out) override {
    if (at_ >= dict_.entries.size()) return false;
    const auto& [key, value] = dict_.entries[at_++];
    if (part_ == DictView::Part::kItems) {
      List& pair = heap_.make<List>(Kind::kTuple);
      heap_.push(pair, key);
      heap_.push(pair, value);
      out = Value::object(&pair);
    } else {
      out = part_ == DictView::Part::kKeys ? key : value;
    }
    return true;
  }

 private:
  Heap& heap_;
  const Dict& dict_;
  DictView::Part part_;
  size_t at_ = 0;
};

// An Iterator object walked by someone: what is taken is gone for all.
class SharedIter final : public Iter {
 public:
  explicit SharedIter(Iterator& iterator) : iterator_(iterator) {}
  bool next(Value& out) override { return iterator_.source->next(out); }

 private:
  Iterator& iterator_;
};

struct Bounds {
  int64_t start, stop, step, count;
};

int64_t slice_bound(const Value& value, int64_t otherwise, int64_t low, int64_t high,
                    int64_t length) {
  if (value.is_missing() || value.is_none()) return otherwise;
  if (value.is_undefined()) refuse_undefined(value);
  if (!value.is_integral()) {
    fail(Code::kInvalidArgument, "slice indices must be integers or None, not ", type_name(value));
  }
  int64_t bound = value.as_int();
  if (bound < 0) bound = bound < -length ? INT64_MIN : bound + length;
  return std::clamp(bound, low, high);
}

Bounds slice_bounds(int64_t length, const Value& start, const Value& stop, const Value& step) {
  int64_t by = 1;
  if (!step.is_missing() && !step.is_none()) {
    if (!step.is_integral())
      fail(Code::kInvalidArgument, "slice indices must be integers or None, not ", type_name(step));
    by = std::clamp(step.as_int(), -INT64_MAX, INT64_MAX);
    if (by == 0) fail(Code::kInvalidArgument, "slice step cannot be zero");
  }
  const int64_t low = by < 0 ? -1 : 0;
  const int64_t high = by < 0 ? length - 1 : length;
  const int64_t first = slice_bound(start, by < 0 ? high : low, low, high, length);
  const int64_t last = slice_bound(stop, by < 0 ? low : high, low, high, length);
  int64_t count = 0;
  if (by > 0 && first < last) count = (last - first - 1) / by + 1;
  if (by < 0 && first > last) count = (first - last - 1) / -by + 1;
  return {first, last, by, count};
}

Value slice_string(Heap& heap, const Str& s, const Bounds& bounds) {
  Budget& budget = heap.budget();
  if (bounds.count == 0) return Value::string(Str());
  if (bounds.step == 1) {
    const int64_t begin = s.offset_of_char(bounds.start);
    int64_t end = begin;
    if (s.is_ascii()) {
      end = begin + bounds.count;
    } else {
      for (int64_t i = 0; i < bounds.count; ++i) end += char_bytes(s.view(), end);
    }
    budget.step(end / 256);
    return Value::string(substr(budget, s, begin, end));
  }
  budget.scan(2 * s.size());
  std::vector<int64_t> offsets;
  budget.grow(s.chars() * static_cast<int64_t>(sizeof(int64_t)));
  for (int64_t at = 0; at < s.size(); at += char_bytes(s.view(), at)) offsets.push_back(at);
  StrBuilder out(budget);
  for (int64_t i = 0; i < bounds.count; ++i) {
    const int64_t at = offsets[static_cast<size_t>(bounds.start + i * bounds.step)];
    out.append(s, at, at + char_bytes(s.view(), at));
  }
  budget.shrink(s.chars() * static_cast<int64_t>(sizeof(int64_t)));
  return Value::string(out.take());
}

Range& slice_range(Heap& heap, const Range& range, const Bounds& bounds) {
  const auto at = [&](int64_t index) {
    int64_t value = 0;
    if (__builtin_mul_overflow(index, range.step, &value) ||
        __builtin_add_overflow(value, range.start, &value)) {
      fail(Code::kInvalidArgument, "range slice too large");
    }
    return value;
  };
  int64_t step = 0;
  if (__builtin_mul_overflow(range.step, bounds.step, &step))
    fail(Code::kInvalidArgument, "range slice too large");
  return heap.make<Range>(at(bounds.start), at(bounds.stop), step);
}

bool contains_any(Heap& heap, const Value& container, const Value& item) {
  const std::unique_ptr<Iter> iter = iterate(heap, container);
  Value next;
  while (iter->next(next)) {
    if (equal(heap.budget(), next, item)) return true;
  }
  return false;
}

}  // namespace

Value slice(Heap& heap, const Value& container, const Value& start, const Value& stop,
            const Value& step) {
  switch (container.kind()) {
    case Kind::kString:
      return slice_string(heap, container.str(),
                          slice_bounds(container.str().chars(), start, stop, step));
    case Kind::kList:
    case Kind::kTuple: {
      const auto& items = container.as<List>().items;
      const Bounds bounds = slice_bounds(static_cast<int64_t>(items.size()), start, stop, step);
      List& out = heap.make<List>(container.kind());
      for (int64_t i = 0; i < bounds.count; ++i) {
        heap.budget().step();
        heap.push(out, items[static_cast<size_t>(bounds.start + i * bounds.step)]);
      }
      return Value::object(&out);
    }
    case Kind::kRange: {
      const auto& range = container.as<Range>();
      const Bounds bounds = slice_bounds(range.length, start, stop, step);
      return Value::object(&slice_range(heap, range, bounds));
    }
    case Kind::kUndefined:
      refuse_undefined(container);
    default:
      fail(Code::kInvalidArgument, "'", type_name(container),
           "' object is not subscriptable by a slice");
  }
}

bool contains(Heap& heap, const Value& container, const Value& item) {
  switch (container.kind()) {
    case Kind::kString:
      if (!item.is_string()) {
        if (item.is_undefined()) refuse_undefined(item);
        fail(Code::kInvalidArgument, "'in <string>' requires string as left operand, not ",
             type_name(item));
      }
      heap.budget().step(container.str().size() / 256);
      return find_text(container.text(), item.text()) >= 0;
    case Kind::kDict:
      heap.budget().step(item.is_string() ? item.str().size() / 256 : 0);
      return container.as<Dict>().find(item) != nullptr;
    case Kind::kRange: {
      const auto& range = container.as<Range>();
      if (!item.is_number() || range.length == 0) return false;
      if (item.is(Kind::kFloat) && !(item.as_float() >= -0x1p62 && item.as_float() <= 0x1p62))
        return false;
      if (item.is(Kind::kFloat) && item.as_float() != std::floor(item.as_float())) return false;
      const int64_t wanted =
          item.is(Kind::kFloat) ? static_cast<int64_t>(item.as_float()) : item.as_int();
      const int64_t low = std::min(range.start, range.at(range.length - 1));
      const int64_t high = std::max(range.start, range.at(range.length - 1));
      return wanted >= low && wanted <= high && (wanted - range.start) % range.step == 0;
    }
    case Kind::kDictView:
      if (container.as<DictView>().part == DictView::Part::kKeys) {
        return container.as<DictView>().dict->find(item) != nullptr;
      }
      return contains_any(heap, container, item);
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kIterator:
    case Kind::kUndefined:
      return contains_any(heap, container, item);
    default:
      fail(Code::kInvalidArgument, "argument of type '", type_name(container), "' is not iterable");
  }
}

std::unique_ptr<Iter> iterate(Heap& heap, const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return std::make_unique<EmptyIter>();
    case Kind::kString:
      return std::make_unique<CharIter>(heap.budget(), value.str());
    case Kind::kList:
    case Kind::kTuple:
      return std::make_unique<ListIter>(value.as<List>());
    case Kind::kDict:
      return std::make_unique<DictIter>(heap, value.as<Dict>(), DictView::Part::kKeys);
    case Kind::kDictView:
      return std::make_unique<DictIter>(heap, *value.as<DictView>().dict,
                                        value.as<DictView>().part);
    case Kind::kRange:
      return std::make_unique<RangeIter>(value.as<Range>());
    case Kind::kIterator:
      return std::make_unique<SharedIter>(value.as<Iterator>());
    default:
      fail(Code::kInvalidArgument, "'", type_name(value), "' object is not iterable");
  }
}

List& to_list(Heap& heap, const Value& value, Kind kind) {
  const std::unique_ptr<Iter> iter = iterate(heap, value);
  List& out = heap.make<List>(kind);
  Value item;
  while (iter->next(item)) {
    heap.budget().step();
    heap.push(out, item);
  }
  return out;
}

int64_t length_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kString:
      return value.str().chars();
    case Kind::kList:
    case Kind::kTuple:
      return static_cast<int64_t>(value.as<List>().items.size());
    case Kind::kDict:
      return static_cast<int64_t>(value.as<Dict>().entries.size());
    case Kind::kDictView:
      return static_cast<int64_t>(value.as<DictView>().dict->entries.size());
    case Kind::kRange:
      return value.as<Range>().length;
    default:
      return -1;
  }
}

}  // namespace hearth::jinja
