#!/bin/sh
# Compiles the kernels for arm64 as Embedded Swift, for which the toolchain has a standard library,
# and links them with a C library for arm64. Checks the instructions of their inner loops, then runs
# every test of the kernels on them, emulated. Debian has what it needs in gcc-aarch64-linux-gnu,
# libc6-dev-arm64-cross and qemu-user.
#     arm64.sh [--without-tests]
set -eu
cd "$(dirname "$0")/../.."
swift=${SWIFT:-swift}
folder=$PWD/.build/arm64
for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-objdump qemu-aarch64; do
  if ! command -v $tool >/dev/null; then
    echo "error: there is no $tool; install gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user" >&2
    exit 1
  fi
done
mkdir -p "$folder"

guest=Tests/Emulation/Guest
compile() { # module, sources and options
  module=$1
  shift
  "${swift}c" -target aarch64-none-none-elf -enable-experimental-feature Embedded -O -wmo \
    -swift-version 6 -parse-as-library -package-name assay -module-name "$module" \
    -module-cache-path "$folder/modules" -I "$folder" -I $guest/LibC -I Sources/CVector \
    -emit-module -emit-module-path "$folder/$module.swiftmodule" -c -o "$folder/$module.o" "$@"
}
compile KernelInterface Sources/KernelInterface/*.swift
# With the manifest's settings.
compile KernelsBaseline -D KERNELS_BASELINE -D UNROLLS_TILES -Xllvm -unroll-threshold=1000 Sources/Kernels/Source/*.swift
python3 Tests/Tools/kernel_calls.py
compile Guest Tests/Emulation/KernelAnswer.swift Tests/Emulation/Generated/KernelCall.swift \
  $guest/*.swift $guest/Generated/*.swift
# With the toolchain's linker and its tables for strings.
tools=$(dirname "$(realpath "$(command -v "${swift}c")")")
aarch64-linux-gnu-gcc -O2 -Wall -Wextra -static -B"$tools" -fuse-ld=lld -o "$folder/kernels" \
  $guest/guest.c "$folder/Guest.o" "$folder/KernelsBaseline.o" "$folder/KernelInterface.o" \
  "$tools/../lib/swift/embedded/aarch64-none-none-elf/libswiftUnicodeDataTables.a" -lm

aarch64-linux-gnu-objdump -d --no-show-raw-insn "$folder/KernelsBaseline.o" |
  "$swift" demangle -compact | python3 Tests/Tools/arm64_loops.py

[ "${1:-}" != --without-tests ] || exit 0
ASSAY_ARM64=$folder/kernels
export ASSAY_ARM64
"$swift" build --build-tests --scratch-path "$folder/tests"
"$swift" test --skip-build --scratch-path "$folder/tests"
