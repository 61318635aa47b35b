// Values of the template language: Python's, as far as templates see them.
//
// Containers and functions live on a Heap that is freed as a whole at the end of a rendering, so they may refer to each
// other in circles. Lists, tuples and dicts never change once made (the sandbox that templates are written for refuses
// it); namespaces, loops and iterators do.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/jinja/budget.h"
#include "text/jinja/str.h"

namespace hearth::jinja {

enum class Kind : uint8_t {
  kMissing,  // internal: an argument that was not given
  kUndefined,
  kNone,
  kBool,
  kInt,
  kFloat,
  kString,
  kList,
  kTuple,
  kDict,
  kRange,
  kDictView,  // what dict.items(), keys() and values() give
  kIterator,  // can be walked once
  kNamespace,
  kFunction,
  kMacro,
  kLoop,
  kCycler,
  kJoiner,
  kScope,  // internal: variables
};

struct Object {
  explicit Object(Kind object_kind) : kind(object_kind) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  const Kind kind;
};

// A value. Objects are borrowed from the Heap of the rendering.
class Value {
 public:
  Value() = default;  // missing
  static Value none() { return Value(Kind::kNone); }
  static Value boolean(bool b) {
    Value v(Kind::kBool);
    v.int_ = b ? 1 : 0;
    return v;
  }
  static Value integer(int64_t i) {
    Value v(Kind::kInt);
    v.int_ = i;
    return v;
  }
  static Value real(double d) {
    Value v(Kind::kFloat);
    v.float_ = d;
    return v;
  }
  static Value string(Str s) {
    Value v(Kind::kString);
    v.str_ = std::move(s);
    return v;
  }
  static Value object(Object* o) {
    Value v(o->kind);
    v.object_ = o;
    return v;
  }

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_missing() const { return kind_ == Kind::kMissing; }
  bool is_undefined() const { return kind_ == Kind::kUndefined; }
  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_sequence() const { return kind_ == Kind::kList || kind_ == Kind::kTuple; }
  bool is_integral() const {
    return kind_ == Kind::kInt || kind_ == Kind::kBool;
  }  // bool is an int in Python
  bool is_number() const { return is_integral() || kind_ == Kind::kFloat; }

  // Each only for its kind.
  bool as_bool() const { return int_ != 0; }
  int64_t as_int() const { return int_; }
  double as_float() const {
    return kind_ == Kind::kFloat ? float_ : static_cast<double>(int_);
  }  // any number
  const Str& str() const { return str_; }
  std::string_view text() const { return str_.view(); }
  Object* object() const { return object_; }
  template <class T>
  T& as() const {
    return static_cast<T&>(*object_);
  }

 private:
  explicit Value(Kind kind) : kind_(kind) {}
  Kind kind_ = Kind::kMissing;
  union {
    int64_t int_ = 0;
    double float_;
    Object* object_;
  };
  Str str_;
};

// Why a value is not there; raised when it is used for anything but printing, testing and walking.
struct Undefined final : Object {
  explicit Undefined(std::string text) : Object(Kind::kUndefined), message(std::move(text)) {}
  std::string message;
};

struct List final : Object {  // also tuples
  enum class Names : uint8_t { kNone, kGroup };
  explicit List(Kind list_kind) : Object(list_kind) {}
  std::vector<Value> items;
  Names names =
      Names::kNone;  // kGroup: a tuple of groupby, items 0 and 1 answer to `grouper` and `list`
};

// Insertion-ordered. Keys are strings, numbers, bools, None and tuples of them; 1, 1.0 and True are one key.
struct Dict final : Object {
  Dict() : Object(Kind::kDict) {}
  std::vector<std::pair<Value, Value>> entries;
  const Value* find(
      const Value& key) const;  // null when absent; kInvalidArgument for an unhashable key
  const Value* find(std::string_view key) const;
  void set(const Value& key, Value value);

 private:
  int64_t position(uint64_t hash, const Value& key) const;
  std::unordered_multimap<uint64_t, int64_t>
      index_;  // of hash; filled once there are more than a few entries
};

struct Range final : Object {
  Range(int64_t first, int64_t last, int64_t by);
  int64_t start, stop, step, length;
  int64_t at(int64_t i) const { return start + i * step; }
};

struct DictView final : Object {
  enum class Part : uint8_t { kItems, kKeys, kValues };
  DictView(const Dict* of, Part which) : Object(Kind::kDictView), dict(of), part(which) {}
  const Dict* dict;
  Part part;
};

struct Namespace final : Object {
  Namespace() : Object(Kind::kNamespace) {}
  Dict attributes;
};

// Gives values one by one.
class Iter {
 public:
  virtual ~Iter() = default;
  virtual bool next(Value& out) = 0;  // false at the end, and from then on
};

struct Iterator final : Object {
  Iterator(std::unique_ptr<Iter> from, std::string_view python_type)
      : Object(Kind::kIterator), source(std::move(from)), type(python_type) {}
  std::unique_ptr<Iter> source;
  std::string_view type;  // "generator", ...
};

struct Cycler final : Object {
  Cycler() : Object(Kind::kCycler) {}
  std::vector<Value> items;
  int64_t position = 0;
};

struct Joiner final : Object {
  Joiner() : Object(Kind::kJoiner) {}
  Value separator;
  bool is_used = false;
};

// Owns the objects of one rendering.
class Heap {
 public:
  explicit Heap(Budget& budget) : budget_(budget) {}
  Budget& budget() { return budget_; }

  template <class T, class... Args>
  T& make(Args&&... args) {
    budget_.grow(static_cast<int64_t>(sizeof(T)) + kOverhead);
    auto owned = std::make_unique<T>(std::forward<Args>(args)...);
    T& object = *owned;
    objects_.push_back(std::move(owned));
    return object;
  }

  // Appends to a container under construction and pays for it.
  void push(List& list, Value value) {
    budget_.grow(kItem);
    list.items.push_back(std::move(value));
  }
  void set(Dict& dict, const Value& key, Value value) {
    budget_.grow(4 * kItem);
    dict.set(key, std::move(value));
  }

 private:
  static constexpr int64_t kOverhead = 32;
  static constexpr int64_t kItem = sizeof(Value);
  Budget& budget_;
  std::vector<std::unique_ptr<Object>> objects_;
};

// Python's name of a value's type: "str", "NoneType", ...
std::string_view type_name(const Value& value);

// Equality and hash of Python. Nested values are compared to a fixed depth, then kResourceExhausted.
bool equal(Budget& budget, const Value& a, const Value& b);
uint64_t hash_of(const Value& value);  // kInvalidArgument if unhashable

// Truth of a value, as `if` sees it.
bool is_true(const Value& value);

}  // namespace hearth::jinja
