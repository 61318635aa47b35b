// Where Hearth keeps its own files: HEARTH_HOME if set, else the XDG folders. Empty when the environment names no home:
// a guess that other users could make too would be no safe place.
#pragma once

#include <filesystem>

namespace hearth {

std::filesystem::path
config_dir();  // HEARTH_HOME/config, else $XDG_CONFIG_HOME/hearth, else ~/.config/hearth
std::filesystem::path
data_dir();  // HEARTH_HOME/data,   else $XDG_DATA_HOME/hearth,   else ~/.local/share/hearth
std::filesystem::path
cache_dir();  // HEARTH_HOME/cache,  else $XDG_CACHE_HOME/hearth,  else ~/.cache/hearth

}  // namespace hearth
