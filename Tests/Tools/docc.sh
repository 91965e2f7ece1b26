#!/bin/sh
# Builds the documentation catalog of the library from a debug build, in .build/docc. A warning is an
# error, and so is a public type of the library or of NetworkBuilder without an example.
set -eu
cd "$(dirname "$0")/../.."
tools=$(dirname "$(realpath "$(command -v "${SWIFT:-swift}")")")
build=.build/debug
folder=.build/docc
rm -rf "$folder"
mkdir -p "$folder/symbols"
maps=
for module in CSpec CSystem CCodecs PluginSupport; do
  maps="$maps -Xcc -fmodule-map-file=$build/$module.build/module.modulemap"
done
for module in CHDF5 CProtobufC CZlib CPNG CJPEG CVector CAssayPlugin; do
  maps="$maps -Xcc -fmodule-map-file=Sources/$module/module.modulemap"
done
# shellcheck disable=SC2046,SC2086
"$tools/swift-symbolgraph-extract" -module-name Assay -I $build/Modules -minimum-access-level public \
  -skip-synthesized-members -output-dir "$folder/symbols" $maps \
  $(pkg-config --cflags-only-I hdf5 libpng | sed 's/-I/-Xcc -I/g') \
  -target "$("${SWIFT:-swift}c" -print-target-info | sed -n 's/.*"triple": "\(.*\)".*/\1/p' | head -1)"
"$tools/docc" convert Sources/Assay/Assay.docc --additional-symbol-graph-dir "$folder/symbols" \
  --fallback-bundle-identifier assay --fallback-display-name Assay --warnings-as-errors \
  --output-path "$folder/Assay.doccarchive"
# The pages whose code the tests compile.
sed -n '/^```swift/,/^```$/p' Sources/Assay/Assay.docc/Examples.md docs/library.md docs/networks-in-swift.md >"$folder/code"
exported=$(sed -nE 's/^@_exported import (struct|enum) ([A-Za-z0-9]*)\.([A-Za-z0-9]*)/\2 \3/p; s/^@_exported import ([A-Za-z0-9]*)$/\1 [A-Za-z0-9]+/p' \
  Sources/Assay/Exports.swift)
count=0
for type in $({ echo 'Assay [A-Za-z0-9]+'; echo 'NetworkBuilder [A-Za-z0-9]+'; echo "$exported"; } |
  while read -r module name; do
    grep -rhoE "^public (final |indirect )?(struct|class|enum|protocol|actor) $name\b" "Sources/$module" || true
  done | sed 's/.* //' | sort -u); do
  count=$((count + 1))
  grep -qw "$type" "$folder/code" || {
    echo "docc: $type has no example" >&2
    exit 1
  }
done
echo "docc: $count public types have examples"
echo "docc: wrote $folder/Assay.doccarchive without a warning"
