// For tests: every op with inputs that exercise it, so that one property covers all (gradient_test.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace hearth {

// How the elements of an input are drawn.
struct Draw {
  Shape shape;
  float low = -1.5F;
  float high = 1.5F;
  float gap = 0.0F;  // no element lies closer to zero than this: kinks
};

struct GradientCase {
  std::string label;
  std::vector<Draw> inputs;  // f32, watched
  std::function<Tensor(const std::vector<Tensor>&)> run;
};

const std::vector<GradientCase>& gradient_cases();

// Ops without a derivative, by name, and calls that reach them.
struct OtherCase {
  std::string op;
  std::function<void()> run;
};
const std::vector<OtherCase>& cases_without_gradient();

// Seeded tensors for tests.
Tensor random_tensor(const Draw& draw, uint64_t seed);
Tensor random_ids(int64_t count, int64_t below, uint64_t seed);

}  // namespace hearth
