// A conversation in the terminal. Lines come from a terminal or a pipe; the answer streams.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <fmt/core.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/log.h"
#include "cli/line_editor.h"
#include "cli/session.h"
#include "cli/streaming.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace hearth::cli {
namespace {

struct Options {
  ModelOptions model;
  SamplingOptions sampling;
  std::string system;
  int64_t max_tokens = 1024;
};

constexpr std::string_view kHelp =
    "  /reset   forget the conversation\n"
    "  /system TEXT   set the system prompt and forget the conversation\n"
    "  /stats   numbers of the last answer\n"
    "  /exit    leave (or Ctrl-D)\n"
    "  Ctrl-C stops an answer\n";

class Conversation {
 public:
  Conversation(const Options& options, Session& session)
      : options_(options),
        session_(session),
        engine_(*session.loaded.model, session.engine),
        system_(options.system) {
    reset();
  }

  void reset() {
    messages_ = Json::array();
    if (!system_.empty())
      messages_.push_back(Json::object({{"role", "system"}, {"content", system_}}));
  }

  void set_system(std::string text) {
    system_ = std::move(text);
    reset();
  }

  // Streams the answer to one message; the conversation grows by both. On an Error it is as it was before.
  void answer(const std::string& text) {
    take_interrupt();  // one that came after the last answer's end was not meant for this one
    Json asked = messages_;
    asked.push_back(Json::object({{"role", "user"}, {"content", text}}));
    SamplingParams sampling = session_.sampling(options_.sampling);
    sampling.seed += static_cast<uint64_t>(
        messages_.size());  // turns differ, a seed still repeats the conversation
    const auto generation = engine_.submit({.prompt = session_.tokenizer.encode_segments(
                                                session_.chat->render(asked, Json(), {}).segments),
                                            .max_tokens = options_.max_tokens,
                                            .sampling = sampling,
                                            .end_tokens = session_.end_tokens});
    const StreamResult result = stream(engine_, *generation, session_.tokenizer, {},
                                       [](std::string_view piece) { write_out(piece); });
    write_out("\n");
    last_summary_ = result.summary(*generation, session_);
    if (*generation->finish == Finish::kError) fail(Code::kCorruptData, generation->error);
    if (*generation->finish == Finish::kLength) log_info("the answer was cut at the token limit");
    asked.push_back(Json::object({{"role", "assistant"}, {"content", result.text}}));
    messages_ = std::move(asked);
  }

  const std::string& last_summary() const { return last_summary_; }

 private:
  const Options& options_;
  Session& session_;
  Engine engine_;
  std::string system_;
  Json messages_;
  std::string last_summary_ = "no answer yet";
};

// False: leave.
bool obey(const std::string& line, Conversation& conversation) {
  if (line == "/exit" || line == "/quit") return false;
  if (line == "/reset")
    conversation.reset();
  else if (line.starts_with("/system "))
    conversation.set_system(line.substr(8));
  else if (line == "/stats")
    log_info(conversation.last_summary());
  else
    log_info("commands:\n" + std::string(kHelp));
  return true;
}

int run(const Options& o) {
  Session session = Session::open(o.model);
  require(session.chat.has_value(), o.model.model,
          " has no chat template; use 'hearth generate' to continue a text, ",
          "or choose a chat model with --model");
  catch_interrupts();
  Conversation conversation(o, session);
  LineEditor editor;
  if (editor.is_interactive()) log_info("type a message; /help lists commands, Ctrl-D leaves");
  int status = 0;
  while (const std::optional<std::string> line = editor.read("> ")) {
    if (line->empty()) continue;
    if (line->starts_with('/')) {
      if (!obey(*line, conversation)) break;
      continue;
    }
    try {
      require_utf8(*line, "the message");
      conversation.answer(*line);
    } catch (const Error& e) {
      if (e.code() == Code::kIo) throw;  // nobody reads the answers any more
      // A message that doesn't fit ends the message, not the conversation; a script wants to know.
      log_warning(printable_message(e.message()) + "; /reset starts anew");
      if (!editor.is_interactive()) status = exit_code(e.code());
    }
  }
  if (take_interrupt()) return 130;
  if (editor.is_interactive()) log_info(conversation.last_summary());
  return status;
}

}  // namespace

std::function<int()> setup_chat(CLI::App& app) {
  auto o = std::make_shared<Options>();
  add_model_option(app, o->model, "starter-chat");
  app.add_option("--system", o->system, "System prompt");
  app.add_option("--max-tokens,-n", o->max_tokens, "Tokens of an answer at most")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 24))
      ->capture_default_str();
  add_sampling_options(app, o->sampling);
  add_engine_options(app, o->model);
  return [o] { return run(*o); };
}

}  // namespace hearth::cli
