#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/json.h"
#include "cli/session.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "text/tokenizer.h"

namespace hearth::cli {
namespace {

struct Options {
  std::string model = "starter-stories";
  std::optional<std::string> text;
  std::vector<int32_t> ids;
  bool is_json = false;
  bool by_line = false;
  bool with_special = false;
  bool parse_special = false;
};

Json id_array(const std::vector<int32_t>& ids) {
  Json j = Json::array();
  for (const int32_t id : ids) j.push_back(int64_t{id});
  return j;
}

void print_ids(const Tokenizer& tokenizer, const std::string& text, const Options& o) {
  require_utf8(text, "the text");
  const std::vector<int32_t> ids =
      tokenizer.encode(text, {.add_special = o.with_special, .parse_special = o.parse_special});
  if (o.is_json) {
    Json tokens = Json::array();
    for (const int32_t id : ids)
      tokens.push_back(std::string(tokenizer.id_to_token(id).value_or("")));
    write_line(Json::object({{"text", text}, {"ids", id_array(ids)}, {"tokens", std::move(tokens)}})
                   .dump());
    return;
  }
  std::string line;
  for (const int32_t id : ids) line += fmt::format("{}{}", line.empty() ? "" : " ", id);
  write_line(line);
}

int run(const Options& o) {
  const Tokenizer tokenizer =
      Tokenizer::load(is_starter(o.model) || std::filesystem::is_directory(o.model)
                          ? model_folder(o.model)
                          : std::filesystem::path(o.model));
  if (!o.ids.empty()) {
    require(!o.text, "give a text or --decode, not both");
    for (const int32_t id : o.ids) {
      require(id >= 0 && id < tokenizer.vocab_size(), "--decode ", id,
              " is outside the vocabulary of ", tokenizer.vocab_size());
    }
    const std::string text = tokenizer.decode(o.ids);
    write_line(o.is_json ? Json::object({{"ids", id_array(o.ids)}, {"text", text}}).dump() : text);
    return 0;
  }
  if (o.by_line) {
    require(!o.text, "--lines reads standard input; give no text with it");
    for (std::string line; std::getline(std::cin, line);) print_ids(tokenizer, line, o);
    return 0;
  }
  print_ids(tokenizer, o.text.value_or("-") == "-" ? read_stdin(size_t{1} << 30) : *o.text, o);
  return 0;
}

}  // namespace

std::function<int()> setup_tokenize(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("text", o->text, "The text; - or nothing reads standard input");
  app.add_option("--model,-m", o->model, "A checkpoint's folder, a tokenizer.json or a starter")
      ->capture_default_str();
  app.add_option("--decode", o->ids, "Token ids to turn into text");
  app.add_flag("--lines", o->by_line, "One result for each line of standard input");
  app.add_flag("--special", o->with_special, "Add the tokens that begin and end a sequence");
  app.add_flag("--parse-special", o->parse_special,
               "Control tokens spelled in the text become control tokens");
  app.add_flag("--json", o->is_json, "JSON objects with text, ids and tokens");
  return [o] { return run(*o); };
}

}  // namespace hearth::cli
