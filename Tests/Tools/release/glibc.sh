#!/bin/sh
# Fetches the C library of Debian 11 and arranges it for the linker in FOLDER: what is linked with it
# and with glibc.c needs no glibc later than 2.28.
#     glibc.sh FOLDER
set -eu
tools=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/apt/lists/partial" "$1/apt/cache/archives/partial"
cd "$1"
folder=$PWD
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keys] ${DEBIAN_MIRROR:-http://deb.debian.org/debian} bullseye main" >apt/sources.list
apt() {
  apt-get -qq -o Dir::Etc::SourceList="$folder/apt/sources.list" -o Dir::Etc::SourceParts=- \
    -o Dir::State::Lists="$folder/apt/lists" -o Dir::Cache="$folder/apt/cache" \
    -o Dir::State::status=/dev/null -o APT::Sandbox::User=root "$@"
}
if [ ! -e root ]; then
  apt update
  apt download libc6 libc6-dev
  for package in libc6*.deb; do dpkg-deb -x "$package" root.new; done
  mv root.new root
fi
machine=$(uname -m)-linux-gnu
cp root/usr/lib/"$machine"/crt[1in].o root/usr/lib/"$machine"/Scrt1.o \
  root/usr/lib/"$machine"/libc_nonshared.a .
for library in c m pthread dl rt util; do
  file=$(basename root/lib/"$machine"/lib$library.so.*)
  cp -L "root/lib/$machine/$file" "$file"
  ln -sf "$file" "lib$library.so"
done
loader=$(basename root/lib/"$machine"/ld-linux-*)
cp -L "root/lib/$machine/$loader" "$loader"
rm libc.so
echo "GROUP ( $folder/libc.so.6 $folder/libc_nonshared.a AS_NEEDED ( $folder/$loader ) )" >libc.so
cc -O2 -Wall -Wextra -fno-builtin -c "$tools/glibc.c" -o glibc.o
