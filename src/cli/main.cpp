// hearth: reads the verb, runs it, turns an Error into one line and an exit code.
#include <algorithm>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/log.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "kernels/table.h"

namespace hearth::cli {
namespace {

constexpr const char* kVersion = "hearth 0.1.0";

// Levenshtein's distance, for words of a command line.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

// CLI11 says only that a verb is missing; this names the word and the verb that may have been meant.
void check_verb(std::string_view word) {
  std::string_view nearest;
  size_t least = 4;
  for (const Verb& verb : verbs()) {
    if (word == verb.name || word == verb.alias) return;
    const size_t distance = edit_distance(word.substr(0, 64), verb.name);
    if (distance < least) {
      least = distance;
      nearest = verb.name;
    }
  }
  fail(Code::kInvalidArgument, "there is no verb '", word, "'",
       nearest.empty() ? std::string() : "; did you mean '" + std::string(nearest) + "'?",
       " 'hearth --help' lists them");
}

int run(int argc, char** argv) {
  if (argc > 1 && argv[1][0] != '-') check_verb(argv[1]);
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
    std::cerr << "hearth: error: " << printable_message(e.what())
              << "\nRun 'hearth --help' or 'hearth VERB --help'.\n";
    return 2;
  }
  kernels::table();  // refuses a wrong HEARTH_TARGET here, where it can be said
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
  } catch (const std::bad_alloc&) {
    std::cerr << "hearth: error: out of memory; a smaller --context needs less\n";
    return exit_code(Code::kResourceExhausted);
  } catch (const std::exception& e) {
    std::cerr << "hearth: error: internal: " << e.what() << "\n";
    return 1;
  }
}
