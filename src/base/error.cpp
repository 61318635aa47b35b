#include "base/error.h"

#include <cstring>

#include <fmt/core.h>

namespace hearth {

std::string_view name(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return "invalid_argument";
    case Code::kCorruptData:
      return "corrupt_data";
    case Code::kNotFound:
      return "not_found";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kResourceExhausted:
      return "resource_exhausted";
    case Code::kCancelled:
      return "cancelled";
    case Code::kIo:
      return "io";
    case Code::kInternal:
      return "internal";
  }
  return "internal";
}

int exit_code(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
    case Code::kCorruptData:
    case Code::kNotFound:
    case Code::kUnsupported:
    case Code::kResourceExhausted:
      return 2;
    case Code::kCancelled:
      return 130;
    case Code::kIo:
    case Code::kInternal:
      return 1;
  }
  return 1;
}

void rethrow_with(std::string_view context) {
  try {
    throw;
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("{}: {}", context, e.message()));
  }
}

namespace detail {
namespace {

std::string join(std::initializer_list<std::string_view> parts) {
  std::string message;
  for (const std::string_view part : parts) message += part;
  return message;
}

}  // namespace

std::string MessagePart::format_double(double number) { return fmt::format("{}", number); }
std::string MessagePart::format_int(int64_t number) { return fmt::format("{}", number); }
std::string MessagePart::format_uint(uint64_t number) { return fmt::format("{}", number); }

void fail_with(Code code, std::initializer_list<std::string_view> parts) {
  throw Error(code, join(parts));
}

void check_failed(const char* condition, const char* file, int line,
                  std::initializer_list<std::string_view> parts) {
  const char* base = std::strrchr(file, '/');
  std::string message = fmt::format("internal error at {}:{}: {}",
                                    base != nullptr ? base + 1 : file, line, condition);
  const std::string detail = join(parts);
  if (!detail.empty()) message += " (" + detail + ")";
  throw Error(Code::kInternal, std::move(message));
}

}  // namespace detail
}  // namespace hearth
