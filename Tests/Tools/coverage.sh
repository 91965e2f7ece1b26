#!/bin/sh
# The share of the lines of Sources that the tests run, target by target, without generated code.
# Fails below 90 %.
set -eu
cd "$(dirname "$0")/../.."
least=90
scratch=.build/coverage
swift=${SWIFT:-swift}
"$swift" build --build-tests --scratch-path "$scratch" -Xswiftc -profile-generate \
  -Xswiftc -profile-coverage-mapping
profiles=$PWD/$scratch/profiles
rm -rf "$profiles"
mkdir -p "$profiles"
# Every process, the commands' too, adds to one of eight profiles of its program.
LLVM_PROFILE_FILE="$profiles/%8m.profraw" \
  "$swift" test --skip-build --scratch-path "$scratch" || true
tools=$(dirname "$(command -v "$swift")")
[ -x "$tools/llvm-cov" ] || tools=$(dirname "$(realpath "$(command -v swiftc)")")
find "$profiles" -name '*.profraw' >"$profiles/list"
"$tools/llvm-profdata" merge -sparse -f "$profiles/list" -o "$profiles/all.profdata"
runner=$(find "$scratch/debug/" -maxdepth 1 -name '*.xctest' | head -1)
"$tools/llvm-cov" export "$runner" -object "$scratch/debug/assay" -object "$scratch/debug/assay-hdf5" \
  -instr-profile "$profiles/all.profdata" -summary-only \
  -ignore-filename-regex='/(Tests|\.build|CSpec|checkouts)/' |
  python3 -c '
import collections, json, sys
lines = collections.defaultdict(lambda: [0, 0])
for file in json.load(sys.stdin)["data"][0]["files"]:
    target = file["filename"].split("/Sources/")[-1].split("/")[0]
    for name in (target, "all"):
        lines[name][0] += file["summary"]["lines"]["covered"]
        lines[name][1] += file["summary"]["lines"]["count"]
for target, (covered, count) in sorted(lines.items()):
    print(f"{100 * covered / max(count, 1):6.1f} %  {covered:6} of {count:6}  {target}")
covered, count = lines["all"]
sys.exit(100 * covered < '$least' * count)
'
