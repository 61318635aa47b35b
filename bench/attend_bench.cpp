// Attention kernels on one thread: decode in GB/s of KV pages beside the machine's plain read speed, prefill in GFLOP/s
// beside the target's plain fma speed. Usage: attend_bench [target]
//
// Decode walks caches of several sequences in turn, together larger than the last-level cache, as a server does.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "kernels/table.h"

namespace hearth::kernels {
namespace {

// CPU time of this thread: neighbours on the machine take turns from it, not time.
double seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Median of seven runs.
template <class F>
double median_seconds(F f) {
  std::vector<double> times;
  f();
  for (int i = 0; i < 7; ++i) {
    const double begin = seconds();
    f();
    times.push_back(seconds() - begin);
  }
  std::nth_element(times.begin(), times.begin() + 3, times.end());
  return times[3];
}

struct Shape {
  const char* name;
  DType dtype;
  int64_t kv_heads, group, dim, positions;
};

struct Cache {
  codec::KvPageLayout layout;
  std::vector<std::byte> bytes;
  std::vector<const std::byte*> pages;

  Cache(const Shape& s, int64_t sequences) : layout{s.dtype, s.kv_heads, s.dim, s.dim} {
    const int64_t count = (s.positions + 63) / 64 * sequences;
    bytes.resize(static_cast<size_t>(count * codec::page_bytes(layout)));
    // Small finite numbers in each of the three types.
    for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
      const uint16_t x = static_cast<uint16_t>(0x3C00U + (i * 2654435761U >> 16 & 0x1FFU));
      std::memcpy(bytes.data() + i, &x, 2);
    }
    for (int64_t p = 0; p < count; ++p)
      pages.push_back(bytes.data() + p * codec::page_bytes(layout));
  }
};

AttendArgs make_args(const Shape& s, const Cache& cache, const std::vector<float>& q,
                     std::vector<float>& y, std::vector<float>& scratch, int64_t rows) {
  scratch.resize(static_cast<size_t>(attend_scratch_floats(cache.layout)));
  const int64_t row = s.kv_heads * s.group * s.dim;
  return {.q = q.data(),
          .y = y.data(),
          .q_row_stride = row,
          .y_row_stride = row,
          .pages = cache.pages.data(),
          .layout = cache.layout,
          .kv_head = 0,
          .group_size = s.group,
          .rows = rows,
          .first_position = s.positions - rows,
          .scale = 0.1F,
          .window = 0,
          .softcap = 0.0F,
          .sinks = nullptr,
          .scratch = scratch.data()};
}

double read_speed(const Cache& cache) {
  uint64_t total = 0;
  const double t = median_seconds([&] {
    const uint64_t* p = reinterpret_cast<const uint64_t*>(cache.bytes.data());
    uint64_t a = 0, b = 0, c = 0, d = 0;
    for (size_t i = 0; i + 32 <= cache.bytes.size() / 8; i += 32) {
      for (size_t j = 0; j < 32; j += 4)
        a ^= p[i + j], b ^= p[i + j + 1], c ^= p[i + j + 2], d ^= p[i + j + 3];
    }
    total ^= a ^ b ^ c ^ d;
  });
  if (total == 1) std::puts("");
  return static_cast<double>(cache.bytes.size()) / t * 1e-9;
}

void decode(const KernelTable& t, const Shape& s) {
  const int64_t one = s.positions / 64 * codec::page_bytes({s.dtype, s.kv_heads, s.dim, s.dim});
  const int64_t sequences = std::max<int64_t>(1, 400'000'000 / one);
  const Cache cache(s, sequences);
  SplitMix64 random(1);
  std::vector<float> q(static_cast<size_t>(s.kv_heads * s.group * s.dim));
  for (float& x : q) x = random.normal();
  std::vector<float> y(q.size());
  std::vector<float> scratch;
  const double time = median_seconds([&] {
    for (int64_t i = 0; i < sequences; ++i) {
      AttendArgs a = make_args(s, cache, q, y, scratch, 1);
      a.pages += i * (s.positions / 64);
      for (a.kv_head = 0; a.kv_head < s.kv_heads; ++a.kv_head) t.attend(a);
    }
  });
  std::printf("%-9s decode  %-28s %7.2f GB/s   (plain read %.2f)\n", t.target, s.name,
              static_cast<double>(one * sequences) / time * 1e-9, read_speed(cache));
}

void prefill(const KernelTable& t, const Shape& s, int64_t rows) {
  const Cache cache(s, 1);
  SplitMix64 random(1);
  std::vector<float> q(static_cast<size_t>(rows * s.kv_heads * s.group * s.dim));
  for (float& x : q) x = random.normal();
  std::vector<float> y(q.size());
  std::vector<float> scratch;
  const double time = median_seconds([&] {
    AttendArgs a = make_args(s, cache, q, y, scratch, rows);
    for (a.kv_head = 0; a.kv_head < s.kv_heads; ++a.kv_head) t.attend(a);
  });
  double pairs = 0.0;
  for (int64_t r = 0; r < rows; ++r) pairs += static_cast<double>(s.positions - rows + r + 1);
  const double flops = pairs * static_cast<double>(4 * s.dim * s.kv_heads * s.group);
  std::printf("%-9s prefill %-28s %7.1f GFLOP/s\n", t.target, s.name, flops / time * 1e-9);
}

void run(const KernelTable& t) {
  const Shape shapes[] = {
      {"bf16 8x4 heads of 64, 2048", DType::kBF16, 8, 4, 64, 2048},
      {"bf16 8x4 heads of 128, 2048", DType::kBF16, 8, 4, 128, 2048},
      {"bf16 8x2 heads of 128, 2048", DType::kBF16, 8, 2, 128, 2048},
      {"bf16 4x7 heads of 128, 2048", DType::kBF16, 4, 7, 128, 2048},
      {"bf16 8x1 heads of 128, 2048", DType::kBF16, 8, 1, 128, 2048},
      {"f16 8x4 heads of 128, 2048", DType::kF16, 8, 4, 128, 2048},
      {"f32 8x4 heads of 128, 2048", DType::kF32, 8, 4, 128, 2048},
  };
  for (const Shape& s : shapes) decode(t, s);
  for (const Shape& s : shapes) prefill(t, s, 512);
}

}  // namespace
}  // namespace hearth::kernels

int main(int argc, char** argv) {
  const auto runnable = hearth::kernels::runnable_tables();
  for (int i = 0; i < runnable.count; ++i) {
    const std::string_view name = runnable.tables[i]->target;
    if (argc > 1 ? name == argv[1] : name != "portable") hearth::kernels::run(*runnable.tables[i]);
  }
  return 0;
}
