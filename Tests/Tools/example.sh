#!/bin/sh
# Builds docs/examples/NetworksInSwift with this package as a versioned dependency, as another project
# has it: from a tagged repository. Runs it and compares what it says with what Keras predicts. With
# Swift 6.3 on x86-64 Linux it has the kernels for AVX2 and AVX-512.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
url=$(sed -nE 's/.*url: "([^"]*)".*/\1/p' docs/examples/NetworksInSwift/Package.swift)
version=$(sed -nE 's/.*assayVersion = "([^"]*)".*/\1/p' Sources/Assay/Version.swift)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The files as they are now, committed and tagged in a repository of their own.
mkdir "$folder/assay" "$folder/example"
git -c safe.directory='*' ls-files -co --exclude-standard Package.swift Package.resolved Sources Tests |
  tar -cf - -T - | tar -xf - -C "$folder/assay"
git -C "$folder/assay" init -q
git -C "$folder/assay" add .
git -C "$folder/assay" -c user.name=example -c user.email=example@localhost commit -q -m example
git -C "$folder/assay" tag "$version"

cp -R docs/examples/NetworksInSwift/Package.swift docs/examples/NetworksInSwift/Sources \
  "$folder/example"
export GIT_CONFIG_COUNT=1
export GIT_CONFIG_KEY_0="url.file://$folder/assay.insteadOf"
export GIT_CONFIG_VALUE_0="$url"
${SWIFT:-swift} build -c release --package-path "$folder/example" \
  --cache-path "$folder/cache" --security-path "$folder/security"

if [ "$(uname -sm)" = "Linux x86_64" ] &&
  ! nm "$folder/example/.build/release/NetworksInSwift" | grep -q KernelsAVX512; then
  case $("${SWIFT:-swift}" --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p') in
  6.[0-2]) echo "example: baseline kernels only: this SwiftPM refuses compiler flags" ;;
  *)
    echo "error: the example lacks the kernels for AVX-512" >&2
    exit 1
    ;;
  esac
fi

"$folder/example/.build/release/NetworksInSwift" \
  "$root/Fixtures/builder/lenet" "$root/Fixtures/builder/lenet.png" >"$folder/output"
cat "$folder/output"
{
  cat Fixtures/builder/lenet.top5.txt
  echo 'Inception module: 35 × 35 × 256'
  echo 'VGG-16: 138357544 parameters'
} >"$folder/expected"
tail -n 7 "$folder/output" | diff "$folder/expected" -
echo "example: NetworkBuilder $version works as a versioned dependency"
