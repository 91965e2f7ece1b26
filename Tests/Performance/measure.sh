#!/bin/sh
# Measures the eight networks beside the peers and writes docs/performance.md.
#   measure.sh PEERS RESULT
# PEERS holds bench_peers.py; PEERS_ROOT the models and the virtual environment `venv`; RESULT is a
# folder for the samples. THREADS, MODELS, ENGINES and BUDGET_S change what is run, ASSAY the binary.
set -eu
peers=$(cd "$1" && pwd)
mkdir -p "$2"
result=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
assay=${ASSAY:-$here/../../.build/release/assay}
threads=${THREADS:-1,2}
models=${MODELS:-vgg16,tinyyolo,style,resnet50,inceptionv3,squeezenet,mobilenet,toy}
export PYTHONDONTWRITEBYTECODE=1
if [ ! -e "$result/samples.jsonl" ]; then
  for model in $(echo "$models" | tr , ' '); do
    "$assay" convert "$PEERS_ROOT/models/$model/model.h5" -o "$PEERS_ROOT/models/$model/model.mlmodel" \
      --custom-layers "$peers/rules.json"
  done
  "$PEERS_ROOT/venv/bin/python" "$peers/bench_peers.py" --dir "$result" --models "$models" \
    --threads "$threads" --engines "${ENGINES:-litert,ort,openvino,ncnn,mnn}" --budget-s "${BUDGET_S:-30}" \
    --ext "assay=$assay bench {dir}/model.mlmodel --input {dir}/input.npy --threads {threads} --runs {n} --warmup {w} --json"
fi
if [ ! -e "$result/machine.json" ]; then
  python3 "$here/collect.py" "$result" --models "$PEERS_ROOT/models" --assay "$assay" \
    --threads "$threads" --networks "$models" --peak-source "$peers/peak.c"
fi
python3 "$here/report.py" "$result"
