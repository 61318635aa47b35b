#!/bin/sh
# Usage: tools/check_target_symbols.sh BUILD_DIR
#
# Each kernels/target_*.cpp is compiled for one instruction set and may export one name, its table. Any other
# exported or weak symbol (an inline function, a template of the standard library) could be the copy that the linker
# keeps for the whole program, and an older processor would die on it.
set -eu
build=${1:?usage: tools/check_target_symbols.sh BUILD_DIR}

objects=$(find "$build" -path '*kernels/target_*.o' | sort)
if [ -z "$objects" ]; then
  echo "check_target_symbols: no kernels/target_*.o under $build; build hearth_kernels first" >&2
  exit 1
fi

status=0
for object in $objects; do
  # The address sanitizer adds names of its own.
  names=$(nm --defined-only --extern-only "$object" | awk '{print $NF}' | grep -v '^__odr_asan\|^___asan_globals_registered' || true)
  case $names in
    *"
"*) is_one=no ;;
    _ZN6hearth7kernels*k[A-Z]*E) is_one=yes ;;
    *) is_one=no ;;
  esac
  if [ $is_one = no ]; then
    echo "$object exports more than its table:" >&2
    echo "$names" | c++filt | sed 's/^/  /' >&2
    status=1
  fi
done
exit $status
