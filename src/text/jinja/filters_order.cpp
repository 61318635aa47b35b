// Filters that sort and compare.
#include <algorithm>

#include "base/error.h"
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"
#include "text/jinja/printing.h"
#include "text/jinja/stable_order.h"
#include "text/jinja/text_ops.h"

namespace hearth::jinja {
namespace {

// Items in the order of their keys. Equal keys keep their order, also when reversed.
List& sorted_by(Interpreter& in, const std::vector<Value>& items, const std::vector<Value>& keys,
                bool is_reversed) {
  // Sorting backwards and turning round keeps equal items in their order.
  const auto place = [&](size_t i) { return is_reversed ? items.size() - 1 - i : i; };
  auto order = stable_order(items.size(), [&](size_t a, size_t b) {
    return less(in.heap(), keys[place(a)], keys[place(b)]);
  });
  if (is_reversed) std::ranges::reverse(order);
  List& out = in.heap().make<List>(Kind::kList);
  for (const size_t i : order) in.heap().push(out, items[place(i)]);
  return out;
}

Value sort_filter(Interpreter& in, const Value& value, Bound& args) {
  const bool is_case_sensitive = args.bool_or(1, false);
  std::vector<AttributePath> paths;
  if (args.has(2) && args[2].is_string()) {
    const Str comma(nullptr, ",", Origin::kTemplate);
    for (const Value& path : split(in.heap(), args[2].str(), &comma, -1, Side::kLeft).items)
      paths.emplace_back(in, path);
  } else {
    paths.emplace_back(in, args.value_or(2, Value::none()));
  }
  const List& items = to_list(in.heap(), value);
  std::vector<Value> keys;
  for (const Value& item : items.items) {
    List& key = in.heap().make<List>(Kind::kList);
    for (const AttributePath& path : paths) {
      const Value found = path.get(in, item);
      in.heap().push(key, is_case_sensitive ? found : ignore_case(in, found));
    }
    keys.push_back(Value::object(&key));
  }
  return Value::object(&sorted_by(in, items.items, keys, args.bool_or(0, false)));
}

Value dictsort_filter(Interpreter& in, const Value& value, Bound& args) {
  if (value.is_undefined()) refuse_undefined(value);
  if (!value.is(Kind::kDict))
    fail(Code::kInvalidArgument, "'", type_name(value), "' object has no attribute 'items'");
  const std::string_view by = args.has(1) && args[1].is_string() ? args[1].text()
                              : args.has(1)                      ? ""
                                                                 : "key";
  if (by != "key" && by != "value")
    fail(Code::kInvalidArgument, "You can only sort by either \"key\" or \"value\"");
  const Value view =
      Value::object(&in.heap().make<DictView>(&value.as<Dict>(), DictView::Part::kItems));
  const List& pairs = to_list(in.heap(), view);
  std::vector<Value> keys;
  for (const Value& pair : pairs.items) {
    const Value& key = pair.as<List>().items[by == "key" ? 0 : 1];
    keys.push_back(args.bool_or(0, false) ? key : ignore_case(in, key));
  }
  return Value::object(&sorted_by(in, pairs.items, keys, args.bool_or(2, false)));
}

template <CompareOp better>
Value best_filter(Interpreter& in, const Value& value, Bound& args) {
  const AttributePath path(in, args.value_or(1, Value::none()));
  const auto key_of = [&](const Value& item) {
    const Value found = path.get(in, item);
    return args.bool_or(0, false) ? found : ignore_case(in, found);
  };
  const List& items = to_list(in.heap(), value);
  if (items.items.empty()) return in.undefined("No aggregated item, sequence was empty.");
  Value best = items.items.front();
  Value best_key = key_of(best);
  for (size_t i = 1; i < items.items.size(); ++i) {
    Value key = key_of(items.items[i]);
    if (!compare(in.heap(), better, key, best_key)) continue;
    best = items.items[i];
    best_key = std::move(key);
  }
  return best;
}

Value groupby_filter(Interpreter& in, const Value& value, Bound& args) {
  Heap& heap = in.heap();
  const AttributePath path(in, args[0]);
  const Value otherwise = args.value_or(1, Value::none());
  const bool is_case_sensitive = args.bool_or(2, false);
  const auto key_of = [&](const Value& item) {
    const Value found = path.get(in, item, otherwise);
    return is_case_sensitive ? found : ignore_case(in, found);
  };
  const List& items = to_list(heap, value);
  std::vector<Value> keys;
  for (const Value& item : items.items) keys.push_back(key_of(item));
  const List& ordered = sorted_by(in, items.items, keys, false);
  List& groups = heap.make<List>(Kind::kList);
  Value group_key;
  for (const Value& item : ordered.items) {
    Value key = key_of(item);
    if (groups.items.empty() || !equal(in.budget(), key, group_key)) {
      List& group = heap.make<List>(Kind::kTuple);
      group.names = List::Names::kGroup;
      heap.push(group, path.get(in, item, otherwise));
      heap.push(group, Value::object(&heap.make<List>(Kind::kList)));
      heap.push(groups, Value::object(&group));
      group_key = std::move(key);
    }
    heap.push(groups.items.back().as<List>().items[1].as<List>(), item);
  }
  return Value::object(&groups);
}

constexpr Native kFilters[] = {
    {"dictsort", "case_sensitive by reverse", 0, dictsort_filter},
    {"groupby", "attribute default case_sensitive", 1, groupby_filter},
    {"max", "case_sensitive attribute", 0, best_filter<CompareOp::kGt>},
    {"min", "case_sensitive attribute", 0, best_filter<CompareOp::kLt>},
    {"sort", "reverse case_sensitive attribute", 0, sort_filter},
};

}  // namespace

std::span<const Native> order_filters() { return kFilters; }

}  // namespace hearth::jinja
