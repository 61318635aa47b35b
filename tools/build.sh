#!/usr/bin/env bash
# Configures and builds one preset of CMakePresets.json in build/PRESET; everything it prints goes to stderr.
#
# usage: tools/build.sh [--tests] PRESET [TARGET...]
#
# Without --tests the tests are left out of the configuration, so that their packages are not needed. On a terminal
# ninja's status line is shown, elsewhere one line for every tenth of the work; a failing command is shown whole.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tests=OFF
if [ "${1:-}" = --tests ]; then tests=ON; shift; fi
preset=${1:?usage: tools/build.sh [--tests] PRESET [TARGET...]}
shift
build=$root/build/$preset
cache=$build/CMakeCache.txt
exec 1>&2
mkdir -p "$build"

# One build of a folder at a time: a second ./hearth waits for the first instead of racing it.
exec 9>"$root/build/.lock-$preset"
if ! flock -n 9; then
  echo "hearth: waiting for another build of $preset"
  flock 9
fi

configured_for=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache" 2>/dev/null || true)
if [ -n "$configured_for" ] && ! [ "$configured_for" -ef "$root" ]; then
  echo "hearth: $build belongs to another copy of the sources; starting it afresh"
  rm -rf "$build"
fi
if [ ! -f "$build/build.ninja" ] || { [ $tests = ON ] && ! grep -qx 'HEARTH_TESTS:BOOL=ON' "$cache"; }; then
  log=$build/configure.log
  mkdir -p "$build"
  if ! (cd "$root" && cmake --preset "$preset" -DHEARTH_TESTS=$tests) >"$log" 2>&1; then
    cat "$log"
    echo "hearth: configuring failed; 'tools/install_packages.sh build test' installs what it looks for"
    exit 1
  fi
fi

jobs=$(nproc)
if [ -t 2 ]; then
  ninja -C "$build" -j "$jobs" "$@" 9>&-
else
  ninja -C "$build" -j "$jobs" "$@" 9>&- | awk '
    /^ninja: (Entering|no work)/ { next }
    match($0, /^\[[0-9]+\/[0-9]+\]/) {
      split(substr($0, 2, RLENGTH - 2), n, "/")
      if (n[2] >= 10 && int(10 * n[1] / n[2]) > shown) { shown = int(10 * n[1] / n[2]); print "hearth: " $0; fflush() }
      next
    }
    { print; fflush() }'
fi
