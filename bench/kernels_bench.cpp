// Products of weights and activations on one core, beside what the same core reads and multiplies at best.
//
//   kernels_bench [--quick]      HEARTH_TARGET=portable|avx2|... chooses the target
//
// GB/s counts bytes of weights as stored, GOP/s two operations a multiply-add. Medians of five.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/random.h"
#include "codec/affine.h"
#include "kernels/table.h"

namespace hearth {
namespace {

using kernels::KernelTable;
using kernels::table;

// CPU time of this thread: neighbours on the machine take turns from it, not time.
double now() {
  timespec t = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double seconds_of(const std::function<void()>& body) {
  const double begin = now();
  body();
  return now() - begin;
}

// Median time of one call, each sample at least `at_least` seconds of calls.
double median_seconds(const std::function<void()>& body, double at_least) {
  body();
  const double once = seconds_of(body);
  const int calls = std::max(1, static_cast<int>(at_least / std::max(once, 1e-9)));
  std::vector<double> samples;
  for (int i = 0; i < 5; ++i) {
    samples.push_back(seconds_of([&] {
                        for (int c = 0; c < calls; ++c) body();
                      }) /
                      calls);
  }
  std::sort(samples.begin(), samples.end());
  return samples[2];
}

class Bytes {
 public:
  explicit Bytes(int64_t count)
      : memory_(static_cast<std::byte*>(
            ::operator new(static_cast<size_t>(count), std::align_val_t{64}))) {
    std::memset(memory_, 1, static_cast<size_t>(count));
  }
  ~Bytes() { ::operator delete(memory_, std::align_val_t{64}); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  template <class T = std::byte>
  T* as() const {
    return reinterpret_cast<T*>(memory_);
  }

 private:
  std::byte* memory_;
};

volatile uint64_t g_used = 0;  // results end here, so that no measured loop is dead

// Sums 64-bit words, with vector loads where the compiler's baseline has them.
#if defined(__x86_64__)
__attribute__((target("avx2")))
#endif
uint64_t
read_all(const std::byte* p, int64_t bytes) {
  using Words = uint64_t __attribute__((vector_size(32)));
  Words sums[4] = {};
  for (int64_t i = 0; i < bytes; i += 128) {
    __builtin_prefetch(p + i + 2048);
    __builtin_prefetch(p + i + 2112);
    for (int64_t j = 0; j < 4; ++j) {
      Words w;
      std::memcpy(&w, p + i + 32 * j, sizeof w);
      sums[j] += w;
    }
  }
  const Words total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  return total[0] + total[1] + total[2] + total[3];
}

double peak_read_gb(int64_t bytes, double at_least) {
  const Bytes memory(bytes);
  const double s =
      median_seconds([&] { g_used = g_used + read_all(memory.as(), bytes); }, at_least);
  return static_cast<double>(bytes) / s * 1e-9;
}

#if defined(__x86_64__)
// 12 independent sums of fused multiply-adds: what one core's f32 units do at best with this many lanes.
__attribute__((target("avx2,fma"))) double peak_fma_gflops() {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0.0;
  constexpr int kRounds = 20'000'000 / 12;
  __m256 sums[12];
  for (int i = 0; i < 12; ++i) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 a = _mm256_set1_ps(0.999F);
  const double begin = now();
  for (int r = 0; r < kRounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) sums[i] = _mm256_fmadd_ps(sums[i], a, a);
  }
  const double s = now() - begin;
  for (const __m256 x : sums) g_used = g_used + static_cast<uint64_t>(_mm256_cvtss_f32(x));
  return 12.0 * 16.0 * kRounds / s * 1e-9;
}

// vpmaddubsw + vpaddw, eight independent sums: the integer peak of AVX2 (cpu-performance.md, section 1).
__attribute__((target("avx2"))) double peak_maddubs_gops() {
  if (!__builtin_cpu_supports("avx2")) return 0.0;
  constexpr int kRounds = 20'000'000 / 8;
  __m256i sums[8] = {};
  __m256i w = _mm256_set1_epi8(3);
  const __m256i a = _mm256_set1_epi8(-5);
  const double begin = now();
  for (int r = 0; r < kRounds; ++r) {
    asm volatile("" : "+x"(w));
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i)
      sums[i] = _mm256_add_epi16(sums[i], _mm256_maddubs_epi16(_mm256_xor_si256(w, sums[i]), a));
  }
  const double s = now() - begin;
  for (const __m256i x : sums) g_used = g_used + static_cast<uint64_t>(_mm256_extract_epi64(x, 0));
  return 8.0 * 64.0 * kRounds / s * 1e-9;
}

// vpdpbusd with 16 lanes, eight independent sums; 0 where the processor has none.
__attribute__((target("avx512f,avx512vnni"))) double peak_vnni_gops() {
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vnni")) return 0.0;
  constexpr int kRounds = 20'000'000 / 8;
  __m512i sums[8] = {};
  __m512i w = _mm512_set1_epi8(3);
  const double begin = now();
  for (int r = 0; r < kRounds; ++r) {
    asm volatile("" : "+v"(w));
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) sums[i] = _mm512_dpbusd_epi32(sums[i], w, w);
  }
  const double s = now() - begin;
  for (const __m512i& x : sums) {
    alignas(64) uint64_t lanes[8];
    _mm512_store_si512(lanes, x);
    g_used = g_used + lanes[0];
  }
  return 8.0 * 128.0 * kRounds / s * 1e-9;
}
#endif

struct Matrix {
  int64_t rows, cols;
  codec::AffineFormat format;
  Bytes packed, scales, biases;

