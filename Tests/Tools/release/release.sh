#!/bin/sh
# Packs the binaries of static.sh into .build/packages: a tarball, a Debian package, an OCI image, a
# Homebrew formula, a bill of materials, notices and checksums.
#     release.sh [FOLDER]   takes the binaries of FOLDER, by default .build/static/release
set -eu
umask 022
cd "$(dirname "$0")/../../.."
tools=Tests/Tools/release
binaries=${1:-.build/static/release}
packages=.build/packages
version=$(sed -n 's/.*assayVersion = "\(.*\)"/\1/p' Sources/Assay/Version.swift)
[ -n "${SOURCE_DATE_EPOCH:-}" ] || SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
name=assay-$version-linux-$(uname -m)
tree=$packages/$name
rm -rf "$packages"
sh Tests/Tools/install.sh "$binaries" "$tree"
mkdir -p "$tree/share/doc/assay"

for program in assay assay-hdf5; do
  path=$(readelf -d "$tree/bin/$program" | sed -n 's/.*R.*PATH.*\[\(.*\)\]/\1/p' | sed 's/^\$ORIGIN$//')
  if [ -n "$path" ]; then
    echo "error: $program looks for libraries in $path; link it without a run path" >&2
    exit 1
  fi
done
libc=$(objdump -T "$tree/bin/assay" "$tree/bin/assay-hdf5" |
  sed -n 's/.*GLIBC_\([0-9][0-9.]*\).*/\1/p' | sort -uV | tail -1)

sh $tools/notices.sh >"$tree/share/doc/assay/NOTICES"
cp CHANGELOG.md LICENSE "$tree/share/doc/assay"
sh $tools/notices.sh --list | python3 $tools/bill.py "$version" "$tree/bin" >"$packages/$name.spdx.json"
cp "$packages/$name.spdx.json" "$tree/share/doc/assay/assay.spdx.json"
find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=ustar \
  -C "$packages" -cf - "$name" | gzip -n9 >"$packages/$name.tar.gz"

debian=$packages/debian
mkdir -p "$debian/DEBIAN" "$debian/usr"
cp -R "$tree/bin" "$tree/share" "$debian/usr"
mv "$debian/usr/share/zsh/site-functions" "$debian/usr/share/zsh/vendor-completions"
mv "$debian/usr/share/doc/assay/NOTICES" "$debian/usr/share/doc/assay/copyright"
gzip -n9 "$debian"/usr/share/man/man1/*.1 "$debian/usr/share/doc/assay/CHANGELOG.md"
architecture=$(dpkg --print-architecture)
cat >"$debian/DEBIAN/control" <<END
Package: assay
Version: $version
Architecture: $architecture
Maintainer: ${RELEASE_MAINTAINER:-Assay <assay@example.com>}
Installed-Size: $(du -sk --apparent-size "$debian/usr" | cut -f1)
Depends: libc6 (>= $libc)
Section: science
Priority: optional
Description: converter and runner of Keras, Caffe and Darknet networks for Core ML
 Assay converts trained networks to Core ML, runs them on its own engine, and
 compares the predictions with those of the framework.
END
find "$debian" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$debian" "$packages/assay_${version}_$architecture.deb" >/dev/null

python3 $tools/image.py "$tree/bin" "$packages/assay-$version-oci-$(uname -m).tar" "$version" \
  "$tree/share/doc/assay/NOTICES"
sh $tools/formula.sh "$version" "$packages/$name.tar.gz" >"$packages/assay.rb"

rm -rf "$debian" "$tree"
(cd "$packages" && sha256sum -- *.* >SHA256SUMS)
echo "needs glibc $libc"
ls "$packages"
