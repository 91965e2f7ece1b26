#!/bin/sh
# Converts the demonstration network, runs it on a picture, and shows that the difference is nothing.
set -eu
assay=$1
fixture=Fixtures/demo
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
say() { printf '\n$ assay %s\n' "$*"; }
step() { say "$@" && "$assay" "$@"; }
step convert $fixture/swish.h5 -o "$out/swish.mlmodel" --input-name image --output-name color \
  --image-input image --image-scale 1/127.5 --red-bias=-1 --green-bias=-1 --blue-bias=-1 \
  --class-labels $fixture/labels.txt --custom-layers $fixture/rules.json
step inspect "$out/swish.mlmodel"
step run "$out/swish.mlmodel" $fixture/picture.png
step diff "$out/swish.mlmodel" $fixture/picture.png --expected $fixture/expected.npz
