#!/bin/sh
# Measures the eight networks beside the peers' engines.
#   measure.sh PEERS RESULT
# PEERS is the folder with bench_peers.py, RESULT one for the samples; PEERS_ROOT in the environment
# is the folder with the models and the virtual environment `venv`. What RESULT holds already is not
# measured again. These change what is run:
#   INSTRUCTION_SET=avx2  keeps AVX-512 from every engine (without-avx512/run.py); unset: what there is
#   THREADS, MODELS, ENGINES, BUDGET_S (seconds for all engines on one network)
#   ASSAY                 the binary
set -eu
peers=$(cd "$1" && pwd)
mkdir -p "$2"
result=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
assay=${ASSAY:-$here/../../.build/release/assay}
threads=${THREADS:-1,2}
models=${MODELS:-vgg16,tinyyolo,style,resnet50,inceptionv3,squeezenet,mobilenet,toy}
engines=${ENGINES:-litert,ort,openvino,ncnn,mnn}
export PYTHONDONTWRITEBYTECODE=1

case ${INSTRUCTION_SET:-} in
  "") restricted() { "$@"; } ;;
  avx2)
    export ASSAY_KERNELS=avx2
    restricted() {
      python3 "$here/without-avx512/run.py" --engines "$engines" --model "${models##*,}" "$peers" "$@"
    } ;;
  *) echo "error: INSTRUCTION_SET: '$INSTRUCTION_SET' is neither avx2 nor unset" >&2; exit 64 ;;
esac

# Samples of one instruction set beside figures of another would say nothing.
mark=$result/instruction-set
if [ -e "$mark" ] && [ "$(cat "$mark")" != "${INSTRUCTION_SET:-}" ]; then
  echo "error: $result was measured with INSTRUCTION_SET='$(cat "$mark")'" >&2
  exit 64
fi
echo "${INSTRUCTION_SET:-}" > "$mark"

if [ ! -e "$result/samples.jsonl" ]; then
  for model in $(echo "$models" | tr , ' '); do
    "$assay" convert "$PEERS_ROOT/models/$model/model.h5" -o "$PEERS_ROOT/models/$model/model.mlmodel" \
      --custom-layers "$peers/rules.json"
  done
  restricted "$PEERS_ROOT/venv/bin/python" "$peers/bench_peers.py" --dir "$result" --models "$models" \
    --threads "$threads" --engines "$engines" --budget-s "${BUDGET_S:-30}" \
    --ext "assay=$assay bench {dir}/model.mlmodel --inputs {dir}/input.npy --threads {threads} --runs {n} --warmup {w} --json"
fi
if [ ! -e "$result/machine.json" ]; then
  python3 "$here/collect.py" "$result" --models "$PEERS_ROOT/models" --assay "$assay" \
    --threads "$threads" --networks "$models" --peak-source "$peers/peak.c"
fi
