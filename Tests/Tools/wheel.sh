#!/bin/sh
# Builds the Python package as a wheel that carries libassay, in .build/wheel, and tests it in a new
# environment, with coremltools too. Takes the library of library.sh, and assay-hdf5 of static.sh if it
# is there.
set -eu
cd "$(dirname "$0")/../.."
library=.build/library/libassay.so
folder=.build/wheel
rm -rf "$folder"
mkdir -p "$folder"
cp -R Sources/Python "$folder/source"
cp "$library" "$folder/source/assay"
# The program that reads HDF5 files, if it was built to need nothing but libc.
worker=.build/static/release/assay-hdf5
[ ! -x "$worker" ] || strip --strip-all -o "$folder/source/assay/assay-hdf5" "$worker"
cp LICENSE "$folder/source"
sh Tests/Tools/release/notices.sh >"$folder/source/NOTICES"
sed -n 's/.*assayVersion = "\(.*\)"/\1/p' Sources/Assay/Version.swift >"$folder/source/VERSION"
# The oldest libc with every symbol that they need names the platform.
libc=$(find "$folder/source/assay" \( -name '*.so' -o -name assay-hdf5 \) -exec objdump -T {} + |
  sed -n 's/.*GLIBC_\([0-9]*\)\.\([0-9]*\).*/\1 \2/p' |
  sort -u -k1,1n -k2,2n | tail -1 | tr ' ' _)
python3 -m pip wheel --quiet --no-deps --wheel-dir "$folder" \
  --config-settings="--build-option=--plat-name=manylinux_${libc}_$(uname -m)" "$folder/source"
rm -rf "$folder/source"

python3 -m venv "$folder/environment"
"$folder/environment/bin/pip" install --quiet "$folder"/*.whl pillow coremltools
"$folder/environment/bin/python" -W ignore -m unittest discover -s Tests/Python
rm -rf "$folder/environment"
ls "$folder"/*.whl
