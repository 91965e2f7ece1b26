#!/bin/sh
# Installs the packages that a target of the Makefile needs and that are missing:
#     setup.sh [test | emulation | arm64]
# `test` adds what the tests use, `emulation` the emulator of other processors, `arm64` that and a
# compiler for it.
set -eu
if command -v brew >/dev/null; then
  brew install --quiet protobuf-c hdf5 libpng jpeg-turbo pkg-config
  exit
fi
packages="libprotobuf-c-dev libhdf5-dev libpng-dev libjpeg-dev zlib1g-dev pkg-config"
[ "${1:-}" != test ] || packages="$packages protobuf-c-compiler"
case ${1:-} in
  emulation) packages="$packages qemu-user" ;;
  arm64) packages="$packages qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross" ;;
esac
if ! command -v apt-get >/dev/null; then
  echo "error: found neither apt-get nor brew; install these packages yourself: $packages" >&2
  exit 1
fi
missing=
for package in $packages; do
  dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
# libhdf5-dev needs some libcurl-dev; the usual one would replace an older `curl`.
case $missing in
  *libhdf5-dev*) dpkg -s libcurl4-openssl-dev >/dev/null 2>&1 || missing="$missing libcurl4-gnutls-dev" ;;
esac
echo "Installing with apt:$missing"
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
$sudo apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
