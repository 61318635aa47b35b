#include "base/json.h"

#include <cmath>
#include <functional>

#include <fmt/core.h>

#include "base/error.h"

namespace hearth {

Json::Json(Array a) : value_(std::make_unique<Array>(std::move(a))) {}
Json::Json(Object o) : value_(std::make_unique<Object>(std::move(o))) {}

Json Json::object(std::initializer_list<std::pair<std::string_view, Json>> members) {
  Object o;
  for (const auto& [key, value] : members) o.set(std::string(key), value);
  return Json(std::move(o));
}

Json::Json(const Json& other) { *this = other; }

Json& Json::operator=(const Json& other) {
  if (this == &other) return *this;
  if (other.is_array())
    value_ = std::make_unique<Array>(other.as_array());
  else if (other.is_object())
    value_ = std::make_unique<Object>(other.as_object());
  else if (other.is_string())
    value_ = std::get<std::string>(other.value_);
  else if (other.is_double())
    value_ = std::get<double>(other.value_);
  else if (other.is_int())
    value_ = std::get<int64_t>(other.value_);
  else if (other.is_bool())
    value_ = std::get<bool>(other.value_);
  else
    value_ = std::monostate{};
  return *this;
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_int() && b.is_int()) return std::get<int64_t>(a.value_) == std::get<int64_t>(b.value_);
    return a.as_double() == b.as_double();
  }
  if (a.value_.index() != b.value_.index()) return false;
  if (a.is_array()) return a.as_array() == b.as_array();
  if (a.is_object()) {
    if (a.as_object().size() != b.as_object().size()) return false;
    for (const auto& [key, value] : a.as_object()) {
      const Json* other = b.find(key);
      if (other == nullptr || !(*other == value)) return false;
    }
    return true;
  }
  if (a.is_string()) return a.as_string() == b.as_string();
  if (a.is_bool()) return a.as_bool() == b.as_bool();
  return true;
}

std::string_view Json::kind() const {
  switch (value_.index()) {
    case 0:
      return "null";
    case 1:
      return "boolean";
    case 2:
      return "integer";
    case 3:
      return "number";
    case 4:
      return "string";
    case 5:
      return "array";
    default:
      return "object";
  }
}

bool Json::as_bool() const {
  require_data(is_bool(), "expected a boolean, found ", kind());
  return std::get<bool>(value_);
}

int64_t Json::as_int() const {
  if (is_double()) {
    const double d = std::get<double>(value_);
    require_data(d == std::floor(d) && std::abs(d) < 0x1p63, "expected an integer, found ", d);
    return static_cast<int64_t>(d);
  }
  require_data(is_int(), "expected an integer, found ", kind());
  return std::get<int64_t>(value_);
}

double Json::as_double() const {
  if (is_int()) return static_cast<double>(std::get<int64_t>(value_));
  require_data(is_double(), "expected a number, found ", kind());
  return std::get<double>(value_);
}

const std::string& Json::as_string() const {
  require_data(is_string(), "expected a string, found ", kind());
  return std::get<std::string>(value_);
}

const Json::Array& Json::as_array() const {
  require_data(is_array(), "expected an array, found ", kind());
  return *std::get<std::unique_ptr<Array>>(value_);
}

Json::Array& Json::as_array() {
  require_data(is_array(), "expected an array, found ", kind());
  return *std::get<std::unique_ptr<Array>>(value_);
}

const Json::Object& Json::as_object() const {
  require_data(is_object(), "expected an object, found ", kind());
  return *std::get<std::unique_ptr<Object>>(value_);
}

Json::Object& Json::as_object() {
  require_data(is_object(), "expected an object, found ", kind());
  return *std::get<std::unique_ptr<Object>>(value_);
}

const Json* Json::find(std::string_view key) const {
  return is_object() ? as_object().find(key) : nullptr;
}

const Json* Json::find_value(std::string_view key) const {
  const Json* j = find(key);
  return j != nullptr && !j->is_null() ? j : nullptr;
}

const Json& Json::at(std::string_view key) const {
  require_data(is_object(), "expected an object with \"", key, "\", found ", kind());
  const Json* j = find(key);
  require_data(j != nullptr, "\"", key, "\" is missing");
  return *j;
}

void Json::set(std::string_view key, Json value) {
  if (is_null()) value_ = std::make_unique<Object>();
  as_object().set(std::string(key), std::move(value));
}

void Json::push_back(Json value) {
  if (is_null()) value_ = std::make_unique<Array>();
  as_array().push_back(std::move(value));
}

int64_t Json::size() const {
  if (is_array()) return static_cast<int64_t>(as_array().size());
  if (is_object()) return static_cast<int64_t>(as_object().size());
  return 0;
}

