#!/bin/sh
# Runs the whole binary, worker and all, on a CPU without AVX, and compares with what Keras answered.
set -eu
assay=$1
fixture=Fixtures/demo
if [ "$(uname -sm)" != "Linux x86_64" ] || ! command -v qemu-x86_64 >/dev/null; then
  echo "baseline: SKIPPED, needs Linux on x86-64 and qemu-x86_64"
  exit 0
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# The worker is a process of its own: it runs under the emulator through this wrapper.
worker=$(dirname "$assay")/assay-hdf5
cat >"$out/worker" <<WRAPPER
#!/bin/sh
exec qemu-x86_64 -cpu Nehalem "$(realpath "$worker")" "\$@"
WRAPPER
chmod +x "$out/worker"
emulated() { ASSAY_HDF5_WORKER="$out/worker" qemu-x86_64 -cpu Nehalem "$assay" "$@"; }
emulated convert $fixture/swish.h5 -o "$out/swish.mlmodel" --input-name image --output-name color \
  --image-input image --image-scale 1/127.5 --image-mean 1,1,1 \
  --custom-layers $fixture/rules.json
emulated diff "$out/swish.mlmodel" $fixture/picture.png --expected $fixture/expected.npz
echo "baseline: runs on a Nehalem"
