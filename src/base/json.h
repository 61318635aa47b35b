// JSON values. Parsing is done by Boost.JSON behind this header; the value type is ours and small to include.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hearth {

struct JsonLimits {
  int max_depth = 200;
  bool allow_nonfinite =
      false;  // accept Infinity and -Infinity, as Python writes them into config.json
};

struct JsonStyle {
  int indent = -1;            // < 0: one line
  bool spaces = false;        // one line with ", " and ": " as Python's json.dumps
  bool ensure_ascii = false;  // \uXXXX for everything beyond ASCII
  bool sort_keys = false;
};

// A JSON value. Objects keep the order of their members; a repeated key keeps its first place and its last value.
// Integers that fit int64 stay integers, all other numbers are doubles. A value: copy and compare freely.
//
// Accessors throw Error{kCorruptData} naming the key and what was expected.
class Json {
 public:
  class Object;
  using Array = std::vector<Json>;

  Json() = default;          // null
  Json(std::nullptr_t);      // NOLINT(google-explicit-constructor)
  Json(bool b);              // NOLINT(google-explicit-constructor)
  Json(int i);               // NOLINT(google-explicit-constructor)
  Json(int64_t i);           // NOLINT(google-explicit-constructor)
  Json(double d);            // NOLINT(google-explicit-constructor)
  Json(const char* s);       // NOLINT(google-explicit-constructor)
  Json(std::string_view s);  // NOLINT(google-explicit-constructor)
  Json(std::string s);       // NOLINT(google-explicit-constructor)
  Json(Array a);             // NOLINT(google-explicit-constructor)
  Json(Object o);            // NOLINT(google-explicit-constructor)
  static Json array();
  static Json object(std::initializer_list<std::pair<std::string_view, Json>> members = {});

  Json(const Json&);
  Json(Json&&) noexcept = default;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept = default;
  ~Json() = default;

  // Throws kCorruptData with line and column. The whole text must be one value.
  static Json parse(std::string_view text, const JsonLimits& limits = {});

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_int() const { return std::holds_alternative<int64_t>(value_); }
  bool is_double() const { return std::holds_alternative<double>(value_); }
  bool is_number() const { return is_int() || is_double(); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<std::unique_ptr<Array>>(value_); }
  bool is_object() const { return std::holds_alternative<std::unique_ptr<Object>>(value_); }
  std::string_view kind()
      const;  // "null", "boolean", "integer", "number", "string", "array", "object"

  // Throw kCorruptData when the value is of another kind. as_double accepts integers; as_int accepts doubles that
  // are whole.
  bool as_bool() const;
  int64_t as_int() const;
  double as_double() const;
  const std::string& as_string() const;
  const Array& as_array() const;
  Array& as_array();
  const Object& as_object() const;
  Object& as_object();

  // Member of an object, or null pointer when absent or when this is no object.
  const Json* find(std::string_view key) const;
  // The same, but an explicit null counts as absent.
  const Json* find_value(std::string_view key) const;
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  const Json& at(std::string_view key) const;  // throws when absent
  void set(std::string_view key, Json value);  // makes null an object
  void push_back(Json value);                  // makes null an array
  int64_t size() const;                        // of array or object, else 0
  const Json& operator[](int64_t i) const;     // array element; throws when out of range

  struct IntRange {
    int64_t min = INT64_MIN;
    int64_t max = INT64_MAX;
  };
  int64_t require_int(std::string_view key, IntRange range) const;
  int64_t require_int(std::string_view key) const { return require_int(key, IntRange{}); }
  float require_float(std::string_view key) const;
  const std::string& require_string(std::string_view key) const;
  // Absent or null gives the default; a value of another kind throws.
  int64_t get_int(std::string_view key, int64_t otherwise, IntRange range) const;
  int64_t get_int(std::string_view key, int64_t otherwise) const {
    return get_int(key, otherwise, IntRange{});
  }
  float get_float(std::string_view key, float otherwise) const;
  double get_double(std::string_view key, double otherwise) const;
  bool get_bool(std::string_view key, bool otherwise) const;
  std::string get_string(std::string_view key, std::string_view otherwise) const;

  std::string dump(const JsonStyle& style = {}) const;

  friend bool operator==(const Json& a, const Json& b);

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, std::unique_ptr<Array>,
               std::unique_ptr<Object>>
      value_;
};

// Members in order, with a hash index once there are many of them.
class Json::Object {
 public:
  using Member = std::pair<std::string, Json>;

  const Json* find(std::string_view key) const;
  Json* find(std::string_view key);
  void set(std::string key, Json value);
  bool erase(std::string_view key);
  size_t size() const { return members_.size(); }
  bool empty() const { return members_.empty(); }
  std::vector<Member>::const_iterator begin() const { return members_.begin(); }
  std::vector<Member>::const_iterator end() const { return members_.end(); }
  std::vector<Member>::iterator begin() { return members_.begin(); }
  std::vector<Member>::iterator end() { return members_.end(); }

 private:
  size_t index_of(std::string_view key) const;  // members_.size() when absent
  void rebuild_index();

  std::vector<Member> members_;
  std::vector<uint32_t>
      slots_;  // open addressing, member number + 1; empty while the object is small
};

// Defined here because clang wants Object whole where a Json is made.
inline Json::Json(std::nullptr_t) {}
inline Json::Json(bool b) : value_(b) {}
inline Json::Json(int i) : value_(int64_t{i}) {}
inline Json::Json(int64_t i) : value_(i) {}
inline Json::Json(double d) : value_(d) {}
inline Json::Json(const char* s) : value_(std::string(s)) {}
inline Json::Json(std::string_view s) : value_(std::string(s)) {}
inline Json::Json(std::string s) : value_(std::move(s)) {}
inline Json Json::array() { return Json(Array{}); }

// Shortest decimal form that reads back as the same double, written as Python's repr does ("1.0", "1e-07", "1e+16").
// Not finite: "NaN", "Infinity", "-Infinity".
std::string format_double(double value);

// Text as a JSON string with quotes. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text, bool ensure_ascii);

}  // namespace hearth
