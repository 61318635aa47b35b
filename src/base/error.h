// Failure. One exception type; see README.md for who may catch it.
#pragma once

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hearth {

// Decides the exit code of a command and the status of a response.
enum class Code : uint8_t {
  kInvalidArgument,    // what the caller asked is wrong: flag, request field, shape
  kCorruptData,        // a file's content is wrong
  kNotFound,           // file, model or tensor that isn't there
  kUnsupported,        // well formed, but we can't do it
  kResourceExhausted,  // memory, budget, queue
  kCancelled,          // stopped on request
  kIo,                 // the operating system refused
  kInternal,           // we have a bug
};

std::string_view name(Code code);  // "invalid_argument", ...

// Exit code of a command that ends with this code: 2 for what the user can put right, 130 for cancelled, else 1.
int exit_code(Code code);

class Error final : public std::exception {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  Code code_;
  std::string message_;
};

namespace detail {

// One piece of a message: text, a number or anything with an ADL `std::string to_string(const T&)`.
class MessagePart {
 public:
  MessagePart(const char* text) : text_(text) {}         // NOLINT(google-explicit-constructor)
  MessagePart(std::string_view text) : text_(text) {}    // NOLINT(google-explicit-constructor)
  MessagePart(const std::string& text) : text_(text) {}  // NOLINT(google-explicit-constructor)
  MessagePart(char c) : owned_(1, c), text_(owned_) {}   // NOLINT(google-explicit-constructor)
  template <class T>
    requires std::is_arithmetic_v<T>
  MessagePart(T number)
      : owned_(format_number(number)), text_(owned_) {}  // NOLINT(google-explicit-constructor)
  template <class T>
    requires requires(const T& v) {
      { to_string(v) } -> std::convertible_to<std::string>;
    }
  MessagePart(const T& value)
      : owned_(to_string(value)), text_(owned_) {}  // NOLINT(google-explicit-constructor)
  MessagePart(const MessagePart&) = delete;
  MessagePart& operator=(const MessagePart&) = delete;

  std::string_view text() const { return text_; }

 private:
  template <class T>
  static std::string format_number(T number) {
    if constexpr (std::is_same_v<T, bool>)
      return number ? "true" : "false";
    else if constexpr (std::is_floating_point_v<T>)
      return format_double(static_cast<double>(number));
    else if constexpr (std::is_signed_v<T>)
      return format_int(static_cast<int64_t>(number));
    else
      return format_uint(static_cast<uint64_t>(number));
  }
  static std::string format_double(double number);
  static std::string format_int(int64_t number);
  static std::string format_uint(uint64_t number);

  std::string owned_;
  std::string_view text_;
};

[[noreturn]] void fail_with(Code code, std::initializer_list<std::string_view> parts);
[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               std::initializer_list<std::string_view> parts);

}  // namespace detail

// Throws Error{code, concatenation of parts}. Parts are text, numbers, or things with to_string().
template <class... Parts>
[[noreturn]] void fail(Code code, const Parts&... parts) {
  detail::fail_with(code, {detail::MessagePart(parts).text()...});
}

// Throws kInvalidArgument unless the condition holds. Messages name the culprit and say what would be right.
template <class... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail(Code::kInvalidArgument, parts...);
}

// The same for what a file holds: kCorruptData.
template <class... Parts>
void require_data(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail(Code::kCorruptData, parts...);
}

// To be called inside a catch block: rethrows the current Error with "context: " before its message.
[[noreturn]] void rethrow_with(std::string_view context);

}  // namespace hearth

// A bug of ours if it fails: throws kInternal, in release too, so that one request fails and the process lives.
#define HEARTH_CHECK(condition, ...)                                                     \
  do {                                                                                   \
    if (!(condition)) [[unlikely]]                                                       \
      ::hearth::check_failed(#condition, __FILE__, __LINE__ __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)

// For hot loops; compiled out of release.
#ifdef NDEBUG
#define HEARTH_ASSERT(condition) static_cast<void>(0)
#else
#define HEARTH_ASSERT(condition) HEARTH_CHECK(condition)
#endif

namespace hearth {
template <class... Parts>
[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const Parts&... parts) {
  detail::check_failed(condition, file, line, {detail::MessagePart(parts).text()...});
}
}  // namespace hearth
