// Built with the baseline flags: this file runs before the processor is known.
#include "kernels/table.h"

#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace hearth::kernels {
namespace {

#if defined(__x86_64__)
bool runs_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c");
}

// The flags that the target's file is compiled with.
bool runs_avx512() {
  return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bf16");
}
#endif

const KernelTable& choose() {
  const char* forced = std::getenv("HEARTH_TARGET");
  const RunnableTables runnable = runnable_tables();
  for (int i = 0; i < runnable.count; ++i) {
    const KernelTable& candidate = *runnable.tables[i];
    if (forced == nullptr || std::string_view(forced) == candidate.target) return candidate;
  }
  fail(Code::kUnsupported, "HEARTH_TARGET=", forced,
       ": this processor can't run a target of that name (targets: portable, avx2, avx512)");
}

}  // namespace

RunnableTables runnable_tables() {
  RunnableTables result = {};
#if defined(__x86_64__)
  if (runs_avx512()) result.tables[result.count++] = &kAvx512;
  if (runs_avx2()) result.tables[result.count++] = &kAvx2;
#endif
  result.tables[result.count++] = &kPortable;
  return result;
}

const KernelTable& table() {
  static const KernelTable& chosen = choose();
  return chosen;
}

}  // namespace hearth::kernels
