#include "base/paths.h"

#include <cstdlib>

namespace hearth {
namespace {

std::filesystem::path folder(const char* own, const char* xdg, const char* home_relative) {
  if (const char* root = std::getenv("HEARTH_HOME"); root != nullptr && *root != '\0')
    return std::filesystem::path(root) / own;
  if (const char* base = std::getenv(xdg); base != nullptr && *base == '/')
    return std::filesystem::path(base) / "hearth";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return {};
  return std::filesystem::path(home) / home_relative / "hearth";
}

}  // namespace

std::filesystem::path config_dir() { return folder("config", "XDG_CONFIG_HOME", ".config"); }
std::filesystem::path data_dir() { return folder("data", "XDG_DATA_HOME", ".local/share"); }
std::filesystem::path cache_dir() { return folder("cache", "XDG_CACHE_HOME", ".cache"); }

}  // namespace hearth
