#!/bin/sh
# Prints the license texts of what the static binaries and libraries link, and of the C library in the image.
#     notices.sh --list   prints name, version and origin of each instead, separated by tabs
set -eu
cd "$(dirname "$0")/../../.."
swift=$(dirname "$(dirname "$(realpath "$(command -v "${SWIFT:-swift}")")")")
mode=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

entry() { # name, version, origin, file with the license
  if [ ! -s "$4" ]; then
    echo "error: the license of $1 is missing at $4" >&2
    exit 1
  fi
  if [ "$mode" = --list ]; then
    printf '%s\t%s\t%s\n' "$1" "$2" "$3"
  else
    printf '%s %s\n\n' "$1" "$2"
    cat "$4"
    printf '\n%s\n\n' "------------------------------------------------------------------------"
  fi
}

schema=Sources/CSpec/proto/caffe.proto
sed -n '/^\/\/ COPYRIGHT/,/^syntax/s|^// \{0,1\}||p' $schema >"$work/caffe"
entry caffe.proto BVLC "pkg:github/BVLC/caffe" "$work/caffe"
for package in libaec-dev libc6-dev libhdf5-dev libjpeg62-turbo-dev libpng-dev libprotobuf-c-dev zlib1g-dev; do
  version=$(dpkg-query -W -f '${Version}' "$package")
  entry "$package" "$version" "pkg:deb/debian/$package@$version" "/usr/share/doc/$package/copyright"
done
compiler=$(dpkg -S "$(realpath "$(cc -print-file-name=libstdc++.a)")" | cut -d: -f1)
version=$(dpkg-query -W -f '${Version}' "$compiler")
entry "$compiler" "$version" "pkg:deb/debian/$compiler@$version" "/usr/share/doc/$compiler/copyright"
version=$("$swift/bin/swift" --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' | head -1)
entry swift "$version" "pkg:github/swiftlang/swift@$version" "$swift/share/swift/LICENSE.txt"
pins=$(python3 -c '
import json
for pin in json.load(open("Package.resolved"))["pins"]:
    print(pin["identity"], pin["state"]["version"], pin["location"].removeprefix("https://github.com/"))
')
echo "$pins" | while read -r name version origin; do
  entry "$name" "$version" "pkg:github/$origin@$version" "$(ls .build/checkouts/"$name"/LICENSE.txt .build/*/checkouts/"$name"/LICENSE.txt 2>/dev/null | head -1)"
done
