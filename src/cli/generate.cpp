#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/log.h"
#include "cli/session.h"
#include "cli/streaming.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace hearth::cli {
namespace {

struct Options {
  ModelOptions model;
  SamplingOptions sampling;
  std::optional<std::string> prompt;
  std::optional<std::string> prompt_option;
  std::string system;
  int64_t max_tokens = 256;
  bool is_raw = false;
  bool no_echo = false;
  bool is_json = false;
};

constexpr size_t kMaxPromptBytes = size_t{256} << 20;

std::string prompt_text(const Options& o) {
  require(!o.prompt || !o.prompt_option,
          "the prompt is given twice: as an argument and by --prompt");
  std::string text = o.prompt.value_or(o.prompt_option.value_or("-"));
  if (text == "-") {
    text = read_stdin(kMaxPromptBytes);
    if (text.ends_with('\n')) text.pop_back();
  }
  require_utf8(text, "the prompt");
  require(!text.empty(),
          "there is no prompt; give it as an argument, by --prompt or on standard input");
  return text;
}

std::vector<int32_t> prompt_ids(const Session& s, const Options& o, const std::string& text) {
  if (o.is_raw || !s.chat) return s.tokenizer.encode(text, {.add_special = true});
  Json messages = Json::array();
  if (!o.system.empty())
    messages.push_back(Json::object({{"role", "system"}, {"content", o.system}}));
  messages.push_back(Json::object({{"role", "user"}, {"content", text}}));
  return s.tokenizer.encode_segments(s.chat->render(messages, Json(), {}).segments);
}

int run(const Options& o) {
  const std::string text = prompt_text(o);
  Session s = Session::open(o.model);
  const bool is_continued = o.is_raw || !s.chat;
  require(o.system.empty() || !is_continued,
          "--system needs a model with a chat template, and no --raw");
  Engine engine(*s.loaded.model, s.engine);
  catch_interrupts();
  const std::vector<int32_t> ids = prompt_ids(s, o, text);
  const auto generation = engine.submit({.prompt = ids,
                                         .max_tokens = o.max_tokens,
                                         .sampling = s.sampling(o.sampling),
                                         .end_tokens = s.end_tokens});
  // A continuation reads best with its beginning.
  if (!o.is_json && is_continued && !o.no_echo) write_out(text);
  const StreamResult result =
      stream(engine, *generation, s.tokenizer, is_continued ? ids : std::vector<int32_t>{},
             [&](std::string_view piece) {
               if (!o.is_json) write_out(piece);
             });
  if (o.is_json) {
    Json j = Json::object({{"model", o.model.model}, {"prompt", text}, {"text", result.text}});
    j.set("finish_reason", std::string(name(*generation->finish)));
    Json tokens = Json::array();
    for (const Sample& t : generation->tokens) tokens.push_back(int64_t{t.token});
    j.set("tokens", std::move(tokens));
    j.set("prompt_tokens", generation->prompt_tokens);
    j.set("completion_tokens", static_cast<int64_t>(generation->tokens.size()));
    j.set("timings", result.timings());
    write_line(j.dump());
  } else {
    write_out("\n");
  }
  if (!o.is_json) log_info(result.summary(*generation, s));
  if (*generation->finish == Finish::kError)
    fail(Code::kCorruptData, o.model.model, ": ", generation->error);
  return *generation->finish == Finish::kCancelled ? 130 : 0;
}

}  // namespace

std::function<int()> setup_generate(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("prompt", o->prompt, "The prompt; - or nothing reads standard input");
  app.add_option("--prompt,-p", o->prompt_option, "The prompt, as an option");
  add_model_option(app, o->model, "starter-stories");
  app.add_option("--system", o->system, "System prompt, for a model with a chat template");
  app.add_option("--max-tokens,-n", o->max_tokens, "Tokens to generate at most")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 24))
      ->capture_default_str();
  app.add_flag("--raw", o->is_raw, "Continue the text as it is, without the chat template");
  app.add_flag("--no-echo", o->no_echo, "Don't repeat the prompt before its continuation");
  app.add_flag("--json", o->is_json, "One JSON object instead of text");
  add_sampling_options(app, o->sampling);
  add_engine_options(app, o->model);
  return [o] { return run(*o); };
}

}  // namespace hearth::cli
