// What a call throws, for tests of bad input.
#pragma once

#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "base/error.h"

namespace hearth::test_support {

// The Error that `call` throws, or nullopt when it returns. Anything else that is thrown passes
// through.
template <class Call>
std::optional<Error> error_of(Call&& call) {
  try {
    call();
  } catch (const Error& e) {
    return e;
  }
  return std::nullopt;
}

// "corrupt_data: message" of the Error, or "nothing was thrown": for CHECK with doctest::Contains.
template <class Call>
doctest::String message_of(Call&& call) {
  const std::optional<Error> e = error_of(call);
  return e ? (std::string(name(e->code())) + ": " + e->message()).c_str() : "nothing was thrown";
}

}  // namespace hearth::test_support
