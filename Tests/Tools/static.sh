#!/bin/sh
# Builds assay and assay-hdf5 with the Swift runtime, the codecs, protobuf-c, zlib and libhdf5 linked
# in, and checks that they need nothing but libc. Linux only: macOS brings the Swift runtime.
set -eu
cd "$(dirname "$0")/../.."
swift=${SWIFT:-swift}
folder=$PWD/.build/static
archives=$folder/archives
if [ "$(uname)" != Linux ]; then
  echo "error: a static build is for Linux; macOS brings the Swift runtime" >&2
  exit 1
fi
mkdir -p "$archives"
# A folder of archives alone, searched first: the linker finds no shared library beside them.
hdf5=$(pkg-config --variable=libdir hdf5 2>/dev/null || true)
for name in protobuf-c png16 jpeg z sz aec hdf5 stdc++; do
  archive=$(cc ${hdf5:+-L"$hdf5"} -print-file-name="lib$name.a")
  if [ "$name" = hdf5 ] && [ -n "$hdf5" ] && [ -e "$hdf5/libhdf5.a" ]; then
    archive=$hdf5/libhdf5.a
  fi
  if [ ! -e "$archive" ]; then
    echo "error: there is no lib$name.a; \`make setup\` installs what is needed" >&2
    exit 1
  fi
  ln -sf "$(realpath "$archive")" "$archives/lib$name.a"
done
build() {
  product=$1
  shift
  "$swift" build -c release --static-swift-stdlib --scratch-path "$folder" --product "$product" \
    -Xlinker "-L$archives" -Xswiftc -Xclang-linker -Xswiftc -static-libgcc \
    -Xlinker --gc-sections "$@"
}
build assay
# libhdf5's compressed storages; its network drivers stay out, since nothing refers to them.
build assay-hdf5 -Xlinker -lsz -Xlinker -laec -Xlinker -lz
for product in assay assay-hdf5; do
  binary=$folder/release/$product
  foreign=$(ldd "$binary" | awk '{print $1}' |
    grep -vE '^(linux-vdso|libc|libm|libpthread|libdl|librt|ld-linux.*|/lib.*/ld-linux.*)\.so' || true)
  if [ -n "$foreign" ]; then
    echo "static: $product needs more than libc:" >&2
    echo "$foreign" >&2
    exit 1
  fi
  echo "$binary"
done
