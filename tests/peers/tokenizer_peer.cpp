// Our side of the differential tokenizer test (tokenizer_diff.mjs): texts on stdin, ids and decoded texts on stdout.
//
//   tokenizer_peer TOKENIZER.json     each line of stdin is a JSON string; each line of stdout {"ids": [...], "text": "..."}
//
// Control-token text becomes the token, nothing is added around the text, and decoding keeps control tokens.
#include <fmt/core.h>

#include <cstdio>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "text/tokenizer.h"

namespace {

bool read_line(std::string& line) {
  line.clear();
  int c = 0;
  while ((c = std::getchar()) != EOF && c != '\n') line.push_back(static_cast<char>(c));
  return c != EOF || !line.empty();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    hearth::require(argc == 2, "usage: tokenizer_peer TOKENIZER.json");
    const hearth::Tokenizer tokenizer = hearth::Tokenizer::load(argv[1]);
    std::string line;
    while (read_line(line)) {
      const std::string text = hearth::Json::parse(line).as_string();
      hearth::Json::Array ids;
      const auto encoded = tokenizer.encode(text, {.add_special = false, .parse_special = true});
      for (const int32_t id : encoded) ids.emplace_back(int64_t{id});
      hearth::Json out = hearth::Json::object();
      out.set("ids", hearth::Json(std::move(ids)));
      out.set("text", tokenizer.decode(encoded));
      fmt::print("{}\n", out.dump());
    }
  } catch (const hearth::Error& e) {
    fmt::print(stderr, "tokenizer_peer: {}\n", e.message());
    return hearth::exit_code(e.code());
  }
  return 0;
}
