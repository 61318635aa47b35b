#include "support/paths.h"

#include <cstdlib>
#include <string>
#include <system_error>

#include "base/error.h"

namespace hearth::test_support {

std::filesystem::path source_dir() { return HEARTH_SOURCE_DIR; }

std::optional<std::filesystem::path> shared_dir() {
  const char* named = std::getenv("HEARTH_SHARED_DIR");
  const std::filesystem::path path =
      named != nullptr ? std::filesystem::path(named) : source_dir() / ".." / "shared";
  if (std::filesystem::is_directory(path / "goldens")) return path;
  return std::nullopt;
}

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "hearth-test-XXXXXX").string();
  HEARTH_CHECK(mkdtemp(name.data()) != nullptr, "mkdtemp ", name);
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace hearth::test_support
