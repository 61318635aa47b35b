#include <cstdint>
#include <memory>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/session.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace hearth::cli {
namespace {

struct Options {
  std::string model = "starter-chat";
  std::string messages;
  std::string tools;
  std::string kwargs;
  bool no_generation_prompt = false;
  bool with_ids = false;
  bool is_json = false;
};

constexpr int64_t kMaxFileBytes = int64_t{256} << 20;

// JSON itself, "-" for standard input, or a file that holds it.
Json parse_argument(const std::string& argument, std::string_view what) {
  try {
    if (argument == "-") return Json::parse(read_stdin(kMaxFileBytes));
    const size_t first = argument.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && (argument[first] == '[' || argument[first] == '{'))
      return Json::parse(argument);
    return Json::parse(read_text_file(argument, kMaxFileBytes));
  } catch (const Error&) {
    rethrow_with(what);
  }
}

int run(const Options& o) {
  const std::filesystem::path folder = model_folder(o.model);
  Json messages = parse_argument(o.messages, "messages");
  if (messages.is_object())
    messages = messages.at("messages");  // a chat request is accepted as it is
  require(messages.is_array(), "messages: expected a JSON array of {\"role\", \"content\"}, found ",
          messages.kind());
  const Json tools = o.tools.empty() ? Json() : parse_argument(o.tools, "--tools");
  const Json kwargs = o.kwargs.empty() ? Json() : parse_argument(o.kwargs, "--kwargs");
  const ChatTemplate chat = ChatTemplate::load(folder);
  const RenderedPrompt prompt = chat.render(
      messages, tools, {.add_generation_prompt = !o.no_generation_prompt, .kwargs = kwargs});
  if (!o.with_ids && !o.is_json) {
    write_out(prompt.text());
    return 0;
  }
  const Tokenizer tokenizer = Tokenizer::load(folder);
  Json ids = Json::array();
  for (const int32_t id : tokenizer.encode_segments(prompt.segments)) ids.push_back(int64_t{id});
  if (o.is_json)
    write_line(Json::object({{"prompt", prompt.text()}, {"ids", std::move(ids)}}).dump());
  else
    write_line(ids.dump());
  return 0;
}

}  // namespace

std::function<int()> setup_render(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("messages", o->messages,
                 "Messages as JSON, a file that holds them, or - for standard input")
      ->required();
  app.add_option("--model,-m", o->model, "A checkpoint's folder or a starter")
      ->capture_default_str();
  app.add_option("--tools", o->tools, "Tool definitions as JSON or a file that holds them");
  app.add_option("--kwargs", o->kwargs,
                 "More variables for the template as JSON, e.g. '{\"enable_thinking\": false}'");
  app.add_flag("--no-generation-prompt", o->no_generation_prompt,
               "Don't open the assistant's turn");
  app.add_flag("--ids", o->with_ids, "Token ids instead of text");
  app.add_flag("--json", o->is_json, "One JSON object with prompt and ids");
  return [o] { return run(*o); };
}

}  // namespace hearth::cli
