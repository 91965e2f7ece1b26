#!/bin/sh
# Makes the images of the documentation with the program: docs/images.
set -eu
assay=$1
fixture=Fixtures/demo
images=docs/images
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir -p $images

"$assay" convert $fixture/style.h5 -o "$out/style.mlmodel" --lambda auto \
  --input-name image --output-name picture --image-input image --image-output picture
"$assay" run "$out/style.mlmodel" $fixture/eagle.jpg --resize center-crop -o $images/style.png

"$assay" convert $fixture/mobilenet_yolo.prototxt $fixture/mobilenet_yolo.caffemodel \
  -o "$out/yolo.mlmodel" --image-input data --color rgb --image-scale 1/256
"$assay" run "$out/yolo.mlmodel" $fixture/person.jpg --resize squash --detect yolov3 \
  --anchors 26,48,67,84,72,175,189,126,137,236,265,259 --labels $fixture/voc.txt \
  --detector layer69-conv.scale_x_y=1.1 --detector layer79-conv.scale_x_y=1.05 \
  --detector threshold=0.5 -o $images/boxes.png
