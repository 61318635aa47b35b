#include "text/jinja/stable_order.h"

#include <algorithm>
#include <numeric>

namespace hearth::jinja {

std::vector<size_t> stable_order(size_t count, function_ref<bool(size_t, size_t)> before) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<size_t> merged(count);
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t begin = 0; begin < count; begin += 2 * width) {
      const size_t middle = std::min(begin + width, count);
      const size_t end = std::min(begin + 2 * width, count);
      size_t left = begin;
      size_t right = middle;
      for (size_t out = begin; out < end; ++out) {
        const bool takes_right =
            left == middle || (right < end && before(order[right], order[left]));
        merged[out] = takes_right ? order[right++] : order[left++];
      }
    }
    order.swap(merged);
  }
  return order;
}

}  // namespace hearth::jinja
