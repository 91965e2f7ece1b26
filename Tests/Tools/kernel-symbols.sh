#!/bin/sh
# A kernel module defines nothing that another module may define too: the linker keeps one copy, and
# an AVX-512 copy would then run on a CPU that has none.
set -eu
build=$1
status=0
for module in KernelsBaseline KernelsAVX2 KernelsAVX512; do
  shared=$(nm "$build/$module.build"/*.o | awk '$2 == "W"' | grep -v "W \$s[0-9]*$module" || true)
  if [ -n "$shared" ]; then
    echo "kernel-symbols: $module shares code with other modules:" >&2
    echo "$shared" >&2
    status=1
  fi
done
[ $status -ne 0 ] || echo "kernel-symbols: the kernel modules share no code"
exit $status
