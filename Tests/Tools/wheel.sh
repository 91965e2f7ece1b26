#!/bin/sh
# Builds the Python package as a wheel that carries libassay and the programs, in .build/wheel, and tests
# it in a new environment, with coremltools too. Takes the library of library.sh and the programs of
# static.sh.
set -eu
cd "$(dirname "$0")/../.."
library=.build/library/libassay.so
folder=.build/wheel
rm -rf "$folder"
mkdir -p "$folder"
cp -R Sources/Python "$folder/source"
cp -L "$library" "$folder/source/assay"
for program in assay assay-hdf5; do
  strip --strip-all -o "$folder/source/assay/$program" ".build/static/release/$program"
done
cp LICENSE "$folder/source"
sh Tests/Tools/release/notices.sh >"$folder/source/NOTICES"
sed -n 's/.*assayVersion = "\(.*\)"/\1/p' Sources/Assay/Version.swift >"$folder/source/VERSION"
# The oldest libc with every symbol that they need names the platform.
libc=$(find "$folder/source/assay" -type f \( -name '*.so' -o -name 'assay*' \) -exec objdump -T {} + |
  sed -n 's/.*GLIBC_\([0-9]*\)\.\([0-9]*\).*/\1 \2/p' |
  sort -u -k1,1n -k2,2n | tail -1 | tr ' ' _)
python3 -m pip wheel --quiet --no-deps --wheel-dir "$folder" \
  --config-settings="--build-option=--plat-name=manylinux_${libc}_$(uname -m)" "$folder/source"
rm -rf "$folder/source"

python3 -m venv --without-pip "$folder/environment"
# coremltools has no wheel for other processors; its tests are skipped without it.
[ "$(uname -m)" != x86_64 ] || coremltools=coremltools
# shellcheck disable=SC2086
python3 -m pip --python "$folder/environment/bin/python" install --quiet "$folder"/*.whl pillow ${coremltools:-}
"$folder/environment/bin/python" -W ignore -m unittest discover -s Tests/Python
"$folder/environment/bin/assay" diff Fixtures/library/line.mlmodel Fixtures/library/line.mlmodel
rm -rf "$folder/environment"
ls "$folder"/*.whl
