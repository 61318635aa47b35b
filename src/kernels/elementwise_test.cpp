#include "kernels/elementwise.h"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/table.h"
#include "support/floats.h"

namespace hearth::kernels {
namespace {

using test_support::first_difference;
using test_support::kInfinity;
using test_support::kNaN;
using test_support::ulp_error;

struct Unary {
  const char* name;
  UnaryFn* KernelTable::* kernel;
  double (*reference)(double);
  double max_ulp;       // where |reference| >= floor
  double max_absolute;  // relative to 1 + |x|, everywhere
};

double sigmoid_of(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double tanh_of(double x) { return std::tanh(x); }
double exp_of(double x) { return std::exp(x); }
double silu_of(double x) { return x / (1.0 + std::exp(-x)); }
double gelu_tanh_of(double x) {
  return x / (1.0 + std::exp(-2.0 * std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
}
double gelu_erf_of(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }

// The bounds in ulp hold where the argument of exp is below 20 or so: its rounding is magnified beyond.
const Unary kUnary[] = {
    {"exp", &KernelTable::exp, exp_of, 2.0, 1e30},
    {"sigmoid", &KernelTable::sigmoid, sigmoid_of, 4.0, 2e-7},
    {"tanh", &KernelTable::tanh, tanh_of, 3.0, 2e-7},
    {"silu", &KernelTable::silu, silu_of, 4.0, 2e-7},
    {"gelu_tanh", &KernelTable::gelu_tanh, gelu_tanh_of, 40.0, 2e-7},
    {"gelu_erf", &KernelTable::gelu_erf, gelu_erf_of, 1e30, 1e-7},
};

// Small and large arguments of both signs, dense around the joints of the polynomials.
std::vector<float> arguments() {
  std::vector<float> x = {0.0F,  -0.0F,  0.625F,  -0.625F, 1.312F,
                          88.7F, -87.4F, -103.9F, 1e-30F,  -1e-40F};
  for (int i = -4000; i <= 4000; ++i) x.push_back(static_cast<float>(i) * 0.003F);
  SplitMix64 random(3);
  for (int i = 0; i < 20000; ++i) x.push_back((random.uniform() - 0.5F) * 170.0F);
  for (int i = 0; i < 2000; ++i) x.push_back(std::ldexp(random.normal(), -i % 60));
  return x;
}

std::vector<float> run(const KernelTable& t, UnaryFn* KernelTable::* kernel,
                       const std::vector<float>& x) {
  std::vector<float> y(x.size());
  (t.*kernel)({x.data(), y.data(), static_cast<int64_t>(x.size())});
  return y;
}

TEST_CASE("functions of one number are as accurate as their header says, on every target") {
  const std::vector<float> x = arguments();
  const RunnableTables runnable = runnable_tables();
  for (int i = 0; i < runnable.count; ++i) {
    const KernelTable& t = *runnable.tables[i];
    for (const Unary& f : kUnary) {
      CAPTURE(t.target);
      CAPTURE(f.name);
      const std::vector<float> y = run(t, f.kernel, x);
      double worst_ulp = 0.0;
      double worst_absolute = 0.0;
      float worst_at = 0.0F;
      for (size_t j = 0; j < x.size(); ++j) {
        const double want = f.reference(static_cast<double>(x[j]));
        const double bound = 1.0 + std::abs(static_cast<double>(x[j]));
        const double absolute = std::abs(static_cast<double>(y[j]) - want) / bound;
        if (f.kernel != &KernelTable::exp) worst_absolute = std::max(worst_absolute, absolute);
        const bool is_tail = f.kernel != &KernelTable::exp && x[j] < -4.0F;
        if (!is_tail && ulp_error(y[j], want) > worst_ulp) {
          worst_ulp = ulp_error(y[j], want);
          worst_at = x[j];
        }
      }
      CAPTURE(worst_at);
      CHECK(worst_ulp <= f.max_ulp);
      CHECK(worst_absolute <= f.max_absolute);
    }
  }
}

TEST_CASE("exp keeps its promise at the ends of the range") {
  const std::vector<float> x = {kInfinity, -kInfinity, kNaN,    88.72284F, 88.8F,
                                200.0F,    -103.0F,    -104.5F, -1e30F};
  const RunnableTables runnable = runnable_tables();
  for (int i = 0; i < runnable.count; ++i) {
    const std::vector<float> y = run(*runnable.tables[i], &KernelTable::exp, x);
    CAPTURE(runnable.tables[i]->target);
    CHECK(y[0] == kInfinity);
    CHECK(y[1] == 0.0F);
    CHECK(std::isnan(y[2]));
    CHECK(ulp_error(y[3], std::exp(static_cast<double>(x[3]))) <= 2.0);
    CHECK(y[4] == kInfinity);
    CHECK(y[5] == kInfinity);
    CHECK(y[6] == std::ldexp(1.0F, -149));
    CHECK(y[7] == 0.0F);
    CHECK(y[8] == 0.0F);
  }
}

TEST_CASE("elementwise kernels give the same bits on every target, at every length and in place") {
  std::vector<float> edges = arguments();
  for (const float special : {kInfinity, -kInfinity, kNaN, 3e38F, -3e38F, 1e-45F})
    edges.push_back(special);
  const RunnableTables runnable = runnable_tables();
  for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{7}, int64_t{16}, int64_t{33},
                          static_cast<int64_t>(edges.size())}) {
    const std::vector<float> a(edges.end() - n, edges.end());
    const std::vector<float> b = test_support::normal_floats(n, 5);
    for (int i = 0; i < runnable.count; ++i) {
      const KernelTable& t = *runnable.tables[i];
      CAPTURE(t.target);
      CAPTURE(n);
      for (const Unary& f : kUnary) {
        CAPTURE(f.name);
        const std::vector<float> want = run(kPortable, f.kernel, a);
        CHECK(first_difference(run(t, f.kernel, a), want) == -1);
        std::vector<float> in_place = a;
        (t.*f.kernel)({in_place.data(), in_place.data(), n});
        CHECK(first_difference(in_place, want) == -1);
      }
      for (BinaryFn* KernelTable::* kernel :
           {&KernelTable::add, &KernelTable::mul, &KernelTable::swiglu, &KernelTable::geglu}) {
        std::vector<float> want(a.size());
        (kPortable.*kernel)({a.data(), b.data(), want.data(), n});
        std::vector<float> got = a;
        (t.*kernel)({got.data(), b.data(), got.data(), n});
        CHECK(first_difference(got, want) == -1);
      }
    }
  }
}

TEST_CASE("an element's bits don't depend on where in the array it stands") {
  const std::vector<float> x = test_support::normal_floats(100, 9, 4.0F);
  const std::vector<float> whole = run(table(), &KernelTable::silu, x);
  for (size_t i = 0; i < x.size(); ++i)
    CHECK(run(table(), &KernelTable::silu, {x[i]})[0] == whole[i]);
}

TEST_CASE("binary kernels compute what they are named for") {
  const std::vector<float> a = test_support::normal_floats(37, 1);
  const std::vector<float> b = test_support::normal_floats(37, 2);
  std::vector<float> y(37);
  const KernelTable& t = table();
  t.add({a.data(), b.data(), y.data(), 37});
  for (size_t i = 0; i < 37; ++i) CHECK(y[i] == a[i] + b[i]);
  t.mul({a.data(), b.data(), y.data(), 37});
  for (size_t i = 0; i < 37; ++i) CHECK(y[i] == a[i] * b[i]);
  t.swiglu({a.data(), b.data(), y.data(), 37});
  for (size_t i = 0; i < 37; ++i) {
    CHECK(y[i] == doctest::Approx(silu_of(static_cast<double>(a[i])) * static_cast<double>(b[i]))
                      .epsilon(1e-6));
  }
  t.geglu({a.data(), b.data(), y.data(), 37});
  for (size_t i = 0; i < 37; ++i) {
    CHECK(y[i] ==
          doctest::Approx(gelu_tanh_of(static_cast<double>(a[i])) * static_cast<double>(b[i]))
              .epsilon(1e-5));
  }
}

}  // namespace
}  // namespace hearth::kernels
