#!/bin/sh
# Runs docs/examples/spark_predict.py on a local Spark and compares its lines with those of one run.
# usage: spark.sh ASSAY [PYTHON]; PYTHON has pyspark, and a Java runtime is there.
set -eu
assay=$(realpath "$1")
python=${2:-python3}
if ! "$python" -c 'import pyspark' 2>/dev/null; then
  echo "spark: SKIPPED, $python has no pyspark (pip install pyspark)"
  exit 0
fi
if ! command -v java >/dev/null; then
  echo "spark: SKIPPED, there is no java"
  exit 0
fi
cd "$(dirname "$0")/../.."
fixture=$PWD/Fixtures/demo
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$assay" convert "$fixture/swish.h5" -o "$out/m.mlmodel" --input-name image --output-name color \
  --image-input image --image-scale 1/127.5 --image-mean 1,1,1 \
  --labels "$fixture/labels.txt" --custom-layers "$fixture/rules.json"
mkdir "$out/photos"
cp Fixtures/images/*.png Fixtures/images/*.jpg "$out/photos"
head -c 300 Fixtures/images/420.jpg >"$out/photos/broken.jpg"
printf 'no picture' >"$out/photos/a name with spaces.png"
code=0
"$assay" run "$out/m.mlmodel" "$out/photos" --json --quiet --resize squash >"$out/one.jsonl" 2>/dev/null || code=$?
[ $code -eq 2 ] || { echo "spark: one run ended with $code, not 2" >&2; exit 1; }
code=0
"$python" docs/examples/spark_predict.py "$out/m.mlmodel" "$out/photos" --partitions 4 --assay "$assay" \
  --resize squash >"$out/spark.jsonl" 2>"$out/log" || code=$?
[ $code -eq 2 ] || { cat "$out/log" >&2; echo "spark: the example ended with $code, not 2" >&2; exit 1; }
cmp "$out/one.jsonl" "$out/spark.jsonl"
count=$(wc -l <"$out/spark.jsonl")
errors=$(grep -c '"error"' "$out/spark.jsonl")
echo "spark: $count lines, $errors of them errors, the same as in one run"
