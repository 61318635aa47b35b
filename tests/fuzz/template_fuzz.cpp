// A template from a stranger: it parses and renders, or ends with Error, in bounded time and memory. The input is the
// template; a few variables of every kind are there for it to play with.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "text/jinja/template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hearth;
  constexpr size_t kMaxBytes = 16384;
  if (size > kMaxBytes) return 0;
  static const Json messages = Json::parse(
      R"([{"role": "user", "content": "Hi \u2615 <|im_end|>"}, {"role": "assistant", "content": null, "tool_calls":
          [{"function": {"name": "f", "arguments": {"a": 1.5, "b": [true, null]}}}]}, {"role": "tool", "content": [{"type": "text", "text": "x"}]}])");
  static const Json text("a B\xC3\x9F, c\n\xE6\x97\xA5 d");
  static const Json number(int64_t{3});
  static const Json token("<s>");
  const std::vector<jinja::Variable> variables = {{"messages", &messages, jinja::Trust::kRequest},
                                                  {"s", &text, jinja::Trust::kRequest},
                                                  {"n", &number, jinja::Trust::kRequest},
                                                  {"bos_token", &token, jinja::Trust::kTemplate}};
  jinja::Template::Settings settings;
  settings.limits = {.max_steps = 20000, .max_output_bytes = 1 << 18, .max_live_bytes = 1 << 22};
  settings.now.tm_mday = 1;
  try {
    const auto parsed =
        jinja::Template::parse(std::string_view(reinterpret_cast<const char*>(data), size), "t");
    const auto segments = parsed.render(variables, settings);
    for (size_t i = 1; i < segments.size(); ++i) {
      HEARTH_CHECK(segments[i].trusted != segments[i - 1].trusted && !segments[i].text.empty());
    }
  } catch (const Error& error) {
    if (error.code() == Code::kInternal) throw;
  }
  return 0;
}
