// Filters on sequences that keep their order.
#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"
#include "text/jinja/printing.h"
#include "text/jinja/text_ops.h"

namespace hearth::jinja {
namespace {

Value length_filter(Interpreter& in, const Value& value, Bound&) {
  const int64_t length =
      value.is(Kind::kLoop) ? value.as<Loop>().length(in.heap()) : length_of(value);
  if (length < 0)
    fail(Code::kInvalidArgument, "object of type '", type_name(value), "' has no len()");
  return Value::integer(length);
}

Value list_filter(Interpreter& in, const Value& value, Bound&) {
  return Value::object(&to_list(in.heap(), value));
}

Value first_filter(Interpreter& in, const Value& value, Bound&) {
  const std::unique_ptr<Iter> iter = iterate(in.heap(), value);
  Value item;
  if (iter->next(item)) return item;
  return in.undefined("No first item, sequence was empty.");
}

bool is_reversible(const Value& value) {
  return value.is_string() || value.is_sequence() || value.is(Kind::kDict) ||
         value.is(Kind::kRange) || value.is(Kind::kDictView) || value.is_undefined();
}

Value last_filter(Interpreter& in, const Value& value, Bound&) {
  if (!is_reversible(value))
    fail(Code::kInvalidArgument, "'", type_name(value), "' object is not reversible");
  if (length_of(value) == 0) return in.undefined("No last item, sequence was empty.");
  if (value.is_string()) return slice(in.heap(), value, Value::integer(-1), Value(), Value());
  if (value.is_sequence()) return value.as<List>().items.back();
  return to_list(in.heap(), value).items.back();
}

Value random_filter(Interpreter&, const Value&, Bound&) {
  fail(Code::kUnsupported, "the filter 'random' is not supported: a prompt must not be random");
}

Value reverse_filter(Interpreter& in, const Value& value, Bound&) {
  if (value.is_string()) return Value::string(reversed(in.budget(), value.str()));
  if (!is_reversible(value) && !value.is(Kind::kIterator))
    fail(Code::kInvalidArgument, "argument must be iterable");
  List& items = to_list(in.heap(), value);
  std::ranges::reverse(items.items);
  if (value.is(Kind::kIterator)) return Value::object(&items);
  const std::string_view type = value.is(Kind::kList)    ? "list_reverseiterator"
                                : value.is(Kind::kDict)  ? "dict_reversekeyiterator"
                                : value.is(Kind::kRange) ? "range_iterator"
                                                         : "reversed";
  return Value::object(&in.heap().make<Iterator>(iterate(in.heap(), Value::object(&items)), type));
}

Value join_filter(Interpreter& in, const Value& value, Bound& args) {
  List* items = &to_list(in.heap(), value);
  if (args.has_value(1)) {
    const AttributePath path(in, args[1]);
    List& mapped = in.heap().make<List>(Kind::kList);
    for (const Value& item : items->items) in.heap().push(mapped, path.get(in, item));
    items = &mapped;
  }
  const Str separator = args.has(0) ? to_text(in.heap(), args[0]) : Str();
  return Value::string(join(in.heap(), separator, *items));
}

Value items_filter(Interpreter& in, const Value& value, Bound&) {
  return generator(in, [&in, value]() -> std::unique_ptr<Iter> {
    if (value.is_undefined()) return nullptr;
    if (!value.is(Kind::kDict))
      fail(Code::kInvalidArgument, "Can only get item pairs from a mapping.");
    return iterate(in.heap(), Value::object(&in.heap().make<DictView>(&value.as<Dict>(),
                                                                      DictView::Part::kItems)));
  });
}

std::unique_ptr<Iter> batches(Interpreter& in, const Value& value, const Value& size,
                              const Value& fill) {
  Heap& heap = in.heap();
  List& out = heap.make<List>(Kind::kList);
  const auto row = [&]() -> List& { return out.items.back().as<List>(); };
  const auto row_size = [&] { return Value::integer(static_cast<int64_t>(row().items.size())); };
  for (const Value& item : to_list(heap, value).items) {
    if (out.items.empty() || equal(in.budget(), row_size(), size)) {
      heap.push(out, Value::object(&heap.make<List>(Kind::kList)));
    }
    heap.push(row(), item);
  }
  if (!fill.is_missing() && !fill.is_none()) {
    while (!out.items.empty() && less(heap, row_size(), size)) heap.push(row(), fill);
  }
  return iterate(heap, Value::object(&out));
}

Value batch_filter(Interpreter& in, const Value& value, Bound& args) {
  return generator(
      in, [&in, value, size = args[0], fill = args[1]] { return batches(in, value, size, fill); });
}

std::unique_ptr<Iter> slices_of(Interpreter& in, const Value& value, int64_t slices,
                                const Value& fill) {
  Heap& heap = in.heap();
  const List& items = to_list(heap, value);
  if (slices == 0) fail(Code::kInvalidArgument, "integer division or modulo by zero");
  const auto length = static_cast<int64_t>(items.items.size());
  List& out = heap.make<List>(Kind::kList);
  int64_t at = 0;
  for (int64_t i = 0; i < slices; ++i) {
    in.budget().step();
    const bool has_extra = i < length % slices;
    List& part = heap.make<List>(Kind::kList);
    const int64_t end = at + length / slices + (has_extra ? 1 : 0);
    for (; at < end; ++at) heap.push(part, items.items[static_cast<size_t>(at)]);
    if (!fill.is_missing() && !fill.is_none() && !has_extra) heap.push(part, fill);
    heap.push(out, Value::object(&part));
  }
  return iterate(heap, Value::object(&out));
}

Value slice_filter(Interpreter& in, const Value& value, Bound& args) {
  return generator(in, [&in, value, slices = args.int_or(0, 1), fill = args[1]] {
    return slices_of(in, value, slices, fill);
  });
}

Value sum_filter(Interpreter& in, const Value& value, Bound& args) {
  const AttributePath path(in, args.value_or(0, Value::none()));
  Value total = args.value_or(1, Value::integer(0));
  if (total.is_string())
    fail(Code::kInvalidArgument, "sum() can't sum strings [use ''.join(seq) instead]");
  for (const Value& item : to_list(in.heap(), value).items) {
    total = arithmetic(in.heap(), BinaryOp::kAdd, total, path.get(in, item));
  }
  return total;
}

std::unique_ptr<Iter> unique_items(Interpreter& in, const Value& value, bool is_case_sensitive,
                                   const Value& attribute) {
  const AttributePath path(in, attribute);
  Dict& seen = in.heap().make<Dict>();
  List& out = in.heap().make<List>(Kind::kList);
  for (const Value& item : to_list(in.heap(), value).items) {
    const Value found = path.get(in, item);
    const Value key = is_case_sensitive ? found : ignore_case(in, found);
    if (seen.find(key) != nullptr) continue;
    in.heap().set(seen, key, Value::none());
    in.heap().push(out, item);
  }
  return iterate(in.heap(), Value::object(&out));
}

Value unique_filter(Interpreter& in, const Value& value, Bound& args) {
  return generator(in,
                   [&in, value, is_case_sensitive = args.bool_or(0, false), attribute = args[1]] {
                     return unique_items(in, value, is_case_sensitive, attribute);
                   });
}

Value attr_filter(Interpreter& in, const Value& value, Bound& args) {
  const Str name = to_text(in.heap(), args[0]);
  // Unlike value.name this never falls back to an item.
  return value.is(Kind::kDict) && find_dict_method(name.view()) == nullptr &&
                 !is_mutating_method(value, name.view())
             ? in.undefined("'dict object' has no attribute '" + std::string(name.view()) + "'")
             : in.get_attribute(value, name);
}

constexpr Native kFilters[] = {
    {"attr", "name", 1, attr_filter},
    {"batch", "linecount fill_with", 1, batch_filter},
    {"count", "/", 0, length_filter},
    {"first", "/", 0, first_filter},
    {"items", "/", 0, items_filter},
    {"join", "d attribute", 0, join_filter},
    {"last", "/", 0, last_filter},
    {"length", "/", 0, length_filter},
    {"list", "/", 0, list_filter},
    {"random", "/", 0, random_filter},
    {"reverse", "/", 0, reverse_filter},
    {"slice", "slices fill_with", 1, slice_filter},
    {"sum", "attribute start", 0, sum_filter},
    {"unique", "case_sensitive attribute", 0, unique_filter},
};

}  // namespace

std::span<const Native> sequence_filters() { return kFilters; }

}  // namespace hearth::jinja
