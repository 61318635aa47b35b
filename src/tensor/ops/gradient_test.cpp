// One property for all ops: the gradient that a tape gives is the one that differences of the function show.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "base/file.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "support/paths.h"
#include "tensor/op.h"
#include "tensor/ops/gradient_cases.h"
#include "tensor/tape.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

// The weighted sum of a result, in f64: a scalar function whose rounding is that of the op alone.
double weighted_sum(const Tensor& y, const Tensor& w) {
  double total = 0.0;
  for (int64_t i = 0; i < y.size(); ++i)
    total += static_cast<double>(y.data<float>()[i]) * static_cast<double>(w.data<float>()[i]);
  return total;
}

Tensor moved(const Tensor& x, const Tensor& direction, float step) {
  Tensor y = Tensor::empty(x.shape());
  for (int64_t i = 0; i < x.size(); ++i)
    y.mutable_data<float>()[i] = x.data<float>()[i] + step * direction.data<float>()[i];
  return y;
}

// d/dt of the weighted sum along a direction, by the five-point stencil: error of order h^4.
double slope_along(const GradientCase& c, std::vector<Tensor> inputs, size_t which,
                   const Tensor& direction, const Tensor& w) {
  constexpr float h = 0x1p-6F;
  const Tensor x = inputs[which];
  const auto value = [&](float step) {
    inputs[which] = moved(x, direction, step);
    return weighted_sum(c.run(inputs), w);
  };
  const double near = value(h) - value(-h);
  const double far = value(2 * h) - value(-2 * h);
  return (8.0 * near - far) / (12.0 * static_cast<double>(h));
}

// Small inputs are checked element by element, larger ones along random directions.
std::vector<Tensor> directions_of(const Shape& shape, uint64_t seed) {
  std::vector<Tensor> all;
  if (shape.size() <= 40) {
    for (int64_t i = 0; i < shape.size(); ++i) {
      Tensor unit = Tensor::zeros(shape);
      unit.mutable_data<float>()[i] = 1.0F;
      all.push_back(unit);
    }
    return all;
  }
  for (uint64_t i = 0; i < 6; ++i) all.push_back(random_tensor({shape, -0.5F, 0.5F}, seed + i));
  return all;
}

void check_case(const GradientCase& c) {
  CAPTURE(c.label);
  std::vector<Tensor> inputs;
  for (const Draw& d : c.inputs) inputs.push_back(random_tensor(d, 17 + inputs.size()));
  Tensor w;
  Gradients g;
  {
    Tape tape;
    for (const Tensor& t : inputs) tape.watch(t);
    const Tensor y = c.run(inputs);
    w = random_tensor({y.shape(), -1.0F, 1.0F}, 99);
    g = tape.backward(y, w);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    CAPTURE(i);
    const Tensor got = g.of(inputs[i]);
    REQUIRE(got.shape() == inputs[i].shape());
    double largest = 0.0;
    for (const float v : got.span<float>())
      largest = std::max(largest, std::abs(static_cast<double>(v)));
    for (const Tensor& d : directions_of(inputs[i].shape(), 1000 * i)) {
      const double want = slope_along(c, inputs, i, d, w);
      double length = 0.0;
      for (const float v : d.span<float>())
        length += static_cast<double>(v) * static_cast<double>(v);
      CHECK(std::abs(weighted_sum(got, d) - want) <= 3e-4 * (1.0 + largest) * std::sqrt(length));
    }
  }
}

TEST_CASE("the gradient of every op agrees with central differences") {
  for (const GradientCase& c : gradient_cases()) check_case(c);
}

TEST_CASE("gradients have the same bits for any number of threads") {
  ThreadPool pool(3);
  for (const GradientCase& c : gradient_cases()) {
    CAPTURE(c.label);
    std::vector<Tensor> inputs;
    for (const Draw& d : c.inputs) inputs.push_back(random_tensor(d, 23 + inputs.size()));
    const auto gradients = [&](ThreadPool* threads) {
      const ComputeScope scope({.pool = threads});
      Tape tape;
      for (const Tensor& t : inputs) tape.watch(t);
      const Tensor y = c.run(inputs);
      return tape.backward(y, Tensor::full(y.shape(), 1.0F));
    };
    const Gradients alone = gradients(nullptr);
    const Gradients shared = gradients(&pool);
    for (const Tensor& t : inputs) {
      const Tensor a = alone.of(t);
      const Tensor b = shared.of(t);
      CHECK(std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.bytes())) == 0);
    }
  }
}

// Writes down the names of the ops that pass.
class Names final : public Recorder {
 public:
  void record(const Op& op, CloneOp /*clone*/, std::span<const Tensor> /*in*/,
              const Tensor& /*out*/) override {
    seen.insert(std::string(op.name()));
  }
  std::set<std::string> seen;
};

fs::path ops_folder() { return test_support::source_dir() / "src" / "tensor" / "ops"; }

std::string text_of(const fs::path& path) { return read_text_file(path, 1 << 22); }

// The words that follow `before` in a text, each up to `after`.
std::set<std::string> words_between(const std::string& text, std::string_view before,
                                    std::string_view after) {
  std::set<std::string> words;
  for (size_t at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
    const size_t begin = at + before.size();
    const size_t end = text.find(after, begin);
    if (end == std::string::npos) break;
    const std::string word = text.substr(begin, end - begin);
    if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos)
      words.insert(word);
  }
  return words;
}

TEST_CASE("every op of the folder is reached by a case") {
  std::set<std::string> named;
  for (const fs::directory_entry& entry : fs::directory_iterator(ops_folder())) {
    const std::string file = entry.path().filename().string();
    if (entry.path().extension() == ".cpp" && !file.ends_with("_test.cpp")) {
      named.merge(words_between(text_of(entry.path()), "return \"", "\";"));
    }
  }
  REQUIRE(named.size() > 40);
  Names names;
  const ComputeScope scope({.recorder = &names});
  for (const GradientCase& c : gradient_cases()) {
    std::vector<Tensor> inputs;
    for (const Draw& d : c.inputs) inputs.push_back(random_tensor(d, 5));
    c.run(inputs);
  }
  for (const OtherCase& c : cases_without_gradient()) {
    c.run();
    CHECK_MESSAGE(names.seen.contains(c.op), c.op);
  }
  for (const std::string& op : named)
    CHECK_MESSAGE(names.seen.contains(op), "no case reaches the op ", op);
}

bool calls(const std::string& text, const std::string& function) {
  const std::string call = function + "(";
  for (size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) {
    if (at > 0 && text[at - 1] != '_' &&
        std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0)
      return true;
  }
  return false;
}

TEST_CASE("every function that an ops header declares is called by a case") {
  const std::string cases = text_of(ops_folder() / "gradient_cases_test.cpp");
  int functions = 0;
  for (const char* header : {"arithmetic", "activation", "norm", "shape", "reduce", "linear",
                             "rope", "attention", "loss"}) {
    const std::string text = text_of(ops_folder() / (std::string(header) + ".h"));
    std::set<std::string> declared = words_between(text, "\nTensor ", "(");
    declared.merge(words_between(text, "\nstd::vector<Tensor> ", "("));
    for (const std::string& f : declared) {
      ++functions;
      CHECK_MESSAGE(calls(cases, f), "no case calls ", f, " of ", header, ".h");
    }
  }
  CHECK(functions > 45);
}

}  // namespace
}  // namespace hearth
