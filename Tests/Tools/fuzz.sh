#!/bin/sh
# Fuzzes targets with libFuzzer and AddressSanitizer, each for some seconds.
#     fuzz.sh SECONDS [TARGET… | all]
# What is found goes to the folder `findings`, from where its smallest form belongs into
# Fixtures/hostile.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
scratch=.build/asan
# Only Linux's Swift toolchain brings libFuzzer.
[ "$(uname)" = Linux ] || { echo "error: libFuzzer comes with the toolchain for Linux" >&2; exit 1; }
# SwiftPM gives every program a main function, which libFuzzer's own would meet.
tools=$(dirname "$(realpath "$(command -v swiftc)")")
library=$(find "$tools/../lib/clang" -name "libclang_rt.fuzzer_no_main-$(uname -m).a" | head -1)
ASSAY_FUZZ=1 ${SWIFT:-swift} build --scratch-path "$scratch" --sanitize=address \
  -Xswiftc -Xfrontend -Xswiftc -sanitize=address,fuzzer -Xlinker "$library" -Xlinker -lstdc++ \
  -Xlinker -lm --product assay-fuzz
fuzzer=$scratch/debug/assay-fuzz
if [ $# -eq 0 ] || [ "$1" = all ]; then
  # Without a name it prints all.
  # shellcheck disable=SC2046
  set -- $(FUZZ_TARGET="" "$fuzzer" 2>&1 | sed -n 's/.*is none of //p')
fi
mkdir -p findings
status=0
for target; do
  corpus=$scratch/corpus/$target
  mkdir -p "$corpus"
  echo "fuzz: $target for $seconds s"
  # The mutator has the seeds; libFuzzer keeps what reached new code.
  FUZZ_TARGET=$target FUZZ_SEEDS=Fixtures ASAN_OPTIONS=detect_leaks=0 SWIFT_BACKTRACE=enable=no \
    "$fuzzer" "$corpus" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=49152 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix="findings/$target-" || status=1
done
exit $status
