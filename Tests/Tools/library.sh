#!/bin/sh
# Builds libassay, shared and static, with the Swift runtime, the codecs, protobuf-c and zlib inside,
# and runs the tests in C on both, and the example of the page as it is printed. Linux only: macOS brings
# the Swift runtime.
#     library.sh [--portable] [FOLDER]
# FOLDER has the products of a build of AssayLibrary; without it a release build makes them. Writes
# libassay.so.MAJOR with its link libassay.so, libassay.a, assay.h and NOTICES to .build/library. With --portable they need no glibc later
# than 2.28; Debian only.
set -eu
portable=
[ "${1:-}" != --portable ] || { portable=yes; shift; }
cd "$(dirname "$0")/../.."
if [ "$(uname)" != Linux ]; then
  echo "error: libassay is built on Linux; on macOS use the product AssayLibrary" >&2
  exit 1
fi
build=${1:-}
if [ -z "$build" ]; then
  "${SWIFT:-swift}" build -c release --product AssayLibrary
  build=.build/release
fi
folder=.build/library
rm -rf "$folder"
mkdir -p "$folder"
cp Sources/CAssay/assay.h "$folder"
sh Tests/Tools/release/notices.sh >"$folder/NOTICES"
shared=libassay.so.$(sed -n 's/.*assayVersion = "\([0-9]*\)\..*/\1/p' Sources/Assay/Version.swift)
ln -s "$shared" "$folder/libassay.so"
additions=
libc=
if [ -n "$portable" ]; then
  glibc=$PWD/.build/static/glibc
  sh Tests/Tools/release/glibc.sh "$glibc"
  additions=$glibc/glibc.o
  libc="-B$glibc -L$glibc"
fi

runtime=$("${SWIFTC:-swiftc}" -print-target-info -static-stdlib |
  sed -n 's|.*"\(.*/swift_static/linux\)".*|\1|p' | head -1)
archives=$(for name in protobuf-c png16 jpeg z stdc++; do cc -print-file-name="lib$name.a"; done)
for archive in $archives "$runtime/libswiftCore.a"; do
  [ -e "$archive" ] || {
    echo "error: there is no $archive; \`make setup\` installs what is needed" >&2
    exit 1
  }
done

# One object of all, in which only the functions of the header stay visible. What the library does not
# use of the modules that convert, compare and report is left out by file, and of all by function.
sed -n 's/.*\b\(assay_[a-z_]*\)(.*/\1/p' Sources/CAssay/assay.h | sort -u >"$folder/functions"
tr -d "'\"" <"$build/AssayLibrary.product/Objects.LinkFileList" >"$folder/objects"
parts='/(Assay|Reports|Verification|Detection|ONNXExport|LayerTemplates|PluginSupport|[A-Za-z]*Interpretation)\.build/'
grep -E "$parts" "$folder/objects" | xargs ar qcsT "$folder/parts.a"
# shellcheck disable=SC2046,SC2086
ld -r --gc-sections -o "$folder/all.o" $(sed 's/^/--undefined=/' "$folder/functions") \
  $(grep -vE "$parts" "$folder/objects") $additions \
  "$runtime/$(uname -m)/swiftrt.o" --start-group "$folder/parts.a" "$runtime"/*.a $archives --end-group
# Archives of the system are built for programs, which may address the C library's variables; a
# shared library may not, and gets a pointer of its own.
objcopy --redefine-sym stderr=assay_stderr "$folder/all.o"
cc -x c -fPIC -O2 -c -o "$folder/stderr.o" - <<'END'
#include <stdio.h>
FILE *assay_stderr;
__attribute__((constructor)) static void set(void) { assay_stderr = stderr; }
END
ld -r -o "$folder/assay.o" "$folder/all.o" "$folder/stderr.o"
objcopy --strip-debug --remove-section=.swift_ast --keep-global-symbols="$folder/functions" "$folder/assay.o"
{ echo '{ global:' && sed 's/$/;/' "$folder/functions" && echo 'local: *; };'; } >"$folder/symbols"
ar rcsD "$folder/libassay.a" "$folder/assay.o"
# shellcheck disable=SC2086
cc -shared $libc -o "$folder/$shared" "$folder/assay.o" $additions -static-libgcc "-Wl,-soname,$shared" \
  -Wl,--gc-sections -Wl,-z,defs -Wl,-z,noexecstack \
  -Wl,--version-script="$folder/symbols" -lm -lpthread -ldl
strip --strip-unneeded "$folder/$shared"
rm "$folder"/*.o "$folder/symbols" "$folder/objects" "$folder/parts.a"

visible=$(nm -D --defined-only "$folder/libassay.so" | awk '{ print $3 }' | sort)
if [ "$visible" != "$(cat "$folder/functions")" ]; then
  echo "library: libassay.so shows other symbols than assay.h declares:" >&2
  printf '%s\n' "$visible" | diff "$folder/functions" - >&2 || true
  exit 1
fi
foreign=$(ldd "$folder/libassay.so" | awk '{print $1}' |
  grep -vE '^(linux-vdso|libc|libm|libpthread|libdl|librt|/lib.*/ld-linux.*)\.so' || true)
if [ -n "$foreign" ]; then
  printf 'library: libassay.so needs more than libc:\n%s\n' "$foreign" >&2
  exit 1
fi
rm "$folder/functions"
latest=$(objdump -T "$folder/libassay.so" | sed -n 's/.*GLIBC_\([0-9][0-9.]*\).*/\1/p' | sort -uV | tail -1)
if [ -n "$portable" ] && [ "$(printf '%s\n' "$latest" 2.28 | sort -V | tail -1)" != 2.28 ]; then
  echo "library: libassay.so needs glibc $latest" >&2
  exit 1
fi

test_with() {
  name=$1
  shift
  for program in library-misuse library-fork library-growth library-threads library; do
    if [ -n "${ASSAY_CROSS:-}" ] && [ $program = library-growth ]; then
      echo "library: $program is not run: the emulator itself needs more and more memory"
      continue
    fi
    cc -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Werror -g -I"$folder" -o "$folder/$name" \
      "Tests/Tools/$program.c" "$@" -lm -lpthread -ldl
    "$folder/$name" Fixtures/library 3
  done
  if [ -z "${ASSAY_CROSS:-}" ] && command -v valgrind >/dev/null; then
    # Optimized Swift branches on undefined values where the outcome does not matter.
    valgrind -q --error-exitcode=9 --undef-value-errors=no --leak-check=full \
      --show-leak-kinds=definite --errors-for-leak-kinds=definite "$folder/$name" Fixtures/library
  fi
  rm "$folder/$name"
}
test_with shared -L"$folder" -lassay -Wl,-rpath,"$PWD/$folder"
test_with static "$folder/libassay.a"

# What docs/c-library.md prints; the model computes 2 x + 1.
example=$folder/example
mkdir "$example"
code() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" docs/c-library.md | sed '1d;$d'; }
code c >"$example/example.c"
code sh | sed "s|\.build/library|$PWD/$folder|g" >"$example/build.sh"
ln -s "$PWD/Fixtures" "$example/Fixtures"
[ "$(cd "$example" && sh -e build.sh)" = "1 3 5 7 9 11 " ]
size=$(wc -c <"$example/example")
echo "library: the static example of the page has $size bytes"
[ "$size" -le 30000000 ] || { echo "library: that is more than 30 MB" >&2; exit 1; }
rm -r "$example"
ls "$folder"/*
