// Functions that a template may call by name.
#include <algorithm>
#include <ctime>

#include "base/error.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/native.h"
#include "text/jinja/operators.h"
#include "text/jinja/printing.h"

namespace hearth::jinja {
namespace {

Value range_global(Interpreter& in, const Value&, Bound& args) {
  constexpr int64_t kMax = int64_t{1} << 60;  // so that no sum of bounds overflows
  int64_t bounds[3] = {0, 0, 1};
  for (size_t i = 0; i < 3; ++i) {
    bounds[i] = args.int_or(i, bounds[i]);
    if (bounds[i] > kMax || bounds[i] < -kMax)
      fail(Code::kInvalidArgument, "range() argument too large");
  }
  const bool has_start = args.has(1);
  if (bounds[2] == 0) fail(Code::kInvalidArgument, "range() arg 3 must not be zero");
  Range& range = in.heap().make<Range>(has_start ? bounds[0] : 0, has_start ? bounds[1] : bounds[0],
                                       bounds[2]);
  if (range.length > in.budget().limits().max_range) {
    fail(Code::kResourceExhausted, "Range too big: at most ", in.budget().limits().max_range,
         " items");
  }
  return Value::object(&range);
}

// dict(mapping or pairs, name=value...)
void fill_dict(Interpreter& in, Dict& dict, Bound& args) {
  Heap& heap = in.heap();
  if (args.has(0)) {
    if (args[0].is(Kind::kDict)) {
      for (const auto& [key, value] : args[0].as<Dict>().entries) heap.set(dict, key, value);
    } else {
      const std::unique_ptr<Iter> pairs = iterate(heap, args[0]);
      Value pair;
      while (pairs->next(pair)) {
        const List& two = to_list(heap, pair);
        if (two.items.size() != 2) {
          fail(Code::kInvalidArgument, "dictionary update sequence element has length ",
               two.items.size(), "; 2 is required");
        }
        heap.set(dict, two.items[0], two.items[1]);
      }
    }
  }
  for (auto& [name, value] : args.named_rest())
    heap.set(dict, Value::string(name), std::move(value));
}

Value dict_global(Interpreter& in, const Value&, Bound& args) {
  Dict& dict = in.heap().make<Dict>();
  fill_dict(in, dict, args);
  return Value::object(&dict);
}

Value namespace_global(Interpreter& in, const Value&, Bound& args) {
  Namespace& space = in.heap().make<Namespace>();
  fill_dict(in, space.attributes, args);
  return Value::object(&space);
}

Value cycler_global(Interpreter& in, const Value&, Bound& args) {
  if (args.rest().empty()) fail(Code::kInvalidArgument, "cycler() needs at least one item");
  Cycler& cycler = in.heap().make<Cycler>();
  cycler.items = std::move(args.rest());
  return Value::object(&cycler);
}

Value joiner_global(Interpreter& in, const Value&, Bound& args) {
  Joiner& joiner = in.heap().make<Joiner>();
  joiner.separator = args.value_or(0, in.string(", "));
  return Value::object(&joiner);
}

Value lipsum_global(Interpreter&, const Value&, Bound&) {
  fail(Code::kUnsupported, "lipsum() is not supported: a prompt must not be random");
}

Value raise_exception_global(Interpreter& in, const Value&, Bound& args) {
  fail(Code::kInvalidArgument, to_text(in.heap(), args[0]).view());
}

// strftime of the rendering's clock, which has no time zone and no fractions of a second.
Value strftime_now_global(Interpreter& in, const Value&, Bound& args) {
  constexpr size_t kMaxFormat = 256;
  std::string format;
  const std::string_view asked = args.str(0).view();
  if (asked.size() > kMaxFormat) fail(Code::kInvalidArgument, "strftime_now() format too long");
  for (size_t i = 0; i < asked.size(); ++i) {
    if (asked[i] != '%' || i + 1 >= asked.size()) {
      format += asked[i];
      continue;
    }
    const char letter = asked[++i];
    if (letter >= '1' && letter <= '9')
      fail(Code::kInvalidArgument, "strftime_now() takes no field widths");
    if (letter == 'z' || letter == 'Z') continue;
    format += letter == 'f' ? std::string("000000") : std::string{'%', letter};
  }
  format += '.';  // so that an empty result differs from one that does not fit
  char buffer[16 * kMaxFormat];
  const size_t size = std::strftime(buffer, sizeof buffer, format.c_str(), &in.now());
  if (size == 0) fail(Code::kInvalidArgument, "strftime_now() result too long");
  return Value::string(Str(&in.budget(), std::string(buffer, size - 1), Origin::kTemplate));
}

constexpr Native kGlobals[] = {
    {"range", "/ start stop step", 1, range_global},
    {"dict", "/ mapping **", 0, dict_global},
    {"namespace", "/ mapping **", 0, namespace_global},
    {"cycler", "/ *", 0, cycler_global},
    {"joiner", "sep", 0, joiner_global},
    {"lipsum", "* **", 0, lipsum_global},
    {"raise_exception", "message", 1, raise_exception_global},
    {"strftime_now", "format", 1, strftime_now_global},
};

}  // namespace

const Native* find_global(std::string_view name) {
  const auto* const found = std::ranges::find(kGlobals, name, &Native::name);
  return found == std::end(kGlobals) ? nullptr : found;
}

}  // namespace hearth::jinja
