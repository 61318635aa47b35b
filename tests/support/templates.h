// Rendering of templates in tests.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "text/jinja/template.h"

namespace hearth::test_support {

// The clock of the recorded renderings: Thursday, 2026-01-15 12:34:56.
inline std::tm fixed_clock() {
  std::tm now{};
  now.tm_year = 126;
  now.tm_mday = 15;
  now.tm_hour = 12;
  now.tm_min = 34;
  now.tm_sec = 56;
  now.tm_wday = 4;
  now.tm_yday = 14;
  return now;
}

// Renders with every member of `context` as an untrusted variable, except names that end in "_token".
inline std::vector<PromptSegment> render_segments(std::string_view source,
                                                  const Json& context = Json::object(),
                                                  const jinja::Limits& limits = {}) {
  const auto parsed = jinja::Template::parse(source, "t");
  std::vector<jinja::Variable> variables;
  for (const auto& [name, value] : context.as_object()) {
    const bool is_trusted = std::string_view(name).ends_with("_token");
    variables.push_back(
        {name, &value, is_trusted ? jinja::Trust::kTemplate : jinja::Trust::kRequest});
  }
  jinja::Template::Settings settings;
  settings.limits = limits;
  settings.now = fixed_clock();
  return parsed.render(variables, settings);
}

inline std::string render(std::string_view source, const Json& context = Json::object()) {
  return jinja::joined_text(render_segments(source, context));
}

// The failure of parsing or rendering; nullopt when it succeeds.
inline std::optional<Error> failure_of(std::string_view source,
                                       const Json& context = Json::object(),
                                       const jinja::Limits& limits = {}) {
  try {
    render_segments(source, context, limits);
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

// Untrusted text in brackets: "a[b]c".
inline std::string marked(const std::vector<PromptSegment>& segments) {
  std::string out;
  for (const PromptSegment& segment : segments)
    out += segment.trusted ? segment.text : "[" + segment.text + "]";
  return out;
}

}  // namespace hearth::test_support
