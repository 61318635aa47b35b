#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/log.h"
#include "cli/golden.h"
#include "cli/session.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace hearth::cli {
namespace {

struct Options {
  std::vector<std::string> folders;
  int threads = 0;
  std::string numerics = "exact";
  bool is_json = false;
};

void print(const GoldenReport& r) {
  const std::string name = (std::filesystem::path(r.folder) / "").parent_path().filename().string();
  if (!r.error.empty()) {
    write_line(fmt::format("{:<48} FAILED  {}", name, printable_message(r.error)));
    return;
  }
  int64_t compared = 0;
  int64_t equal = 0;
  bool same_bits = true;
  for (const GoldenPromptReport& p : r.prompts) {
    compared += p.greedy_compared;
    equal += p.greedy_equal;
    same_bits = same_bits && p.has_same_bits;
  }
  const std::string distance = r.numerics == Numerics::kExact
                                   ? fmt::format("largest error {:.1e}", r.max_error())
                                   : fmt::format("mean KL {:.1e}", r.mean_kl());
  write_line(fmt::format("{:<48} {}  {}, greedy {} of {}{}", name,
                         r.has_passed() ? "passed" : "FAILED", distance, equal, compared,
                         same_bits ? "" : ", bits differ between whole, chunked and packed"));
}

// Of the arguments those that a shell's * may have caught by chance, plain files, are left out.
std::vector<std::string> chosen_folders(const Options& o) {
  std::vector<std::string> folders;
  std::error_code ignored;
  for (const std::string& f : o.folders)
    if (o.folders.size() == 1 || !std::filesystem::is_regular_file(f, ignored))
      folders.push_back(f);
  return folders;
}

int run(const Options& o) {
  const std::vector<std::string> folders = chosen_folders(o);
  Json list = Json::array();
  size_t passed = 0;
  for (const std::string& folder : folders) {
    GoldenReport report;
    try {
      report =
          verify_golden(folder, {.threads = o.threads, .numerics = parse_numerics(o.numerics)});
    } catch (const Error& e) {
      // With one folder the error is the answer; among several the others still count.
      if (folders.size() == 1) throw;
      report.folder = folder;
      report.error = e.message();
    }
    passed += report.has_passed();
    if (o.is_json)
      list.push_back(report.to_json());
    else
      print(report);
  }
  if (o.is_json) write_line(list.dump({.indent = 2}));
  log_info(fmt::format("{} of {} passed", passed, folders.size()));
  return passed == folders.size() ? 0 : 1;
}

}  // namespace

std::function<int()> setup_verify(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("folders", o->folders,
                 "Golden folders: a checkpoint beside golden.json or goldens.json")
      ->required();
  app.add_option("--threads", o->threads, "Threads; 0 = all that this process may use")
      ->check(CLI::Range(0, 1024));
  app.add_option("--numerics", o->numerics, "exact, or fast (judged by KL divergence)")
      ->check(CLI::IsMember({"fast", "exact"}))
      ->capture_default_str();
  app.add_flag("--json", o->is_json, "A JSON array with one object for each folder");
  return [o] { return run(*o); };
}

}  // namespace hearth::cli
