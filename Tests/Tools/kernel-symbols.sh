#!/bin/sh
# A kernel module defines nothing that another module defines too: the linker keeps one copy, and an
# AVX-512 copy would then run on a CPU that has none.
set -eu
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
modules=$(cd "$build" && echo Kernels[AB]*.build | sed 's/\.build//g')

# Functions of the objects on standard input that the linker merges by name.
mergeable() { xargs nm | awk 'NF == 3 && $2 == "W" { print $3 }' | sort -u; }

for module in $modules; do
  find "$build/$module.build" -name '*.o' | mergeable >"$scratch/$module"
done
find "$build/" -name '*.o' | grep -v -E "/($(echo $modules | tr ' ' '|'))\.build/" |
  mergeable >"$scratch/others"

status=0
for module in $modules; do
  for other in $modules others; do
    [ "$module" != "$other" ] || continue
    shared=$(comm -12 "$scratch/$module" "$scratch/$other")
    if [ -n "$shared" ]; then
      echo "kernel-symbols: $module shares code with $other:" >&2
      echo "$shared" >&2
      status=1
    fi
  done
done
[ $status -ne 0 ] || echo "kernel-symbols: the kernel modules share no code"
exit $status
