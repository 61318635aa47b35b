#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/file.h"
#include "base/half.h"
#include "base/mapped_file.h"
#include "base/thread_pool.h"
#include "support/paths.h"

namespace hearth {
namespace {

TEST_CASE("f16: every value survives widening, every float rounds to the nearest, ties to even") {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const f16 h{static_cast<uint16_t>(bits)};
    const float x = to_float(h);
    if (std::isnan(x))
      CHECK(std::isnan(to_float(to_f16(x))));
    else
      CHECK(to_f16(x) == h);
  }
  // Between neighbours a < b the middle goes to the even one, everything else to the nearer one.
  for (uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    const float a = to_float(f16{static_cast<uint16_t>(bits)});
    const float b = to_float(f16{static_cast<uint16_t>(bits + 1)});
    const float middle = a + (b - a) / 2;
    CHECK(to_f16(middle).bits == bits + (bits & 1));
    CHECK(to_f16(std::nextafter(middle, b)).bits == bits + 1);
    CHECK(to_f16(std::nextafter(middle, a)).bits == bits);
  }
  CHECK(to_f16(65519.99F).bits == 0x7BFF);
  CHECK(to_f16(65520.0F).bits == 0x7C00);
  CHECK(to_f16(-std::numeric_limits<float>::infinity()).bits == 0xFC00);
}

TEST_CASE("bf16: rounds to the nearest, ties to even") {
  CHECK(to_bf16(1.0F).bits == 0x3F80);
  CHECK(to_bf16(std::bit_cast<float>(0x3F808000U)).bits == 0x3F80);
  CHECK(to_bf16(std::bit_cast<float>(0x3F818000U)).bits == 0x3F82);
  CHECK(to_bf16(std::bit_cast<float>(0x3F808001U)).bits == 0x3F81);
  CHECK(std::isinf(to_float(to_bf16(std::numeric_limits<float>::max()))));
  CHECK(std::isnan(to_float(to_bf16(std::bit_cast<float>(0x7F800001U)))));
}

TEST_CASE("thread pool: every chunk runs once, whatever the number of threads") {
  for (const int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 300; ++round) {
      const int64_t chunks = round % 40;
      std::vector<std::atomic<int>> ran(static_cast<size_t>(chunks));
      std::atomic<bool> is_worker_in_range{true};
      pool.parallel_for(chunks, [&](int64_t chunk, int worker) {
        ran[static_cast<size_t>(chunk)].fetch_add(1);
        if (worker < 0 || worker >= threads) is_worker_in_range = false;
      });
      CHECK(is_worker_in_range);
      for (const auto& count : ran) CHECK(count == 1);
    }
  }
  CHECK_THROWS_AS(ThreadPool(0), Error);
  CHECK(ThreadPool::available_threads() >= 1);
}

TEST_CASE("thread pool: what the bodies wrote is seen after the call") {
  ThreadPool pool(3);
  std::vector<int64_t> sums(64);
  for (int64_t round = 0; round < 2000; ++round) {
    pool.parallel_for(64, [&](int64_t chunk, int) { sums[static_cast<size_t>(chunk)] += round; });
  }
  for (const int64_t s : sums) CHECK(s == 1999 * 2000 / 2);
}

TEST_CASE("atomic file: nothing is seen before commit, the old file stays when it never comes") {
  const test_support::TempDir dir;
  const auto path = dir.path() / "f";
  write_file_atomic(path, std::string_view("old"));
  {
    AtomicFile file(path);
    file.write("new");
    CHECK(read_text_file(path, 100) == "old");
  }
  CHECK(read_text_file(path, 100) == "old");
  CHECK(std::distance(std::filesystem::directory_iterator(dir.path()), {}) == 1);
  AtomicFile file(path);
  file.write("new");
  file.commit();
  CHECK(read_text_file(path, 100) == "new");
  CHECK_THROWS_WITH_AS(read_text_file(path, 2), doctest::Contains("at most 2"), Error);
}

TEST_CASE("mapped file: absent files, folders, pipes and empty files") {
  const test_support::TempDir dir;
  CHECK_THROWS_AS(MappedFile::open(dir.path() / "absent"), Error);
  CHECK_THROWS_AS(MappedFile::open(dir.path()), Error);
  REQUIRE(::mkfifo((dir.path() / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS_AS(MappedFile::open(dir.path() / "pipe"), Error);  // at once: nobody will write
  write_file_atomic(dir.path() / "empty", std::string_view());
  CHECK(MappedFile::open(dir.path() / "empty")->bytes().empty());
}

TEST_CASE("errors carry code, culprit and context") {
  try {
    try {
      require_data(false, "tensor ", std::string("w"), " has ", int64_t{3}, " axes");
    } catch (const Error&) {
      rethrow_with("model.safetensors");
    }
  } catch (const Error& e) {
    CHECK(e.code() == Code::kCorruptData);
    CHECK(e.message() == "model.safetensors: tensor w has 3 axes");
    CHECK(exit_code(e.code()) == 2);
  }
  CHECK_THROWS_WITH_AS(HEARTH_CHECK(1 == 2, "x ", 5), doctest::Contains("1 == 2 (x 5)"), Error);
}

TEST_CASE("checked arithmetic sees overflow") {
  CHECK_FALSE(checked_mul(INT64_MAX, 2));
  CHECK_FALSE(checked_add(INT64_MAX, 1));
  const int64_t factors[] = {1LL << 32, 1LL << 32};
  CHECK_FALSE(checked_product(factors));
  const int64_t negative[] = {-1, 5};
  CHECK_FALSE(checked_product(negative));
  CHECK(checked_product({}) == 1);
}

}  // namespace
}  // namespace hearth
