#include "starters/starters.h"

namespace hearth {

std::span<const EmbeddedFile> starter_files(std::string_view starter) {
  const std::span<const EmbeddedFile> all = all_starter_files();
  size_t begin = 0;
  while (begin < all.size() && all[begin].starter != starter) ++begin;
  size_t end = begin;
  while (end < all.size() && all[end].starter == starter) ++end;
  return all.subspan(begin, end - begin);
}

}  // namespace hearth
