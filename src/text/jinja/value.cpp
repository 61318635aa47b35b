#include "text/jinja/value.h"

#include <cmath>
#include <functional>

#include "base/error.h"

namespace hearth::jinja {
namespace {

constexpr size_t kLinearEntries = 8;
constexpr int kMaxKeyDepth = 32;

uint64_t mix(uint64_t h) {
  h ^= h >> 30U;
  h *= 0xBF58476D1CE4E5B9ULL;
  h ^= h >> 27U;
  h *= 0x94D049BB133111EBULL;
  return h ^ (h >> 31U);
}

uint64_t hash_nested(const Value& value, int depth) {
  if (depth > kMaxKeyDepth) fail(Code::kResourceExhausted, "dict key nested too deeply");
  switch (value.kind()) {
    case Kind::kNone:
      return mix(11);
    case Kind::kUndefined:
      return mix(12);
    case Kind::kBool:
    case Kind::kInt:
      return mix(static_cast<uint64_t>(value.as_int()));
    case Kind::kFloat: {
      const double d = value.as_float();
      if (d >= -9.2e18 && d <= 9.2e18 && d == std::floor(d))
        return mix(static_cast<uint64_t>(static_cast<int64_t>(d)));
      return mix(std::hash<double>{}(d));
    }
    case Kind::kString:
      return std::hash<std::string_view>{}(value.text());
    case Kind::kTuple: {
      uint64_t h = 17;
      for (const Value& item : value.as<List>().items) h = mix(h ^ hash_nested(item, depth + 1));
      return h;
    }
    case Kind::kList:
    case Kind::kDict:
    case Kind::kDictView:
      fail(Code::kInvalidArgument, "unhashable type: '", type_name(value), "'");
    default:
      return mix(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(value.object())));
  }
}

// Keys are never deep (hash_nested refused those).
bool equal_keys(const Value& a, const Value& b) {
  if (a.is_string() || b.is_string()) return a.is_string() && b.is_string() && a.text() == b.text();
  if (a.is_number() && b.is_number()) {
    if (a.is_integral() && b.is_integral()) return a.as_int() == b.as_int();
    return a.as_float() == b.as_float();
  }
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kNone:
    case Kind::kUndefined:
      return true;
    case Kind::kTuple: {
      const auto& x = a.as<List>().items;
      const auto& y = b.as<List>().items;
      if (x.size() != y.size()) return false;
      for (size_t i = 0; i < x.size(); ++i) {
        if (!equal_keys(x[i], y[i])) return false;
      }
      return true;
    }
    default:
      return a.object() == b.object();
  }
}

bool equal_dicts(Budget& budget, const Dict& a, const Dict& b) {
  if (a.entries.size() != b.entries.size()) return false;
  for (const auto& [key, value] : a.entries) {
    const Value* other = b.find(key);
    if (other == nullptr || !equal(budget, value, *other)) return false;
  }
  return true;
}

bool equal_lists(Budget& budget, const List& a, const List& b) {
  if (a.items.size() != b.items.size()) return false;
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!equal(budget, a.items[i], b.items[i])) return false;
  }
  return true;
}

bool equal_views(Budget& budget, const DictView& a, const DictView& b) {
  if (&a == &b) return true;
  if (a.part != b.part || a.part == DictView::Part::kValues) return false;
  if (a.part == DictView::Part::kItems) return equal_dicts(budget, *a.dict, *b.dict);
  if (a.dict->entries.size() != b.dict->entries.size()) return false;
  for (const auto& entry : a.dict->entries) {
    if (b.dict->find(entry.first) == nullptr) return false;
  }
  return true;
}

}  // namespace

Range::Range(int64_t first, int64_t last, int64_t by)
    : Object(Kind::kRange), start(first), stop(last), step(by), length(0) {
  const auto distance = [](int64_t low, int64_t high) {
    return static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  };
  uint64_t count = 0;
  if (by > 0 && first < last) count = (distance(first, last) - 1) / static_cast<uint64_t>(by) + 1;
  if (by < 0 && first > last)
    count = (distance(last, first) - 1) / (uint64_t{0} - static_cast<uint64_t>(by)) + 1;
  length = count > static_cast<uint64_t>(INT64_MAX) ? INT64_MAX : static_cast<int64_t>(count);
}

uint64_t hash_of(const Value& value) { return hash_nested(value, 0); }

