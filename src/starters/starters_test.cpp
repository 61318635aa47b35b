#include "starters/starters.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/paths.h"

namespace hearth {
namespace {

std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST_CASE("every file of the starter folders is embedded, byte for byte") {
  for (const std::string starter : {"starter-stories", "starter-chat"}) {
    const auto folder = test_support::source_dir() / "models" / starter;
    const auto files = starter_files(starter);
    int64_t on_disk = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      ++on_disk;
      const std::string name = entry.path().filename().string();
      CAPTURE(name);
      bool found = false;
      for (const EmbeddedFile& file : files) {
        if (file.name != name) continue;
        found = true;
        CHECK(file.starter == starter);
        const std::string_view embedded(reinterpret_cast<const char*>(file.bytes.data()),
                                        file.bytes.size());
        CHECK(embedded == bytes_of_file(entry.path()));
      }
      CHECK(found);
    }
    CHECK(on_disk >= 6);
    CHECK(static_cast<int64_t>(files.size()) == on_disk);
  }
}

TEST_CASE("embedded files start at page boundaries, so tensors are aligned as in a mapped file") {
  REQUIRE(!all_starter_files().empty());
  for (const EmbeddedFile& file : all_starter_files()) {
    CHECK(reinterpret_cast<std::uintptr_t>(file.bytes.data()) % 4096 == 0);
  }
}

TEST_CASE("an unknown starter has no files") {
  CHECK(starter_files("starter").empty());
  CHECK(starter_files("").empty());
  CHECK(starter_files("starter-stories/").empty());
}

}  // namespace
}  // namespace hearth
