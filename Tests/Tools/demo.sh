#!/bin/sh
# Converts Keras and Caffe networks, runs them on photographs, and compares one with Keras's
# prediction. The images are kept in demo/.
set -eu
assay=$1
fixture=Fixtures/demo
pictures=demo
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir -p $pictures
title() { printf '\n== %s\n' "$*"; }
say() { printf '\n$ assay %s\n' "$*"; }
step() { say "$@" && "$assay" "$@"; }

title "Style transfer: from a photograph to an image (Keras, built-in custom layers)"
step convert $fixture/style.h5 -o "$out/style.mlmodel" --input-name image --output-name picture \
  --image-input image --image-output picture --custom-layers $fixture/style_rules.json
step run "$out/style.mlmodel" $fixture/eagle.jpg --resize center-crop -o $pictures/style.png

title "A classifier (Keras)"
step convert $fixture/cifar10_resnet.h5 -o "$out/resnet.mlmodel" --input-name image \
  --output-name classes --image-input image --labels $fixture/cifar10.txt
step run "$out/resnet.mlmodel" $fixture/eagle.jpg --resize squash --interpolation box --top 3

title "A detector (Caffe, YOLO v3 grids)"
step convert $fixture/mobilenet_yolo.prototxt $fixture/mobilenet_yolo.caffemodel \
  -o "$out/yolo.mlmodel" --image-input data --color rgb --image-scale 1/256
step run "$out/yolo.mlmodel" $fixture/person.jpg --resize squash --detect yolov3 \
  --anchors 26,48,67,84,72,175,189,126,137,236,265,259 --labels $fixture/voc.txt \
  --detector layer69-conv.scale_x_y=1.1 --detector layer79-conv.scale_x_y=1.05 \
  --detector threshold=0.5 -o $pictures/boxes.png --coco $pictures/boxes.json
printf '\nImages: %s of %s, %s of %s\n' \
  $pictures/style.png $fixture/eagle.jpg $pictures/boxes.png $fixture/person.jpg

title "A Lambda as a custom layer, compared with Keras's prediction"
step convert $fixture/swish.h5 -o "$out/swish.mlmodel" --input-name image --output-name color \
  --image-input image --image-scale 1/127.5 --image-mean 1,1,1 \
  --labels $fixture/labels.txt --custom-layers $fixture/rules.json
step inspect "$out/swish.mlmodel"
step run "$out/swish.mlmodel" $fixture/picture.png
step diff "$out/swish.mlmodel" $fixture/picture.png --expected $fixture/expected.npz
