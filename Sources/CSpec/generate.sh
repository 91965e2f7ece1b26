#!/bin/sh
# Writes the C code of the specification: generate.sh [FOLDER], by default where it is committed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
output=${1:-"$here/generated"}
mkdir -p "$output"
output=$(cd "$output" && pwd)
cd "$here/proto"
protoc-c --c_out="$output" ./*.proto
# Of two members named `base`, the message and a field of Exp and Log, the field gets another name in C.
for file in "$output"/caffe.pb-c.h "$output"/caffe.pb-c.c; do
  sed -e 's/^  float base;/  float base_;/' -e 's/\(offsetof(Caffe__[A-Za-z]*, base\))/\1_)/' \
    "$file" >"$file.new"
  mv "$file.new" "$file"
done
