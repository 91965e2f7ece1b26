#!/bin/sh
# Builds docs/examples/NetworksInSwift with this package as a versioned dependency, as another project
# has it: from a tagged repository, without the compiler flags that SwiftPM refuses there. Runs it and
# compares what it says with what Keras predicts.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
url=$(sed -nE 's/.*url: "([^"]*)".*/\1/p' docs/examples/NetworksInSwift/Package.swift)
version=$(sed -nE 's/.*assayVersion = "([^"]*)".*/\1/p' Sources/Assay/Version.swift)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The files as they are now, committed and tagged in a repository of their own.
mkdir "$folder/assay" "$folder/example"
git ls-files -co --exclude-standard Package.swift Package.resolved Sources Tests |
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
