#!/bin/sh
# Runs a command as if this were Debian on arm64: with Debian's Swift for x86-64, which compiles for arm64,
# with Debian's libraries for arm64, and with an emulator that the kernel starts for programs of arm64, in
# this namespace alone. What the command builds is in .build/cross/build. Needs 8 GB, and Debian on x86-64
# with gcc-aarch64-linux-gnu.
#     cross.sh COMMAND…   for example, cross.sh make release
set -eu
cd "$(dirname "$0")/../../.."
folder=$PWD/.build/cross
if [ "${ASSAY_CROSS:-}" != inside ]; then
  # Fetches packages of Debian with what they need, and unpacks them: architecture, packages
  fetch() {
    architecture=$1
    shift
    apt=$folder/apt/$architecture
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    {
      echo "APT::Architecture \"$architecture\"; APT::Architectures { \"$architecture\"; };"
      echo 'APT::Install-Recommends "0"; APT::Sandbox::User "root"; Debug::NoLocking "1";'
      echo 'Dir::Etc::SourceList "/mnt/apt/list"; Dir::Etc::SourceParts "-"; Dir::State::status "/dev/null";'
      echo "Dir::State::Lists \"/mnt/apt/$architecture/lists\"; Dir::Cache \"/mnt/apt/$architecture/cache\";"
    } >"$apt.conf"
    sed "s|/mnt|$folder|g" "$apt.conf" >"$apt.here"
    [ ! -e "$folder/$architecture" ] || return 0
    APT_CONFIG=$apt.here apt-get -qq update
    APT_CONFIG=$apt.here apt-get -qq -y --download-only install "$@"
    root=$folder/$architecture.new
    mkdir -p "$root/var/lib/dpkg/info" "$root/mnt" "$root/work"
    for package in "$apt"/cache/archives/*.deb; do
      dpkg-deb -x "$package" "$root"
      { dpkg-deb -f "$package" && printf 'Status: install ok installed\n\n'; } >>"$root/var/lib/dpkg/status"
    done
    rm "$apt"/cache/archives/*.deb
    mv "$root" "$folder/$architecture"
  }
  mkdir -p "$folder/apt" "$folder/build" "$folder/bin" "$folder/lib" "$folder/share/swift"
  keys=/usr/share/keyrings/debian-archive-keyring.gpg
  echo "deb [signed-by=$keys] ${DEBIAN_MIRROR:-http://deb.debian.org/debian} sid main" >"$folder/apt/list"
  fetch amd64 bash ca-certificates coreutils dash g++ git pkgconf qemu-user swiftlang
  fetch arm64 g++ libhdf5-dev libjpeg-dev libpng-dev libprotobuf-c-dev pkg-config \
    python3-pip python3-venv swiftlang zlib1g-dev
  ASSAY_CROSS=inside exec unshare --user --map-root-user --mount sh Tests/Tools/release/cross.sh "$@"
fi

# Only /tmp and this folder can be written.
mount --bind /tmp /tmp
mount --bind "$PWD" "$PWD"
mount -o remount,bind,ro /
cd "$PWD"
mount --bind "$folder" /mnt
mount --bind "$folder/build" .build
for place in /dev /proc /etc "$PWD"; do
  mkdir -p "/mnt/amd64$place"
  mount --rbind "$place" "/mnt/amd64$place"
done
mount --rbind /mnt /mnt/amd64/mnt
# The linker of every architecture.
ln -sf /usr/libexec/swift/bin/ld.lld /mnt/amd64/usr/bin/ld
# A link that the compiler expects, and one that a script of a package would make.
ln -sfn ../libexec/swift/lib/swift_static /mnt/arm64/usr/lib/swift_static
ln -sf hdf5-serial.pc /mnt/arm64/usr/lib/aarch64-linux-gnu/pkgconfig/hdf5.pc
# The system's programs see the libraries, packages and licenses of arm64.
for name in aarch64-linux-gnu ld-linux-aarch64.so.1; do
  ln -sfn "/mnt/arm64/usr/lib/$name" "/mnt/lib/$name"
done
mount -t overlay -o lowerdir=/mnt/lib:/usr/lib overlay /usr/lib
for place in /usr/share/doc /var/lib/dpkg; do mount --bind "/mnt/arm64$place" "$place"; done
ln -sf /mnt/arm64/usr/share/doc/swiftlang/copyright /mnt/share/swift/LICENSE.txt
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf '%s' ":arm64:M::$magic:$mask:/mnt/amd64/usr/bin/qemu-aarch64:OCF" >/proc/sys/fs/binfmt_misc/register

# Programs that say and do what they would on arm64.
tool() { { echo '#!/bin/sh' && cat; } >"/mnt/bin/$1" && chmod 755 "/mnt/bin/$1"; }
for name in ar ld nm objcopy objdump readelf strip; do
  ln -sf "/usr/bin/aarch64-linux-gnu-$name" "/mnt/bin/$name"
done
tool uname <<'EOF'
[ "$*" = -m ] && echo aarch64 || exec /usr/bin/uname "$@"
EOF
tool dpkg <<'EOF'
case $1 in
  --print-architecture) echo arm64 ;;
  -S) echo "$2" | sed 's|.*/\([0-9]*\)/[^/]*$|libstdc++-\1-dev:|' ;;
  *) exec /usr/bin/dpkg "$@" ;;
esac
EOF
tool ldd <<'EOF'
exec /lib/ld-linux-aarch64.so.1 --list "$1"
EOF
tool cc <<'EOF'
case $1 in
  -print-file-name=*)
    lib=/mnt/arm64/usr/lib
    for place in $lib/aarch64-linux-gnu $lib/aarch64-linux-gnu/hdf5/serial $lib/gcc/aarch64-linux-gnu/*; do
      [ ! -e "$place/${1#*=}" ] || exec echo "$place/${1#*=}"
    done
    exec echo "${1#*=}"
    ;;
  *) exec aarch64-linux-gnu-gcc "$@" ;;
esac
EOF
tool python3 <<'EOF'
exec /mnt/arm64/usr/bin/python3 "$@"
EOF
tool swift <<'EOF'
command=$1
shift
[ "$command" != build ] || set -- --disable-sandbox --destination /mnt/arm64.json "$@"
exec chroot /mnt/amd64 /usr/bin/env -C "$PWD" HOME=/tmp TMPDIR=/tmp PATH=/usr/libexec/swift/bin:/usr/bin swift "$command" "$@"
EOF
tool swiftc <<'EOF'
export TMPDIR=/tmp
exec chroot /mnt/amd64 /usr/libexec/swift/bin/swiftc -target aarch64-unknown-linux-gnu -sdk /mnt/arm64 \
  -resource-dir /mnt/arm64/usr/libexec/swift/lib/swift_static "$@"
EOF
cat >/mnt/arm64.json <<'EOF'
{"version": 1, "sdk": "/mnt/arm64", "toolchain-bin-dir": "/usr/libexec/swift/bin",
 "target": "aarch64-unknown-linux-gnu", "dynamic-library-extension": "so",
 "extra-cc-flags": ["-fPIC"], "extra-swiftc-flags": ["-sdk", "/mnt/arm64", "-resource-dir", "/mnt/arm64/usr/libexec/swift/lib/swift_static"], "extra-cpp-flags": []}
EOF
PATH=/mnt/bin:$PATH
APT_CONFIG=/mnt/apt/arm64.conf
PKG_CONFIG_LIBDIR=/mnt/arm64/usr/lib/aarch64-linux-gnu/pkgconfig
PKG_CONFIG_SYSROOT_DIR=/mnt/arm64
export PATH APT_CONFIG PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
"$@"
