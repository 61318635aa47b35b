#include "codec/affine.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "base/random.h"

namespace hearth::codec {
namespace {

constexpr int kAllBits[] = {2, 3, 4, 5, 6, 8};
constexpr int64_t kAllGroups[] = {32, 64, 128};

// Reads code i by the definition: bits [i * bits, (i + 1) * bits) of the little-endian string, one bit at a time.
uint8_t code_by_definition(const std::vector<uint32_t>& packed, int64_t i, int bits) {
  uint8_t code = 0;
  for (int b = 0; b < bits; ++b) {
    const int64_t at = i * bits + b;
    code = static_cast<uint8_t>(code | ((packed[static_cast<size_t>(at / 32)] >> (at % 32)) & 1U)
                                           << b);
  }
  return code;
}

struct Row {
  std::vector<uint32_t> packed;
  std::vector<float> scales, biases;

  Row(int64_t cols, AffineFormat f)
      : packed(static_cast<size_t>(packed_words(cols, f.bits))),
        scales(static_cast<size_t>(cols / f.group)),
        biases(static_cast<size_t>(cols / f.group)) {}
};

Row quantize(const std::vector<float>& w, AffineFormat f) {
  const int64_t cols = static_cast<int64_t>(w.size());
  Row row(cols, f);
  quantize_row(w.data(), cols, f, row.packed.data(), row.scales.data(), row.biases.data());
  return row;
}

// The rule of spec/quantization.md, 1.2, written again without looking at the code under test: per weight, with
// nearbyint and no clamping shortcuts.
void check_against_rule(const std::vector<float>& w, AffineFormat f, const Row& row) {
  const float nb = static_cast<float>((1 << f.bits) - 1);
  for (int64_t g = 0; g < static_cast<int64_t>(w.size()) / f.group; ++g) {
    float wmin = std::numeric_limits<float>::infinity();
    float wmax = -std::numeric_limits<float>::infinity();
    for (int64_t i = g * f.group; i < (g + 1) * f.group; ++i) {
      wmin = std::fmin(wmin, w[static_cast<size_t>(i)]);
      wmax = std::fmax(wmax, w[static_cast<size_t>(i)]);
    }
    const bool neg = std::fabs(wmin) > std::fabs(wmax);
    float s = std::fmax((wmax - wmin) / nb, 1e-7F);
    s = neg ? s : -s;
    const float edge = neg ? wmin : wmax;
    const float q0 = std::nearbyint(edge / s);
    float b = 0.0F;
    if (q0 != 0.0F) {
      s = edge / q0;
      b = edge;
    }
    REQUIRE(row.scales[static_cast<size_t>(g)] == s);
    REQUIRE(row.biases[static_cast<size_t>(g)] == b);
    for (int64_t i = g * f.group; i < (g + 1) * f.group; ++i) {
      float q = std::nearbyint((w[static_cast<size_t>(i)] - b) / s);
      q = std::fmin(std::fmax(q, 0.0F), nb);
      REQUIRE(static_cast<float>(code_by_definition(row.packed, i, f.bits)) == q);
    }
  }
}

// Groups of every awkward kind: zero, constant, one-signed, an outlier, tiny, denormal, ties between codes, huge.
std::vector<float> awkward_row(int64_t group, SplitMix64& rng) {
  std::vector<float> w;
  const auto add = [&](auto&& value) {
    for (int64_t i = 0; i < group; ++i) w.push_back(value(i));
  };
  add([](int64_t) { return 0.0F; });
  add([](int64_t) { return 0.75F; });
  add([](int64_t) { return -1000.0F; });
  add([&](int64_t) { return 1.0F + rng.uniform(); });
  add([&](int64_t) { return -1.0F - rng.uniform(); });
  add([&](int64_t i) { return i == 5 ? 100.0F : rng.normal(); });
  add([&](int64_t i) { return i == 7 ? -100.0F : rng.normal(); });
  add([&](int64_t) { return 1e-8F * rng.normal(); });
  add([&](int64_t) { return 1e-42F * rng.normal(); });
  add([](int64_t i) { return 0.5F * static_cast<float>(i % 16) - 3.75F; });
  add([](int64_t i) { return static_cast<float>(i % 2) - 0.5F; });
  add([&](int64_t) { return 1e30F * rng.normal(); });
  for (int repeat = 0; repeat < 20; ++repeat) add([&](int64_t) { return rng.normal(); });
  return w;
}

TEST_CASE("quantize_row follows the reference's rule bit for bit, for all 18 formats") {
  SplitMix64 rng(1);
  for (const int bits : kAllBits) {
    for (const int64_t group : kAllGroups) {
      CAPTURE(bits);
      CAPTURE(group);
      const AffineFormat f{bits, group};
      REQUIRE(is_valid(f));
      const std::vector<float> w = awkward_row(group, rng);
      check_against_rule(w, f, quantize(w, f));
    }
  }
}

TEST_CASE("pack then unpack gives the codes, and each lies where the layout says") {
  SplitMix64 rng(2);
  for (const int bits : kAllBits) {
    for (const int64_t cols : {32, 64, 96, 1024}) {
      CAPTURE(bits);
      std::vector<uint8_t> codes(static_cast<size_t>(cols));
      for (uint8_t& c : codes) c = static_cast<uint8_t>(rng.below(int64_t{1} << bits));
      std::vector<uint32_t> packed(static_cast<size_t>(packed_words(cols, bits)));
      pack_codes(codes.data(), cols, bits, packed.data());
      for (int64_t i = 0; i < cols; ++i) {
        REQUIRE(code_by_definition(packed, i, bits) == codes[static_cast<size_t>(i)]);
      }
      std::vector<uint8_t> back(codes.size());
      unpack_codes(packed.data(), cols, bits, back.data());
      CHECK(back == codes);
    }
  }
}

TEST_CASE("the byte layouts of 3, 5 and 6 bits are those of the specification") {
  const std::vector<uint8_t> codes = {1, 6, 5, 2, 7, 3, 4, 0, 1, 6, 5, 2, 7, 3, 4, 0,
                                      1, 6, 5, 2, 7, 3, 4, 0, 1, 6, 5, 2, 7, 3, 4, 0};
  const auto byte_of = [](const std::vector<uint32_t>& words, int i) {
    return static_cast<int>((words[static_cast<size_t>(i / 4)] >> (8 * (i % 4))) & 0xFFU);
  };
  const auto c = [&](int i) { return static_cast<int>(codes[static_cast<size_t>(i)]); };
  std::vector<uint32_t> three(3);
  pack_codes(codes.data(), 32, 3, three.data());
  CHECK(byte_of(three, 0) == (c(0) | c(1) << 3 | (c(2) & 3) << 6));
  CHECK(byte_of(three, 1) == (c(2) >> 2 | c(3) << 1 | c(4) << 4 | (c(5) & 1) << 7));
  CHECK(byte_of(three, 2) == (c(5) >> 1 | c(6) << 2 | c(7) << 5));
  std::vector<uint32_t> five(5);
  pack_codes(codes.data(), 32, 5, five.data());
  CHECK(byte_of(five, 0) == (c(0) | (c(1) & 7) << 5));
  CHECK(byte_of(five, 1) == (c(1) >> 3 | c(2) << 2 | (c(3) & 1) << 7));
  CHECK(byte_of(five, 2) == (c(3) >> 1 | (c(4) & 15) << 4));
  CHECK(byte_of(five, 3) == (c(4) >> 4 | c(5) << 1 | (c(6) & 3) << 6));
  CHECK(byte_of(five, 4) == (c(6) >> 2 | c(7) << 3));
  std::vector<uint32_t> six(6);
  pack_codes(codes.data(), 32, 6, six.data());
  CHECK(byte_of(six, 0) == (c(0) | (c(1) & 3) << 6));
  CHECK(byte_of(six, 1) == (c(1) >> 2 | (c(2) & 15) << 4));
  CHECK(byte_of(six, 2) == (c(2) >> 4 | c(3) << 2));
}

TEST_CASE("dequantize_row rounds the product before the sum") {
  SplitMix64 rng(3);
  for (const int bits : kAllBits) {
    for (const int64_t group : kAllGroups) {
      const AffineFormat f{bits, group};
      std::vector<float> w(static_cast<size_t>(4 * group));
      for (float& x : w) x = rng.normal();
      const Row row = quantize(w, f);
      std::vector<float> back(w.size());
      dequantize_row(row.packed.data(), row.scales.data(), row.biases.data(), 4 * group, f,
                     back.data());
      for (int64_t i = 0; i < 4 * group; ++i) {
        const float s = row.scales[static_cast<size_t>(i / group)];
        const volatile float product =
            s * static_cast<float>(code_by_definition(row.packed, i, bits));
        REQUIRE(back[static_cast<size_t>(i)] ==
                product + row.biases[static_cast<size_t>(i / group)]);
        // Rounding edge / s moves the far end of the range by at most one step.
        REQUIRE(std::abs(back[static_cast<size_t>(i)] - w[static_cast<size_t>(i)]) <=
                std::abs(s) * 1.01F);
      }
    }
  }
}

TEST_CASE("a group that holds NaN or infinity shows it, and its neighbours are untouched") {
  SplitMix64 rng(4);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    const AffineFormat f{4, 32};
    std::vector<float> w(96);
    for (float& x : w) x = rng.normal();
    const Row clean = quantize(w, f);
    w[40] = bad;
    const Row row = quantize(w, f);
    CHECK(std::isnan(row.scales[1]));
    CHECK(std::isnan(row.biases[1]));
    for (const size_t g : {size_t{0}, size_t{2}}) {
      CHECK(row.scales[g] == clean.scales[g]);
      CHECK(row.biases[g] == clean.biases[g]);
      CHECK(std::memcmp(&row.packed[g * 4], &clean.packed[g * 4], 16) == 0);
    }
  }
}

TEST_CASE("exactly 18 formats are valid") {
  int valid = 0;
  for (int bits = -1; bits <= 33; ++bits) {
    for (int64_t group = -1; group <= 300; ++group) valid += is_valid({bits, group}) ? 1 : 0;
  }
  CHECK(valid == 18);
}

}  // namespace
}  // namespace hearth::codec
