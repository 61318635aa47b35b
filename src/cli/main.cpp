// hearth: reads the verb, runs it, turns an Error into one line and an exit code.
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/log.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace hearth::cli {
namespace {

constexpr const char* kVersion = "hearth 0.1.0";

int run(int argc, char** argv) {
  CLI::App app{"Runs local language models on this machine.", "hearth"};
  app.set_version_flag("--version,-v", kVersion);
  app.require_subcommand(1);
  app.footer(
      "\nExamples:\n  hearth generate \"Once upon a time\"\n  hearth chat\n  hearth VERB --help");
  std::map<const CLI::App*, std::function<int()>> actions;
  for (const Verb& verb : verbs()) {
    CLI::App* sub = app.add_subcommand(std::string(verb.name), std::string(verb.summary));
    if (!verb.alias.empty()) sub->alias(std::string(verb.alias));
    sub->footer("\nExamples:\n" + std::string(verb.examples));
    actions[sub] = verb.setup(*sub);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help and --version
    std::cerr << "hearth: error: " << e.what()
              << "\nRun 'hearth --help' or 'hearth VERB --help'.\n";
    return 2;
  }
  return actions.at(app.get_subcommands().front())();
}

}  // namespace
}  // namespace hearth::cli

int main(int argc, char** argv) {
  using namespace hearth;  // NOLINT(google-build-using-namespace): main only
  try {
    return cli::run(argc, argv);
  } catch (const Error& e) {
    std::cerr << "hearth: error: " << cli::printable_message(e.message()) << "\n";
    return exit_code(e.code());
  } catch (const std::exception& e) {
    std::cerr << "hearth: error: internal: " << e.what() << "\n";
    return 1;
  }
}
