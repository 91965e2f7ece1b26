#!/bin/sh
# Builds assay and assay-hdf5 with the Swift runtime, the codecs, protobuf-c, zlib and libhdf5 linked
# in, and checks that they need nothing but libc. Linux only: macOS brings the Swift runtime.
#     static.sh [--portable] [PRODUCT…]
# With --portable they need no glibc later than 2.28; Debian only.
set -eu
portable=
[ "${1:-}" != --portable ] || { portable=yes; shift; }
[ $# -gt 0 ] || set -- assay assay-hdf5
cd "$(dirname "$0")/../.."
swift=${SWIFT:-swift}
folder=$PWD/.build/static
archives=$folder/archives
if [ "$(uname)" != Linux ]; then
  echo "error: a static build is for Linux; macOS brings the Swift runtime" >&2
  exit 1
fi
mkdir -p "$archives" "$folder/pkgconfig"
# A folder of archives alone, which the linker searches first, since pkg-config names it: there it
# finds no shared library beside them.
add_archive() {
  archive=$(cc -print-file-name="lib$1.a")
  [ "$1" != hdf5 ] || [ ! -e "$hdf5/libhdf5.a" ] || archive=$hdf5/libhdf5.a
  if [ ! -e "$archive" ]; then
    echo "error: there is no lib$1.a; \`make setup\` installs what is needed" >&2
    exit 1
  fi
  ln -sf "$(realpath "$archive")" "$archives/lib$1.a"
}
# A package under its own name and with its own headers, but with these archives.
add_package() {
  package=$1
  shift
  {
    echo "Name: $package"
    echo "Description: archives of $package"
    echo "Version: $(pkg-config --modversion "$package")"
    echo "Cflags: $(pkg-config --cflags "$package")"
    printf 'Libs: -L%s' "$archives"
    for name in "$@"; do printf ' -l%s' "$name"; done
    echo
  } >"$folder/pkgconfig/$package.pc"
}
hdf5=$(pkg-config --libs-only-L hdf5 | sed 's/^-L//; s/ *$//')
for name in protobuf-c png16 jpeg z sz aec hdf5 stdc++; do add_archive "$name"; done
add_package libprotobuf-c protobuf-c
add_package zlib z
add_package libpng png16 z
add_package libjpeg jpeg
# With libhdf5's compressed storages; its network drivers stay out, since nothing refers to them.
add_package hdf5 hdf5 sz aec z
PKG_CONFIG_PATH=$folder/pkgconfig
export PKG_CONFIG_PATH
glibc=$folder/glibc
libc=
if [ -n "$portable" ]; then
  sh Tests/Tools/release/glibc.sh "$glibc"
  libc="-Xlinker $glibc/glibc.o -Xlinker -L$glibc -Xswiftc -Xclang-linker -Xswiftc -B$glibc"
fi
for product; do
  hidden=
  # Archives for arm64 are built for programs: a library may not show their symbols.
  case $product in *Library) hidden='-Xlinker --exclude-libs=ALL' ;; esac
  # shellcheck disable=SC2086
  "$swift" build -c release --static-swift-stdlib --scratch-path "$folder" --product "$product" \
    $libc -Xlinker "-L$archives" -Xswiftc -Xclang-linker -Xswiftc -static-libgcc -Xlinker --gc-sections \
    $hidden
done
for product; do
  binary=$folder/release/$product
  [ -e "$binary" ] || binary=$folder/release/lib$product.so
  foreign=$(ldd "$binary" | awk '{print $1}' |
    grep -vE '^(linux-vdso|libc|libm|libpthread|libdl|librt|libutil|ld-linux.*|/lib.*/ld-linux.*)\.so' || true)
  if [ -n "$foreign" ]; then
    echo "static: $product needs more than libc:" >&2
    echo "$foreign" >&2
    exit 1
  fi
  latest=$(objdump -T "$binary" | sed -n 's/.*GLIBC_\([0-9][0-9.]*\).*/\1/p' | sort -uV | tail -1)
  if [ -n "$portable" ] && [ "$(printf '%s\n' "$latest" 2.28 | sort -V | tail -1)" != 2.28 ]; then
    echo "static: $product needs glibc $latest" >&2
    exit 1
  fi
  echo "$binary needs glibc $latest"
done
