#!/bin/sh
# Checks the types of what depends on the operating system as a compiler for macOS would: against
# Apple's headers, which the Python package ziglang brings, and Embedded Swift's standard library for
# Apple's arm64, which the toolchain brings. Nothing is linked or run. What Sources uses of Dispatch is declared
# here; of ArgumentParser, which needs Foundation, only the declarations are read.
#     macos.sh [FOLDER]   the headers, by default those of the package, which pip fetches
set -eu
cd "$(dirname "$0")/../.."
swift=${SWIFT:-swift}
folder=$PWD/.build/macos
headers=${1:-$folder/headers}
mkdir -p "$folder"
if [ ! -e "$headers/unistd.h" ]; then
  python3 -m pip download --quiet --no-deps --dest "$folder/package" ziglang==0.17.1
  python3 - "$folder/package" "$folder" <<'END'
import pathlib, sys, zipfile
package, folder = map(pathlib.Path, sys.argv[1:])
prefix = "ziglang/lib/libc/include/any-darwin-any/"
with zipfile.ZipFile(next(package.glob("*.whl"))) as wheel:
    for name in wheel.namelist():
        if name.startswith(prefix) and not name.endswith("/"):
            target = folder / "headers" / name.removeprefix(prefix)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(wheel.read(name))
END
fi

tools=$(dirname "$(realpath "$(command -v "${swift}c")")")
status=0
for file in Sources/CSystem/*.c; do
  "$tools/clang" --target=arm64-apple-macos26 -nostdlibinc -isystem "$headers" -fsyntax-only -Wall \
    -Wextra -Werror -ISources/CSystem/include "$file" || status=1
done

maps=
map() { # module, header
  maps="$maps -I $folder/$1"
  mkdir -p "$folder/$1"
  printf 'module %s {\n  header "%s"\n  export *\n}\n' "$1" "$2" >"$folder/$1/module.modulemap"
}
map CSystem "$PWD/Sources/CSystem/include/CSystem.h"
map CZlib "$PWD/Sources/CZlib/shim.h"
map CVector "$PWD/Sources/CVector/CVector.h"
map CAssayPlugin "$PWD/Sources/CAssayPlugin/assay_plugin.h"
map CHDF5 "$PWD/Sources/CHDF5/shim.h"
map CProtobufC "$PWD/Sources/CProtobufC/shim.h"
map CSpec "$PWD/Sources/CSpec/include/CSpec.h"
map CCodecs "$PWD/Sources/CCodecs/include/CCodecs.h"
map PluginSupport "$PWD/Sources/PluginSupport/include/plugin_support.h"
map CAssay "$PWD/Sources/CAssay/assay.h"
# Of the packages' headers these alone: others around them are those of this system.
mkdir -p "$folder/packages"
ln -sfn "$(pkg-config --variable=includedir libprotobuf-c)/protobuf-c" "$folder/packages/protobuf-c"
# Debian's libhdf5 asks for it.
: >"$folder/packages/features.h"
packages="-Xcc -idirafter -Xcc $folder/packages"
for option in $(pkg-config --cflags-only-I hdf5); do
  packages="$packages -Xcc -idirafter -Xcc ${option#-I}"
done

compile() { # check or emit, module, sources and options
  mode=$1 module=$2
  shift 2
  case $mode in
  emit)
    set -- -emit-module -wmo -emit-module-path "$folder/$module.swiftmodule" \
      -Xfrontend -experimental-allow-module-with-compiler-errors \
      -Xfrontend -experimental-skip-all-function-bodies -suppress-warnings "$@"
    ;;
  # A separate compilation of each file would end with the first one that has an error.
  check) set -- -typecheck -wmo "$@" ;;
  esac
  # shellcheck disable=SC2086
  "${swift}c" -target arm64-apple-ios26 -enable-experimental-feature Embedded \
    -swift-version 6 -parse-as-library -package-name assay -module-name "$module" \
    -module-cache-path "$folder/modules" -I "$folder" -I Tests/Tools/macos/Darwin \
    $maps -Xcc -nostdlibinc -Xcc -idirafter -Xcc "$headers" $packages -D KERNELS_BASELINE \
    "$@" >"$folder/$module.$mode" 2>&1 || true
}

# Writes the module for those that import it, then checks the types.
check() { # module, other sources
  module=$1
  shift
  # shellcheck disable=SC2046
  set -- $(find -L "Sources/$module" -name '*.swift') Tests/Tools/macos/StandardLibrary.swift "$@"
  compile emit "$module" "$@"
  compile check "$module" "$@"
  # What only Embedded Swift demands does not count: an import in every file, no `any Error`, no variable
  # arguments, no clocks, no decoding and no regular expressions.
  if grep ': error: ' "$folder/$module.check" | grep -v '^ *|' | sort -u |
    grep -vE "in an embedded function|unavailable in embedded Swift|find '(withVaList|ContinuousClock)'|type 'KeyedDecodingContainer<|here; '.*' was not imported|'Regex'|'firstMatch'|parameter 'at' in call|\[String.Element\].*'replacing'"; then
    status=1
  else
    echo "$module: types agree"
  fi
}
check LibC Tests/Tools/macos/DarwinOverlay.swift
compile emit Dispatch Tests/Tools/macos/Dispatch.swift
parser=.build/checkouts/swift-argument-parser/Sources
[ -e "$parser" ] || "$swift" package resolve
compile emit Foundation Tests/Tools/macos/Foundation.swift
compile emit ArgumentParserToolInfo "$parser"/ArgumentParserToolInfo/*.swift
find "$parser/ArgumentParser" -name '*.swift' | sed 's/.*/"&"/' >"$folder/parser"
compile emit ArgumentParser "@$folder/parser"
for module in ${MODULES:-TensorCore Files ByteFormats HDF5Reader HDF5Library KernelInterface \
  KernelsBaseline Kernels Formulas CoreMLModel CustomLayers Engine ModelTransforms MILImport Imaging \
  FeatureModels ModelPrediction MILExport LayerTemplates ImportSupport Verification Reports PythonSource KerasFormat CaffeFormat DarknetFormat KerasImport \
  CaffeImport DarknetImport Interpretation CaffeInterpretation KerasInterpretation \
  DarknetInterpretation Detection ONNXExport Assay AssayLibrary NetworkBuilder AssayCommand}; do
  case $module in
  AssayCommand) check AssayCommand Tests/Tools/macos/Clock.swift ;;
  Reports | KerasImport) check "$module" Tests/Tools/macos/Resources.swift ;;
  *) check "$module" ;;
  esac
done
exit $status
