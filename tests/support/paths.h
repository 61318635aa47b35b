// Where tests find their data.
#pragma once

#include <filesystem>
#include <optional>

namespace hearth::test_support {

// Root of the source tree that this test was built from.
std::filesystem::path source_dir();

// The large reference data beside the project (goldens, models, data), if present: HEARTH_SHARED_DIR, else
// <source>/../shared. Tests run their shipped subset always and this in addition.
std::optional<std::filesystem::path> shared_dir();

// A fresh empty folder under the system's temporary folder, removed when the object dies.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace hearth::test_support
