// A stable sort that stays within bounds whatever the comparison says: a template's values may compare in circles (NaN)
// or fail half way. std::stable_sort would do, but clang 19 warns of what libstdc++ 12 uses in it.
#pragma once

#include <cstddef>
#include <vector>

#include "base/function_ref.h"

namespace hearth::jinja {

// The numbers 0 to count - 1 in order; `before(a, b)` says whether number a comes before number b. What it throws goes
// through.
std::vector<size_t> stable_order(size_t count, function_ref<bool(size_t, size_t)> before);

}  // namespace hearth::jinja
