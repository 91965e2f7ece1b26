#!/bin/sh
# Tries every package of release.sh in a root of its own that holds a C library, a static shell and
# nothing else: converts a network, runs it, and compares it with what Keras computed. Needs the right
# to change the root, and apt to fetch the C library.
#     try.sh [FOLDER]   the packages, by default .build/packages
set -eu
cd "$(dirname "$0")/../../.."
packages=$(realpath "${1:-.build/packages}")
demo=$PWD/Fixtures/demo
glibc=$PWD/.build/static/glibc/root
work=$(mktemp -d)
trap 'umount "$work"/*/dev/null 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$packages"
sha256sum --quiet -c SHA256SUMS

mkdir "$work/debs" "$work/bare"
(
  cd "$work/debs"
  apt-get download -qq libc6 busybox-static 2>/dev/null
  for package in *.deb; do dpkg-deb -x "$package" "$work/bare"; done
  # In newer systems another package makes these links.
  for folder in lib lib64; do
    [ -e "$work/bare/$folder" ] || [ ! -e "$work/bare/usr/$folder" ] || ln -s "usr/$folder" "$work/bare/$folder"
  done
)

root_for() {
  mkdir "$work/$1"
  cp -a "$work/bare/." "$work/$1"
  mkdir -p "$work/$1/tmp"
}

# Runs the program at $2 in the root $1, which has the one device that programs may expect.
convert_and_compare() {
  root=$work/$1
  program=$2
  mkdir -p "$root/demo" "$root/dev" "$root/tmp"
  if ! [ -e "$root/dev/null" ] && ! mknod -m 666 "$root/dev/null" c 1 3 2>/dev/null; then
    : >"$root/dev/null"
    mount --bind /dev/null "$root/dev/null"
  fi
  cp "$demo/swish.h5" "$demo/picture.png" "$demo/labels.txt" "$demo/expected.npz" "$root/demo"
  chroot "$root" "$program" convert /demo/swish.h5 -o /demo/color.mlmodel --lambda auto \
    --image-input image --input-name image --output-name color --image-scale 1/127.5 \
    --red-bias=-1 --green-bias=-1 --blue-bias=-1 --class-labels /demo/labels.txt --quiet
  chroot "$root" "$program" run /demo/color.mlmodel /demo/picture.png >"$work/answer"
  chroot "$root" "$program" diff /demo/color.mlmodel /demo/picture.png \
    --expected /demo/expected.npz >"$work/comparison"
  if ! grep -q '^agrees within tolerance$' "$work/comparison"; then
    echo "error: $1: the prediction differs from Keras's" >&2
    cat "$work/answer" "$work/comparison" >&2
    exit 1
  fi
  echo "$1: agrees within tolerance"
}

root_for tarball
tar -xzf assay-*-linux-*.tar.gz -C "$work/tarball" --strip-components 1
convert_and_compare tarball /bin/assay

# The earliest C library at hand, which the binaries are linked with.
mkdir "$work/earliest"
cp -a "$glibc/." "$work/earliest"
mkdir -p "$work/earliest/tmp"
tar -xzf assay-*-linux-*.tar.gz -C "$work/earliest" --strip-components 1
convert_and_compare earliest /bin/assay

root_for debian
dpkg-deb -x assay_*.deb "$work/debian"
for file in bin/assay-hdf5 share/man/man1/assay-convert.1.gz share/doc/assay/copyright \
  share/bash-completion/completions/assay share/zsh/vendor-completions/_assay \
  share/fish/vendor_completions.d/assay.fish; do
  if [ ! -s "$work/debian/usr/$file" ]; then
    echo "error: the Debian package lacks $file" >&2
    exit 1
  fi
done
convert_and_compare debian /usr/bin/assay

# The image brings its own C library, so that its root starts empty.
mkdir "$work/layout" "$work/image"
tar -xf assay-*-oci-*.tar -C "$work/layout"
python3 - "$work/layout" "$work/image" <<'END'
import hashlib, json, os, sys, tarfile
layout, root = sys.argv[1:]
def blob(digest):
    path = os.path.join(layout, "blobs", *digest.split(":"))
    contents = open(path, "rb").read()
    assert "sha256:" + hashlib.sha256(contents).hexdigest() == digest, path
    return path
index = json.load(open(os.path.join(layout, "index.json")))
manifest = json.load(open(blob(index["manifests"][0]["digest"])))
configuration = json.load(open(blob(manifest["config"]["digest"])))
assert configuration["config"]["Entrypoint"] == ["/usr/bin/assay"]
for layer in manifest["layers"]:
    tarfile.open(blob(layer["digest"])).extractall(root, filter="fully_trusted")
END
convert_and_compare image /usr/bin/assay
