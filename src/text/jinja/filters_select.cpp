// map, select, reject and their kin: lazy, as in Jinja2.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"
#include "text/jinja/printing.h"
#include "text/jinja/text_ops.h"

namespace hearth::jinja {

AttributePath::AttributePath(Interpreter& interpreter, const Value& path) {
  if (path.is_missing() || path.is_none()) return;
  if (!path.is_string()) {
    steps_.push_back(path);
    return;
  }
  const Str dot(nullptr, ".", Origin::kTemplate);
  for (const Value& step : split(interpreter.heap(), path.str(), &dot, -1, Side::kLeft).items) {
    const std::string_view text = step.text();
    const bool is_index = !text.empty() && text.size() < 18 &&
                          text.find_first_not_of("0123456789") == std::string_view::npos;
    int64_t index = 0;
    for (const char c : text) index = is_index ? index * 10 + (c - '0') : 0;
    steps_.push_back(is_index ? Value::integer(index) : step);
  }
}

Value AttributePath::get(Interpreter& interpreter, const Value& item,
                         const Value& otherwise) const {
  Value at = item;
  for (const Value& step : steps_) {
    at = interpreter.get_item(at, step);
    if (at.is_undefined() && !otherwise.is_missing() && !otherwise.is_none()) at = otherwise;
  }
  return at;
}

Value ignore_case(Interpreter& interpreter, const Value& value) {
  return value.is_string() ? Value::string(lower_greek(interpreter.budget(), value.str())) : value;
}

namespace {

class MapIter final : public Iter {
 public:
  MapIter(Interpreter& in, const Value& source, Arguments arguments)
      : in_(in), source_(iterate(in.heap(), source)) {
    if (arguments.positional.empty()) {
      const auto take = [&](std::string_view name) {
        const auto found = std::ranges::find_if(
            arguments.named, [&](const auto& n) { return n.first.view() == name; });
        if (found == arguments.named.end()) return Value();
        Value value = found->second;
        arguments.named.erase(found);
        return value;
      };
      const Value attribute = take("attribute");
      if (attribute.is_missing()) fail(Code::kInvalidArgument, "map requires a filter argument");
      otherwise_ = take("default");
      if (!arguments.named.empty()) {
        fail(Code::kInvalidArgument, "Unexpected keyword argument '",
             arguments.named.front().first.view(), "'");
      }
      path_.emplace(in, attribute);
      return;
    }
    filter_ = to_text(in.heap(), arguments.positional.front());
    arguments.positional.erase(arguments.positional.begin());
    arguments_ = std::move(arguments);
  }

  bool next(Value& out) override {
    Value item;
    if (!source_->next(item)) return false;
    in_.budget().step();
    out = path_ ? path_->get(in_, item, otherwise_) : in_.call_filter(filter_, item, arguments_);
    return true;
  }

 private:
  Interpreter& in_;
  std::unique_ptr<Iter> source_;
  std::optional<AttributePath> path_;
  Value otherwise_;
  Str filter_;
  Arguments arguments_;
};

class SelectIter final : public Iter {
 public:
  SelectIter(Interpreter& in, const Value& source, Arguments arguments, bool by_attribute,
             bool wanted)
      : in_(in), source_(iterate(in.heap(), source)), wanted_(wanted) {
    auto& positional = arguments.positional;
    if (by_attribute) {
      if (positional.empty()) fail(Code::kInvalidArgument, "Missing parameter for attribute name");
      path_.emplace(in, positional.front());
      positional.erase(positional.begin());
    }
    if (!positional.empty()) {
      test_ = to_text(in.heap(), positional.front());
      positional.erase(positional.begin());
      arguments_ = std::move(arguments);
    }
  }

  bool next(Value& out) override {
    Value item;
    while (source_->next(item)) {
      in_.budget().step();
      const Value tested = path_ ? path_->get(in_, item) : item;
      const bool passes = is_true(test_ ? in_.call_test(*test_, tested, arguments_) : tested);
      if (passes != wanted_) continue;
      out = item;
      return true;
    }
    return false;
  }

 private:
  Interpreter& in_;
  std::unique_ptr<Iter> source_;
  bool wanted_;
  std::optional<AttributePath> path_;
  std::optional<Str> test_;
  Arguments arguments_;
};

Arguments rest_of(Bound& args) {
  return Arguments{std::move(args.rest()), std::move(args.named_rest())};
}

class LazyIter final : public Iter {
 public:
  explicit LazyIter(std::move_only_function<std::unique_ptr<Iter>()> start)
      : start_(std::move(start)) {}
  bool next(Value& out) override {
    if (start_) source_ = std::exchange(start_, {})();
    return source_ != nullptr && source_->next(out);
  }

 private:
  std::move_only_function<std::unique_ptr<Iter>()> start_;
  std::unique_ptr<Iter> source_;
};

Value map_filter(Interpreter& in, const Value& value, Bound& args) {
  return generator(in, [&in, value, rest = rest_of(args)]() mutable -> std::unique_ptr<Iter> {
    if (!is_true(value)) return nullptr;
    return std::make_unique<MapIter>(in, value, std::move(rest));
  });
}

template <bool by_attribute, bool wanted>
Value select_filter(Interpreter& in, const Value& value, Bound& args) {
  return generator(in, [&in, value, rest = rest_of(args)]() mutable -> std::unique_ptr<Iter> {
    if (!is_true(value)) return nullptr;
    return std::make_unique<SelectIter>(in, value, std::move(rest), by_attribute, wanted);
  });
}

constexpr Native kFilters[] = {
    {"map", "* **", 0, map_filter},
    {"select", "* **", 0, select_filter<false, true>},
    {"reject", "* **", 0, select_filter<false, false>},
    {"selectattr", "* **", 0, select_filter<true, true>},
    {"rejectattr", "* **", 0, select_filter<true, false>},
};

}  // namespace

Value generator(Interpreter& interpreter, std::move_only_function<std::unique_ptr<Iter>()> start) {
  return Value::object(&interpreter.heap().make<Iterator>(
      std::make_unique<LazyIter>(std::move(start)), "generator"));
}

std::span<const Native> select_filters() { return kFilters; }

const Native* find_filter(std::string_view name) {
  for (const auto table : {text_filters(), wrap_filters(), sequence_filters(), order_filters(),
                           select_filters(), value_filters()}) {
    const auto found = std::ranges::find(table, name, &Native::name);
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

}  // namespace hearth::jinja
