#!/bin/sh
# Writes the C code of the specification: generate.sh [FOLDER], by default where it is committed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
output=${1:-"$here/generated"}
mkdir -p "$output"
output=$(cd "$output" && pwd)
cd "$here/proto"
protoc-c --c_out="$output" ./*.proto
