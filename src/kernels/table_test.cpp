#include "kernels/table.h"

#include <cstdlib>
#include <string_view>

#include <doctest/doctest.h>

namespace hearth::kernels {
namespace {

TEST_CASE("every runnable table is complete and the portable one is last") {
  const RunnableTables runnable = runnable_tables();
  REQUIRE(runnable.count >= 1);
  CHECK(runnable.tables[runnable.count - 1] == &kPortable);
  for (int i = 0; i < runnable.count; ++i) {
    const KernelTable& t = *runnable.tables[i];
    CAPTURE(t.target);
    // The members after the name are all function pointers.
    const void* const* members = reinterpret_cast<const void* const*>(&t);
    for (size_t m = 0; m < sizeof(KernelTable) / sizeof(void*); ++m) {
      CAPTURE(m);
      CHECK(members[m] != nullptr);
    }
  }
}

TEST_CASE("the chosen table is the best one, or the one that HEARTH_TARGET names") {
  const char* forced = std::getenv("HEARTH_TARGET");
  if (forced != nullptr) {
    CHECK(std::string_view(table().target) == forced);
  } else {
    CHECK(&table() == runnable_tables().tables[0]);
  }
}

}  // namespace
}  // namespace hearth::kernels