const Json& Json::operator[](int64_t i) const {
  const Array& a = as_array();
  require_data(i >= 0 && i < static_cast<int64_t>(a.size()), "index ", i, " of an array of ",
               a.size());
  return a[static_cast<size_t>(i)];
}

namespace {

template <class F>
auto with_key(std::string_view key, F f) {
  try {
    return f();
  } catch (const Error&) {
    rethrow_with(fmt::format("\"{}\"", key));
  }
}

int64_t in_range(int64_t value, Json::IntRange range) {
  require_data(value >= range.min, value, " is too small; the least is ", range.min);
  require_data(value <= range.max, value, " is too large; the most is ", range.max);
  return value;
}

}  // namespace

int64_t Json::require_int(std::string_view key, IntRange range) const {
  const Json& j = at(key);
  return with_key(key, [&] { return in_range(j.as_int(), range); });
}

float Json::require_float(std::string_view key) const {
  const Json& j = at(key);
  return with_key(key, [&] { return static_cast<float>(j.as_double()); });
}

const std::string& Json::require_string(std::string_view key) const {
  const Json& j = at(key);
  require_data(j.is_string(), "\"", key, "\": expected a string, found ", j.kind());
  return j.as_string();
}

int64_t Json::get_int(std::string_view key, int64_t otherwise, IntRange range) const {
  const Json* j = find_value(key);
  if (j == nullptr) return otherwise;
  return with_key(key, [&] { return in_range(j->as_int(), range); });
}

float Json::get_float(std::string_view key, float otherwise) const {
  const Json* j = find_value(key);
  return j == nullptr ? otherwise
                      : with_key(key, [&] { return static_cast<float>(j->as_double()); });
}

double Json::get_double(std::string_view key, double otherwise) const {
  const Json* j = find_value(key);
  return j == nullptr ? otherwise : with_key(key, [&] { return j->as_double(); });
}

bool Json::get_bool(std::string_view key, bool otherwise) const {
  const Json* j = find_value(key);
  return j == nullptr ? otherwise : with_key(key, [&] { return j->as_bool(); });
}

std::string Json::get_string(std::string_view key, std::string_view otherwise) const {
  const Json* j = find_value(key);
  return j == nullptr ? std::string(otherwise) : with_key(key, [&] { return j->as_string(); });
}

// ---- Objects

namespace {
constexpr size_t kIndexFrom = 16;  // below this a linear search is faster than hashing
}

size_t Json::Object::index_of(std::string_view key) const {
  if (slots_.empty()) {
    for (size_t i = 0; i < members_.size(); ++i)
      if (members_[i].first == key) return i;
    return members_.size();
  }
  const size_t mask = slots_.size() - 1;
  for (size_t s = std::hash<std::string_view>{}(key)&mask;; s = (s + 1) & mask) {
    if (slots_[s] == 0) return members_.size();
    if (members_[slots_[s] - 1].first == key) return slots_[s] - 1;
  }
}

const Json* Json::Object::find(std::string_view key) const {
  const size_t i = index_of(key);
  return i < members_.size() ? &members_[i].second : nullptr;
}

Json* Json::Object::find(std::string_view key) {
  const size_t i = index_of(key);
  return i < members_.size() ? &members_[i].second : nullptr;
}

void Json::Object::set(std::string key, Json value) {
  if (Json* old = find(key)) {
    *old = std::move(value);
    return;
  }
  members_.emplace_back(std::move(key), std::move(value));
  if (members_.size() < kIndexFrom) return;
  if (slots_.size() < members_.size() * 2) {
    rebuild_index();
    return;
  }
  const size_t mask = slots_.size() - 1;
  size_t s = std::hash<std::string_view>{}(members_.back().first) & mask;
  while (slots_[s] != 0) s = (s + 1) & mask;
  slots_[s] = static_cast<uint32_t>(members_.size());
}

bool Json::Object::erase(std::string_view key) {
  const size_t i = index_of(key);
  if (i == members_.size()) return false;
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(i));
  slots_.clear();
  if (members_.size() >= kIndexFrom) rebuild_index();
  return true;
}

void Json::Object::rebuild_index() {
  size_t count = 64;
  while (count < members_.size() * 4) count *= 2;
  slots_.assign(count, 0);
  for (size_t i = 0; i < members_.size(); ++i) {
    size_t s = std::hash<std::string_view>{}(members_[i].first) & (count - 1);
    while (slots_[s] != 0) s = (s + 1) & (count - 1);
    slots_[s] = static_cast<uint32_t>(i + 1);
  }
}

}  // namespace hearth
