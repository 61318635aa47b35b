// Renders templates for jinja_diff.py: JSON lines {"template", "context"} in, {"out"} or {"error"} out.
#include <cstdio>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "text/jinja/template.h"

namespace {

using namespace hearth;

bool read_line(std::string& line) {
  line.clear();
  int c = 0;
  while ((c = std::getchar()) != EOF && c != '\n') line += static_cast<char>(c);
  return c != EOF || !line.empty();
}

// The clock of the reference's oracle: 2026-01-15 12:34:56, a Thursday.
std::tm fixed_clock() {
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

Json answer(const Json& question) {
  try {
    const auto parsed = jinja::Template::parse(question.require_string("template"), "template");
    std::vector<jinja::Variable> variables;
    for (const auto& [name, value] : question.at("context").as_object()) {
      variables.push_back({name, &value, jinja::Trust::kRequest});
    }
    jinja::Template::Settings settings;
    settings.now = fixed_clock();
    const auto segments = parsed.render(variables, settings);
    return Json::object({{"out", Json(jinja::joined_text(segments))}});
  } catch (const Error& error) {
    return Json::object(
        {{"error", Json(error.message())}, {"code", Json(std::string(name(error.code())))}});
  }
}

}  // namespace

int main() {
  std::string line;
  while (read_line(line)) {
    std::string out;
    try {
      out = answer(Json::parse(line)).dump();
    } catch (const Error& error) {
      out = Json::object({{"error", Json(error.message())}}).dump();
    }
    std::printf("%s\n", out.c_str());
    std::fflush(stdout);
  }
  return 0;
}
