#!/usr/bin/env bash
# How long building takes: everything from nothing without ccache, one leaf source file changed, one low header
# changed, nothing changed, and the ten slowest files of the full build.
#
# usage: bench/build_time.sh [FOLDER]      (default: a temporary folder, removed at the end)
#
# Limits that the project has set itself on two cores: full build 360 s, leaf file 20 s.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${1:-$(mktemp -d)}
[ $# -gt 0 ] || trap 'rm -rf "$build"' EXIT
export CCACHE_DISABLE=1
jobs=$(nproc)
leaf=$root/src/cli/main.cpp
header=$root/src/base/error.h

seconds_of() {  # runs a command quietly, prints its seconds
  local begin end
  begin=$(date +%s.%N)
  "$@" >"$build/log" 2>&1 || { cat "$build/log" >&2; exit 1; }
  end=$(date +%s.%N)
  awk -v a="$begin" -v b="$end" 'BEGIN { printf "%.1f", b - a }'
}

mkdir -p "$build"
printf 'compiler   %s\n' "$(g++ --version | head -n 1)"
printf 'machine    %s x %s\n' "$jobs" "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
printf 'load       %s\n' "$(cut -d' ' -f1-3 /proc/loadavg)"
printf 'configure  %6s s\n' "$(seconds_of cmake -S "$root" --preset release -B "$build")"
rm -f "$build/.ninja_log"
printf 'full       %6s s   (%s steps)\n' "$(seconds_of ninja -C "$build" -j "$jobs")" "$(grep -vc '^#' "$build/.ninja_log")"
sort -k1,1n "$build/.ninja_log" >"$build/full.log"
touch "$leaf"
printf 'leaf       %6s s   (%s)\n' "$(seconds_of ninja -C "$build" -j "$jobs" hearth)" "${leaf#"$root"/}"
touch "$header"
printf 'header     %6s s   (%s, everything that includes it)\n' "$(seconds_of ninja -C "$build" -j "$jobs" hearth)" "${header#"$root"/}"
printf 'no change  %6s s\n' "$(seconds_of ninja -C "$build" -j "$jobs")"
printf '\nslowest files of the full build, seconds while %s run side by side:\n' "$jobs"
awk '!/^#/ && $4 ~ /\.o$/ { printf "%6.1f  %s\n", ($2 - $1) / 1000, $4 }' "$build/full.log" |
  sed -E 's#CMakeFiles/([^/]+)\.dir/##; s/\.o$//' | sort -rn | head -n 10
