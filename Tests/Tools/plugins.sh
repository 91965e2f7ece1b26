#!/bin/sh
# Writes a plug-in for each model with custom layers under ../shared, builds it and loads it. One folder serves all, so that what the packages share is compiled once.
set -eu
assay=$(realpath "$1")
shared=${ASSAY_SHARED:-../shared}
swift=${SWIFT:-swift}
if [ ! -d "$shared" ]; then
  echo "plugins: SKIPPED, there is no $shared"
  exit 0
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
extension=so
[ "$(uname)" = Linux ] || extension=dylib
count=0
for model in $(find "$shared/seed" "$shared/models" "$shared/corpus" -name '*.mlmodel' | sort); do
  rm -rf "$out/new" "$out/package/Sources" "$out/package/Tests"
  if ! "$assay" plugin new Layers --for "$model" -o "$out/new" --quiet 2>"$out/error"; then
    grep -q 'no custom layers' "$out/error" || echo "plugins: $(sed -n 1p "$out/error")"
    continue
  fi
  # What the packages share keeps its date.
  (cd "$out/new" && find . -type f) | while read -r file; do
    cmp -s "$out/new/$file" "$out/package/$file" && continue
    mkdir -p "$(dirname "$out/package/$file")"
    cp "$out/new/$file" "$out/package/$file"
  done
  (cd "$out/package" && "$swift" build -c release --product Layers >"$out/build" 2>&1) || {
    echo "plugins: the package for $model does not build" >&2
    cat "$out/build" >&2
    exit 1
  }
  "$assay" inspect "$model" --plugin "$out/package/.build/release/libLayers.$extension" >"$out/text"
  if grep -q 'not built in' "$out/text"; then
    echo "plugins: the package for $model lacks a class" >&2
    exit 1
  fi
  count=$((count + 1))
  echo "plugins: $(echo "$model" | sed "s,^$shared/,,") builds and loads"
done
[ $count -gt 0 ] || { echo "plugins: no model with custom layers under $shared" >&2; exit 1; }
