#!/usr/bin/env bash
# Runs clang-tidy 19 with .clang-tidy over the source files changed since a commit, two at a time.
#
# usage: tools/tidy.sh [COMMIT]       (default: HEAD~1; "all" checks every file)
#
# Needs a configured build/fuzz (clang's flags); ./test --asan makes one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
base=${1:-HEAD~1}
if [ "$base" = all ]; then changed=$(git ls-files 'src/*.cpp')
elif git rev-parse -q --verify "$base^{commit}" >/dev/null; then
  changed=$(git diff --name-only --diff-filter=d "$base" -- 'src/*.cpp')
else
  echo "tidy: no commit $base here, nothing to compare with"
  exit 0
fi
# Targets of kernels/ are a table of intrinsics in their own dialect; tests use doctest's macros.
files=$(grep -vE '_test\.cpp$|/target_[^/]*\.cpp$' <<<"$changed" || true)
[ -n "$files" ] || { echo "tidy: no source file changed since $base"; exit 0; }
[ -f build/fuzz/compile_commands.json ] || cmake --preset fuzz >/dev/null
xargs -P "$(nproc)" -n 1 clang-tidy-19 -p build/fuzz --quiet --use-color=false 2>/dev/null <<<"$files"
echo "tidy: $(wc -l <<<"$files") files, no findings"
