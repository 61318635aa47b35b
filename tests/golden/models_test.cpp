// The shipped golden checkpoints, and all of the families present in ../shared where it lies beside.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "cli/golden.h"
#include "support/paths.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

// Folders with recorded outputs, in name order, whose name begins with one of the prefixes.
std::vector<fs::path> golden_folders(const fs::path& root,
                                     const std::vector<std::string_view>& prefixes) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    const bool is_wanted =
        prefixes.empty() ||
        std::ranges::any_of(prefixes, [&](std::string_view p) { return name.starts_with(p); });
    const bool has_data =
        fs::exists(entry.path() / "golden.json") || fs::exists(entry.path() / "goldens.json");
    if (is_wanted && has_data) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

void check_all(const std::vector<fs::path>& folders, Numerics numerics) {
  for (const fs::path& folder : folders) {
    const cli::GoldenReport report =
        cli::verify_golden(folder, {.threads = 2, .numerics = numerics});
    INFO(report.to_json().dump());
    CHECK(report.has_passed());
  }
}

TEST_CASE(
    "shipped goldens: logits and greedy tokens equal the reference's, the same bits every way") {
  const fs::path root = test_support::source_dir() / "tests" / "golden";
  const auto models = golden_folders(root / "models", {});
  REQUIRE(models.size() >= 20);
  check_all(models, Numerics::kExact);
  const auto starters = golden_folders(root / "starters", {});
  REQUIRE(starters.size() == 3);
  check_all(starters, Numerics::kExact);
}

TEST_CASE(
    "all goldens of llama, mistral, qwen3 and the starters, where the reference data lies beside") {
  const auto shared = test_support::shared_dir();
  if (!shared) {
    MESSAGE("no ../shared: the shipped subset stands for it");
    return;
  }
  std::vector<fs::path> folders = golden_folders(
      *shared / "goldens", {"llama", "mistral", "qwen3-tied", "qwen3-untied", "qwen3-bf16",
                            "q-llama-affine", "q-llama-mixed", "q-qwen3-affine", "q-qwen3-mixed"});
  REQUIRE(folders.size() >= 29);
  for (const fs::path& starter : golden_folders(*shared / "models", {})) folders.push_back(starter);
  check_all(folders, Numerics::kExact);
}

TEST_CASE("a golden that doesn't hold is reported, not passed over") {
  const test_support::TempDir dir;
  const fs::path copy = dir.path() / "tampered";
  fs::copy(test_support::source_dir() / "tests" / "golden" / "starters" / "stories-bf16", copy);
  // The other starter's outputs beside these weights.
  fs::copy_file(test_support::source_dir() / "tests" / "golden" / "starters" / "starter-stories" /
                    "goldens.json",
                copy / "goldens.json", fs::copy_options::overwrite_existing);
  CHECK_FALSE(cli::verify_golden(copy, {.threads = 1, .numerics = Numerics::kExact}).has_passed());
}

}  // namespace
}  // namespace hearth
