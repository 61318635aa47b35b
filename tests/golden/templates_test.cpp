// Every recorded rendering of real chat templates and of Jinja snippets (tests/golden/templates, tests/golden/jinja, and
// all of ../shared/data where it lies beside the project).
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "support/paths.h"
#include "support/templates.h"
#include "text/chat_template.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxBytes = int64_t{64} << 20;

Json read(const fs::path& path) { return Json::parse(read_text_file(path, kMaxBytes)); }

// What a case expects: text, or nothing when an error was recorded.
bool matches(const Json& wanted, const std::optional<std::string>& got) {
  const Json* out = wanted.find("out");
  return (out != nullptr) == got.has_value() && (out == nullptr || out->as_string() == *got);
}

void check_segments(const std::vector<PromptSegment>& segments) {
  for (size_t i = 0; i < segments.size(); ++i) {
    CHECK_FALSE(segments[i].text.empty());
    if (i > 0) CHECK(segments[i].trusted != segments[i - 1].trusted);
  }
}

std::optional<std::string> render_snippet(const Json& snippet) {
  try {
    const auto segments =
        test_support::render_segments(snippet.require_string("template"), snippet.at("context"));
    check_segments(segments);
    return jinja::joined_text(segments);
  } catch (const Error& error) {
    CHECK(error.code() != Code::kInternal);
    return std::nullopt;
  }
}

void check_snippets(const fs::path& file) {
  const Json snippets = read(file);
  CHECK(snippets.size() > 0);
  for (const Json& snippet : snippets.as_array()) {
    CAPTURE(snippet.require_string("name"));
    CHECK(matches(snippet, render_snippet(snippet)));
  }
}

// A recorded context as a request: what is no argument of its own goes in as an extra argument.
std::optional<RenderedPrompt> render_chat(const ChatTemplate& chat, const Json& context) {
  RenderOptions options;
  options.now = test_support::fixed_clock();
  Json kwargs = Json::object();
  for (const auto& [name, value] : context.as_object()) {
    if (name == "add_generation_prompt") {
      options.add_generation_prompt = value.as_bool();
    } else if (name == "enable_thinking") {
      options.enable_thinking = value.as_bool();
    } else if (name != "messages" && name != "tools") {
      kwargs.set(name, value);
    }
  }
  options.kwargs = kwargs;
  const Json* tools = context.find("tools");
  try {
    return chat.render(context.at("messages"), tools == nullptr ? Json() : *tools, options);
  } catch (const Error& error) {
    CHECK(error.code() != Code::kInternal);
    return std::nullopt;
  }
}

void check_templates(const fs::path& folder) {
  const Json goldens = read(folder / "goldens.json");
  const Json contexts = read(folder / "contexts.json");
  const Json tokens = Json::object({{"bos_token", "<s>"}, {"eos_token", "</s>"}});
  int64_t cases = 0;
  for (const auto& [name, renderings] : goldens.as_object()) {
    const ChatTemplate chat =
        ChatTemplate::parse(read_text_file(folder / (name + ".jinja"), kMaxBytes), name, tokens);
    for (const auto& [context, wanted] : renderings.as_object()) {
      CAPTURE(name);
      CAPTURE(context);
      const auto prompt = render_chat(chat, contexts.at(context));
      CHECK(matches(wanted, prompt ? std::optional(prompt->text()) : std::nullopt));
      if (prompt) check_segments(prompt->segments);
      ++cases;
    }
  }
  CHECK(cases > 0);
}

// Contents that spell a control token of every template: no trusted segment may hold one that the template did not write.
void check_nothing_leaks(const fs::path& folder) {
  const Json goldens = read(folder / "goldens.json");
  const std::string secret = "<|planted|>";
  const Json message = Json::object({{"role", "user"}, {"content", "x " + secret}});
  const Json tool = Json::parse(
      R"({"type": "function", "function": {"name": "<|planted|>", "description": "<|planted|>",
      "parameters": {"type": "object", "properties": {"<|planted|>": {"type": "string", "description": "<|planted|>"}}}}})");
  int64_t shown = 0;
  for (const auto& [name, renderings] : goldens.as_object()) {
    CAPTURE(name);
    const ChatTemplate chat =
        ChatTemplate::parse(read_text_file(folder / (name + ".jinja"), kMaxBytes), name, {});
    for (const Json& tools : {Json(), Json(Json::Array{tool})}) {
      try {
        for (const PromptSegment& segment :
             chat.render(Json(Json::Array{message}), tools).segments) {
          if (segment.trusted) CHECK(segment.text.find("planted") == std::string::npos);
          shown += segment.text.find(secret) == std::string::npos ? 0 : 1;
        }
      } catch (const Error& error) {
        CHECK(error.code() == Code::kInvalidArgument);
      }
    }
  }
  CHECK(shown > 0);
}

TEST_CASE("Jinja snippets render as recorded") {
  check_snippets(test_support::source_dir() / "tests/golden/jinja/snippets.json");
  if (const auto shared = test_support::shared_dir())
    check_snippets(*shared / "data/jinja/snippets.json");
}

TEST_CASE(
    "chat templates render every conversation as recorded, and segments join to the whole prompt") {
  check_templates(test_support::source_dir() / "tests/golden/templates");
  if (const auto shared = test_support::shared_dir())
    check_templates(*shared / "data/chat_templates");
}

TEST_CASE("no chat template turns a control token in a message or tool into trusted text") {
  check_nothing_leaks(test_support::source_dir() / "tests/golden/templates");
}

}  // namespace
}  // namespace hearth
