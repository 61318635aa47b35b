// Law: any text is refused with an Error or is a value that survives being written and read again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace hearth {
namespace {

void check(std::string_view text) {
  const JsonLimits limits{.max_depth = 100, .allow_nonfinite = true};
  const Json value = Json::parse(text, limits);
  for (const JsonStyle& style :
       {JsonStyle{}, JsonStyle{.indent = 2}, JsonStyle{.spaces = true, .ensure_ascii = true}})
    HEARTH_CHECK(Json::parse(value.dump(style), limits) == value, "written and read again");
}

}  // namespace
}  // namespace hearth

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (int i = 0; i < 2; ++i) {
    try {
      const std::string_view text(reinterpret_cast<const char*>(data), size);
      if (i == 0)
        hearth::check(text);
      else
        hearth::Json::parse(text);
    } catch (const hearth::Error& e) {
      if (e.code() == hearth::Code::kInternal) __builtin_trap();
    }
  }
  return 0;
}