int64_t Dict::position(uint64_t hash, const Value& key) const {
  if (index_.empty()) {
    for (size_t i = 0; i < entries.size(); ++i) {
      if (equal_keys(entries[i].first, key)) return static_cast<int64_t>(i);
    }
    return -1;
  }
  const auto [begin, end] = index_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (equal_keys(entries[static_cast<size_t>(it->second)].first, key)) return it->second;
  }
  return -1;
}

const Value* Dict::find(const Value& key) const {
  const int64_t at = position(hash_of(key), key);
  return at < 0 ? nullptr : &entries[static_cast<size_t>(at)].second;
}

const Value* Dict::find(std::string_view key) const {
  if (index_.empty()) {
    for (const auto& [name, value] : entries) {
      if (name.is_string() && name.text() == key) return &value;
    }
    return nullptr;
  }
  const auto [begin, end] = index_.equal_range(std::hash<std::string_view>{}(key));
  for (auto it = begin; it != end; ++it) {
    const auto& [name, value] = entries[static_cast<size_t>(it->second)];
    if (name.is_string() && name.text() == key) return &value;
  }
  return nullptr;
}

void Dict::set(const Value& key, Value value) {
  const uint64_t hash = hash_of(key);
  const int64_t at = position(hash, key);
  if (at >= 0) {
    entries[static_cast<size_t>(at)].second = std::move(value);
    return;
  }
  entries.emplace_back(key, std::move(value));
  if (!index_.empty()) {
    index_.emplace(hash, static_cast<int64_t>(entries.size()) - 1);
  } else if (entries.size() > kLinearEntries) {
    for (size_t i = 0; i < entries.size(); ++i)
      index_.emplace(hash_of(entries[i].first), static_cast<int64_t>(i));
  }
}

std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::kMissing:
      return "missing";
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kString:
      return value.str().is_markup() ? "Markup" : "str";
    case Kind::kList:
      return "list";
    case Kind::kTuple:
      return "tuple";
    case Kind::kDict:
      return "dict";
    case Kind::kRange:
      return "range";
    case Kind::kDictView: {
      constexpr std::string_view kNames[] = {"dict_items", "dict_keys", "dict_values"};
      return kNames[static_cast<size_t>(value.as<DictView>().part)];
    }
    case Kind::kIterator:
      return value.as<Iterator>().type;
    case Kind::kNamespace:
      return "Namespace";
    case Kind::kFunction:
      return "function";
    case Kind::kMacro:
      return "Macro";
    case Kind::kLoop:
      return "LoopContext";
    case Kind::kCycler:
      return "Cycler";
    case Kind::kJoiner:
      return "Joiner";
    case Kind::kScope:
      return "scope";
  }
  return "object";
}

bool equal(Budget& budget, const Value& a, const Value& b) {
  budget.step();
  if (a.is_string() && b.is_string()) {
    budget.step(a.str().size() == b.str().size() ? a.str().size() / 512 : 0);
    return a.text() == b.text();
  }
  if (a.is_number() && b.is_number()) return equal_keys(a, b);
  if (a.is(Kind::kTuple) != b.is(Kind::kTuple)) return false;
  if (a.kind() != b.kind()) return false;
  const DepthGuard guard(budget);
  switch (a.kind()) {
    case Kind::kNone:
    case Kind::kUndefined:
    case Kind::kMissing:
      return true;
    case Kind::kList:
    case Kind::kTuple:
      return equal_lists(budget, a.as<List>(), b.as<List>());
    case Kind::kDict:
      return equal_dicts(budget, a.as<Dict>(), b.as<Dict>());
    case Kind::kDictView:
      return equal_views(budget, a.as<DictView>(), b.as<DictView>());
    case Kind::kRange: {
      const auto& x = a.as<Range>();
      const auto& y = b.as<Range>();
      return x.length == y.length &&
             (x.length == 0 || (x.start == y.start && (x.length == 1 || x.step == y.step)));
    }
    default:
      return a.object() == b.object();
  }
}

bool is_true(const Value& value) {
  switch (value.kind()) {
    case Kind::kMissing:
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInt:
      return value.as_int() != 0;
    case Kind::kFloat:
      return value.as_float() != 0.0;
    case Kind::kString:
      return !value.str().empty();
    case Kind::kList:
    case Kind::kTuple:
      return !value.as<List>().items.empty();
    case Kind::kDict:
      return !value.as<Dict>().entries.empty();
    case Kind::kRange:
      return value.as<Range>().length != 0;
    case Kind::kDictView:
      return !value.as<DictView>().dict->entries.empty();
    default:
      return true;
  }
}

}  // namespace hearth::jinja
