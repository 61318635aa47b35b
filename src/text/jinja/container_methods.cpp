// Methods of list, tuple and dict that leave them as they are.
#include <algorithm>

#include "base/error.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/native.h"
#include "text/jinja/operators.h"
#include "text/jinja/printing.h"

namespace hearth::jinja {
namespace {

Value list_count(Interpreter& in, const Value& self, Bound& args) {
  const auto& items = to_list(in.heap(), self).items;
  return Value::integer(std::ranges::count_if(
      items, [&](const Value& item) { return equal(in.budget(), item, args[0]); }));
}

Value list_index(Interpreter& in, const Value& self, Bound& args) {
  const auto& items = to_list(in.heap(), self).items;
  const auto length = static_cast<int64_t>(items.size());
  const auto bound = [&](size_t i, int64_t otherwise) {
    const int64_t at = args.int_or(i, otherwise);
    return std::clamp<int64_t>(at < 0 ? std::max(at, -length) + length : at, 0, length);
  };
  const int64_t end = bound(2, length);
  for (int64_t i = bound(1, 0); i < end; ++i) {
    if (equal(in.budget(), items[static_cast<size_t>(i)], args[0])) return Value::integer(i);
  }
  fail(Code::kInvalidArgument, plain_repr(in.heap(), args[0]), " is not in ", type_name(self));
}

Value list_copy(Interpreter& in, const Value& self, Bound&) {
  return Value::object(&to_list(in.heap(), self));
}

Value dict_get(Interpreter&, const Value& self, Bound& args) {
  const Value* found = self.as<Dict>().find(args[0]);
  return found != nullptr ? *found : args.value_or(1, Value::none());
}

template <DictView::Part part>
Value dict_view(Interpreter& in, const Value& self, Bound&) {
  return Value::object(&in.heap().make<DictView>(&self.as<Dict>(), part));
}

Value dict_copy(Interpreter& in, const Value& self, Bound&) {
  Dict& copy = in.heap().make<Dict>();
  for (const auto& [key, value] : self.as<Dict>().entries) in.heap().set(copy, key, value);
  return Value::object(&copy);
}

constexpr Native kListMethods[] = {
    {"copy", "/", 0, list_copy},
    {"count", "/ value", 1, list_count},
    {"index", "/ value start stop", 1, list_index},
};

constexpr Native kDictMethods[] = {
    {"copy", "/", 0, dict_copy},
    {"get", "/ key default", 1, dict_get},
    {"items", "/", 0, dict_view<DictView::Part::kItems>},
    {"keys", "/", 0, dict_view<DictView::Part::kKeys>},
    {"values", "/", 0, dict_view<DictView::Part::kValues>},
};

const Native* find_in(std::span<const Native> table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Native::name);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace

const Native* find_list_method(std::string_view name) { return find_in(kListMethods, name); }
const Native* find_dict_method(std::string_view name) { return find_in(kDictMethods, name); }

}  // namespace hearth::jinja
