#!/bin/sh
# The suite with AddressSanitizer, then with ThreadSanitizer, each in a build of its own; in the
# first, C targets also have UndefinedBehaviorSanitizer (the one for Swift is macOS's alone).
#     sanitize.sh [address|thread]…
set -eu
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- address thread
swift=${SWIFT:-swift}
for sanitizer; do
  scratch=.build/$sanitizer
  flags=
  if [ "$sanitizer" = address ] && [ "$(uname)" = Linux ]; then
    runtime=$(cc -print-file-name=libubsan.so)
    flags="-Xcc -fsanitize=undefined -Xcc -fno-sanitize-recover=undefined -Xlinker $runtime"
  fi
  preloaded=
  if [ "$sanitizer" = thread ] && [ "$(uname)" = Linux ]; then
    mkdir -p "$scratch"
    preloaded=$PWD/$scratch/mutexes.so
    "$(dirname "$(realpath "$(command -v swiftc)")")/clang" -shared -fPIC -O1 -o "$preloaded" \
      Tests/Tools/mutexes.c -ldl
  fi
  # shellcheck disable=SC2086
  "$swift" build --build-tests --sanitize="$sanitizer" --scratch-path "$scratch" $flags
  # Tests that bound memory and time, or make allocations fail, are left out.
  # shellcheck disable=SC2086
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
    TSAN_OPTIONS=halt_on_error=1:suppressions=$PWD/Tests/Tools/races.txt \
    ASSAY_SANITIZER=$sanitizer LD_PRELOAD=$preloaded \
    "$swift" test --skip-build --sanitize="$sanitizer" --scratch-path "$scratch" $flags
done