  Matrix(int64_t n, int64_t k, codec::AffineFormat f)
      : rows(n),
        cols(k),
        format(f),
        packed(n * k * f.bits / 8),
        scales(n * (k / f.group) * 2),
        biases(n * (k / f.group) * 2) {
    SplitMix64 rng(7);
    for (int64_t i = 0; i < n * k * f.bits / 64; ++i) packed.as<uint64_t>()[i] = rng.next();
    for (int64_t i = 0; i < n * (k / f.group); ++i) {
      scales.as<uint16_t>()[i] = 0x3C00;  // bf16 1/128
      biases.as<uint16_t>()[i] = 0xBD70;
    }
  }
  kernels::AffineView view() const {
    return {packed.as<uint32_t>(), scales.as(),  biases.as(), DType::kBF16,
            format.bits,           format.group, rows,        cols};
  }
  double bytes() const {
    return static_cast<double>(rows * cols) * format.bits / 8.0 +
           static_cast<double>(rows * (cols / format.group)) * 4.0;
  }
};

struct Activations {
  Bytes x, memory;
  kernels::QuantizedActivations q;

  Activations(int64_t m, int64_t k, codec::AffineFormat f)
      : x(m * k * 4),
        memory(kernels::quantized_activation_bytes(m, k, f.group)),
        q(kernels::place_quantized_activations(memory.as(), m, k, f.bits, f.group)) {
    SplitMix64 rng(8);
    for (int64_t i = 0; i < m * k; ++i) x.as<float>()[i] = rng.normal();
    table().quantize_activations({x.as<float>(), q, 0, m, k, k});
  }
};

void report(std::string_view what, double seconds, double bytes, double ops) {
  fmt::print("{:44} {:9.3f} ms {:8.2f} GB/s {:9.1f} GOP/s\n", what, seconds * 1e3,
             bytes / seconds * 1e-9, ops / seconds * 1e-9);
}

void bench_fast(const Matrix& w, int64_t m, double at_least) {
  const Activations x(m, w.cols, w.format);
  const Bytes y(m * w.rows * 4);
  const Bytes scratch(kernels::affine_linear_fast_scratch_bytes(w.cols, w.format.group));
  const double s = median_seconds(
      [&] {
        table().affine_linear_fast(
            {x.q, w.view(), nullptr, y.as<float>(), m, 0, w.rows, w.rows, scratch.as()});
      },
      at_least);
  g_used = g_used + y.as<uint32_t>()[0];
  report(
      fmt::format("fast  {}-bit g{} {}x{} m={}", w.format.bits, w.format.group, w.rows, w.cols, m),
      s, w.bytes(), 2.0 * static_cast<double>(m * w.rows * w.cols));
}

void bench_exact(const Matrix& w, int64_t m, double at_least) {
  const Activations x(m, w.cols, w.format);
  const Bytes y(m * w.rows * 4);
  const Bytes scratch(kernels::kLinearScratchBytes);
  const double s = median_seconds(
      [&] {
        table().affine_linear_exact({x.x.as<float>(), w.view(), nullptr, y.as<float>(), m, 0,
                                     w.rows, w.cols, w.rows, scratch.as()});
      },
      at_least);
  g_used = g_used + y.as<uint32_t>()[0];
  report(
      fmt::format("exact {}-bit g{} {}x{} m={}", w.format.bits, w.format.group, w.rows, w.cols, m),
      s, w.bytes(), 2.0 * static_cast<double>(m * w.rows * w.cols));
}

void bench_dense(DType dtype, int64_t n, int64_t k, int64_t m, double at_least) {
  const Bytes w(n * k * bytes_of(dtype));
  const Bytes x(m * k * 4);
  const Bytes y(m * n * 4);
  const Bytes scratch(kernels::kLinearScratchBytes);
  const double s = median_seconds(
      [&] {
        table().dense_linear(
            {x.as<float>(), w.as(), dtype, nullptr, y.as<float>(), m, 0, n, k, k, n, scratch.as()});
      },
      at_least);
  g_used = g_used + y.as<uint32_t>()[0];
  report(fmt::format("dense {} {}x{} m={}", name(dtype), n, k, m), s,
         static_cast<double>(n * k * bytes_of(dtype)), 2.0 * static_cast<double>(m * n * k));
}

int run(bool quick) {
  const double at_least = quick ? 0.01 : 0.1;
  fmt::print("target {}, one thread\n", table().target);
  fmt::print("read, 256 MiB: {:.2f} GB/s\n", peak_read_gb(int64_t{256} << 20, at_least));
#if defined(__x86_64__)
  fmt::print(
      "fma, AVX2: {:.1f} GFLOP/s; vpmaddubsw + vpaddw, AVX2: {:.1f} GOP/s; vpdpbusd, AVX-512: "
      "{:.1f} GOP/s\n",
      peak_fma_gflops(), peak_maddubs_gops(), peak_vnni_gops());
#endif
  {
    const Activations x(64, 4096, {4, 64});
    const double s = median_seconds(
        [&] { table().quantize_activations({x.x.as<float>(), x.q, 0, 64, 4096, 4096}); }, at_least);
    report("quantize activations 64x4096", s, 64 * 4096 * 4, 64 * 4096);
  }
  const int64_t big = quick ? 8192 : 131072;
  for (const codec::AffineFormat f : {codec::AffineFormat{4, 64},
                                      {4, 32},
                                      {4, 128},
                                      {8, 64},
                                      {2, 64},
                                      {3, 64},
                                      {5, 64},
                                      {6, 64}}) {
    {
      const Matrix streamed(f.bits == 4 && f.group == 64 ? big : big / 4, 2048,
                            f);  // far beyond any cache
      bench_fast(streamed, 1, at_least);
      if (f.bits == 4 && f.group == 64) bench_exact(streamed, 1, at_least);
    }
    const Matrix cached(512, 2048, f);
    for (const int64_t m : {1, 4, 8, 16, 64, 512}) bench_fast(cached, m, at_least);
  }
  const Matrix cached(512, 2048, {4, 64});
  for (const int64_t m : {1, 8, 128}) bench_exact(cached, m, at_least);
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    bench_dense(dtype, big / 8, 2048, 1, at_least);
    for (const int64_t m : {1, 8, 128}) bench_dense(dtype, 512, 2048, m, at_least);
  }
  return 0;
}

}  // namespace
}  // namespace hearth

int main(int argc, char** argv) {
  return hearth::run(argc > 1 && std::string_view(argv[1]) == "--quick");
}
