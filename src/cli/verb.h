// The verbs of the command line.
#pragma once

#include <functional>
#include <span>
#include <string_view>

namespace CLI {
class App;
}

namespace hearth::cli {

// Adds the verb's options to its subcommand and returns what runs it after parsing; that returns the exit code and
// may throw Error.
using Setup = std::function<int()> (*)(CLI::App&);

struct Verb {
  std::string_view name;
  std::string_view alias;  // "" = none
  std::string_view summary;
  std::string_view examples;  // for --help
  Setup setup;
};

std::span<const Verb> verbs();

// One for each file of this folder that is named after a verb.
std::function<int()> setup_generate(CLI::App&);
std::function<int()> setup_chat(CLI::App&);
std::function<int()> setup_inspect(CLI::App&);
std::function<int()> setup_tokenize(CLI::App&);
std::function<int()> setup_render(CLI::App&);
std::function<int()> setup_verify(CLI::App&);
std::function<int()> setup_bench(CLI::App&);
std::function<int()> setup_make_checkpoint(CLI::App&);

}  // namespace hearth::cli
