#!/bin/sh
# The suite with AddressSanitizer, then with ThreadSanitizer, each in a build of its own; in the
# first, C targets also have UndefinedBehaviorSanitizer (the one for Swift is macOS's alone).
# Last, ThreadSanitizer over the C library with eight threads for RACE_SECONDS (600).
#     sanitize.sh [address|thread|library]…
set -eu
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- address thread library
swift=${SWIFT:-swift}
clang=$(dirname "$(realpath "$(command -v swiftc)")")/clang

# The library and the program in C with ThreadSanitizer; then once more with a race, which must be reported.
check_library() {
  scratch=$PWD/.build/thread
  # The sanitizer's runtime wants these of the toolchain, which the library does not use.
  runtime=$(dirname "$(dirname "$clang")")/lib/swift/linux
  "$swift" build --product AssayLibrary --sanitize=thread --scratch-path "$scratch"
  "$clang" -shared -fPIC -O1 -o "$scratch/mutexes.so" Tests/Tools/mutexes.c -ldl
  for race in "" -DRACE; do
    # shellcheck disable=SC2086
    "$clang" -fsanitize=thread -std=c11 -D_DEFAULT_SOURCE -g $race -ISources/CAssay \
      -o "$scratch/threads" Tests/Tools/library-threads.c -L"$scratch/debug" -lAssayLibrary \
      -Wl,-rpath,"$scratch/debug:$runtime" -L"$runtime" -ldispatch -lBlocksRuntime -lpthread
    status=0
    TSAN_OPTIONS=halt_on_error=1:exitcode=66:suppressions=$PWD/Tests/Tools/races.txt \
      LD_PRELOAD=$scratch/mutexes.so "$scratch/threads" Fixtures/library \
      "$([ -n "$race" ] && echo 20 || echo "${RACE_SECONDS:-600}")" 2>"$scratch/report" || status=$?
    [ "$status" = "$([ -n "$race" ] && echo 66 || echo 0)" ] || {
      cat "$scratch/report" >&2
      echo "sanitize: the library${race:+ with a race} ended with $status" >&2
      exit 1
    }
  done
  echo "sanitize: no race in the library; the one made on purpose was reported"
}

for sanitizer; do
  [ "$sanitizer" != library ] || { check_library; continue; }
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
    "$clang" -shared -fPIC -O1 -o "$preloaded" \
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
