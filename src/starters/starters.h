// The demonstration checkpoints that are part of the binary (models/README.md says what they are).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace hearth {

// One file of a checkpoint folder. Views of static data: valid for the life of the process, any thread.
struct EmbeddedFile {
  std::string_view starter;          // "starter-stories"
  std::string_view name;             // "config.json"
  std::span<const std::byte> bytes;  // starts at a multiple of 4096 bytes, like a mapped file
};

// Files of the starter with that name ("starter-stories", "starter-chat"), in name order; empty if there is none.
std::span<const EmbeddedFile> starter_files(std::string_view starter);

// Files of all starters; those of one starter lie together.
std::span<const EmbeddedFile> all_starter_files();

}  // namespace hearth
