#!/bin/sh
# Builds docs/examples/NetworksInSwift with this package as a versioned dependency, as another project
# has it: from a tagged repository. Runs it and compares what it says with what Keras predicts. With
# Swift 6.3 on x86-64 Linux it has the kernels for AVX2 and AVX-512.
#     [ASSAY=PROGRAM MODEL=NETWORK SHAPE="3 320 320"] example.sh
# With these variables, a program that depends on the library predicts with NETWORK, whose input is an
# array of that shape. It may take at most 5 % longer than PROGRAM, a release build of the same files.
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
# What docs/library.md and the examples of the catalog print, with what is public alone.
code() { sed -n '/^```swift$/,/^```$/p' "$1"; }
mkdir "$folder/example/Sources/Library"
{
  echo 'import Assay'
  code Sources/Assay/Assay.docc/Examples.md | awk '/^```/ { n += $0 != "```"; next } n == 10'
  echo 'let folder = CommandLine.arguments[1]'
  code docs/library.md | sed '/^```/d'
  echo 'func examples() throws {'
  # The tenth is a class; those from the fifth on use the same names.
  code Sources/Assay/Assay.docc/Examples.md |
    awk '/^```swift/ { n++ } /^```/ { if (n > 4 && n < 10) print ($0 == "```" ? "}" : "do {"); next } n != 10'
  echo '}'
  echo 'try examples()'
} >"$folder/example/Sources/Library/main.swift"
sed -i 's|^  targets: \[|&\n    .executableTarget(\n      name: "Library", dependencies: [\n        .product(name: "Assay", package: "assay"), .product(name: "assay-hdf5", package: "assay"),\n      ]),|' \
  "$folder/example/Package.swift"
if [ -n "${ASSAY:-}" ]; then
  mkdir "$folder/example/Sources/Timing"
  cp Tests/Tools/example-timing.swift "$folder/example/Sources/Timing/main.swift"
  sed -i 's|^  targets: \[|&\n    .executableTarget(\n      name: "Timing", dependencies: [.product(name: "Assay", package: "assay")]),|' \
    "$folder/example/Package.swift"
fi
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
for kind in h5 inputs.npz expected.npz; do
  cp "Fixtures/networks/keras3-sequential.$kind" "$folder/$(echo $kind | sed 's/^h5/network.h5/')"
done
cp Fixtures/demo/picture.png "$folder/a.png"
cp Fixtures/demo/picture.png "$folder/b.png"
cp Fixtures/corpus/caffe/ip_activation_absval/deploy.prototxt "$folder/network.prototxt"
"$folder/example/.build/release/Library" "$folder" >"$folder/library"
[ "$(head -1 "$folder/library")" = true ]
echo "example: the code of docs/library.md and of the catalog's examples runs as printed"

[ -n "${ASSAY:-}" ] || exit 0
# In turn, since the processor's clock drifts; the shortest of all.
for _ in 1 2 3 4 5; do
  # shellcheck disable=SC2086
  "$folder/example/.build/release/Timing" "$MODEL" $SHAPE >>"$folder/library-times"
  "$ASSAY" bench "$MODEL" --json | sed -n 's/^{"ms":\([^,}]*\).*/\1/p' >>"$folder/program-times"
done
library=$(sort -g "$folder/library-times" | head -1)
program=$(sort -g "$folder/program-times" | head -1)
echo "example: a prediction takes $library ms in the library, $program ms in the program"
awk "BEGIN { exit !($library <= 1.05 * $program) }"
