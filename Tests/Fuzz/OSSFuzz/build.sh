#!/bin/bash -eu
# Builds one fuzzer of all targets; a script per target chooses by FUZZ_TARGET, as Tests/Tools/fuzz.sh does.
. precompile_swift
ASSAY_FUZZ=1 swift build -c debug --product assay-fuzz $SWIFTFLAGS
ASSAY_FUZZ=1 swift build -c debug --product assay-hdf5
cp .build/debug/assay-fuzz "$OUT/assay-fuzz-all"
cp .build/debug/assay-hdf5 "$OUT/"
cp -r Fixtures "$OUT/Fixtures"
for target in $(FUZZ_TARGET="" "$OUT/assay-fuzz-all" 2>&1 | sed -n 's/.*is none of //p'); do
  printf '#!/bin/sh\n# LLVMFuzzerTestOneInput\ncd "$(dirname "$0")"\nFUZZ_TARGET=%s FUZZ_SEEDS=Fixtures exec ./assay-fuzz-all "$@"\n' \
    "$target" > "$OUT/$target"
  chmod +x "$OUT/$target"
  [ ! -f "Tests/Fuzz/Dictionaries/$target.dict" ] || cp "Tests/Fuzz/Dictionaries/$target.dict" "$OUT/"
done
