#!/bin/sh
# Fails if a target that handles documents multiplies or adds sizes without a check: each needs the
# operators of SizeArithmetic.swift, and only the files below use those that wrap round.
set -eu
source=Sources/CoreMLModel/SizeArithmetic.swift
wrapping='RandomWeights|PackedCodes|PythonMachine\+Calls|PythonMachine\+Values|PythonTensors|CaffeBlob'
status=0
for target in CoreMLModel ModelTransforms ImportSupport KerasFormat CaffeFormat DarknetFormat \
  KerasImport CaffeImport DarknetImport ModelPrediction FeatureModels Programs Assay; do
  cmp -s "$source" "Sources/$target/SizeArithmetic.swift" || {
    echo "Sources/$target has no link to $source, so its sizes overflow" >&2
    status=1
  }
  if grep -rnE '&[-*+]=? |Int\.[-*+]\(|unsafe(Multiplied|Adding|Subtracting)' "Sources/$target" \
    --include='*.swift' | grep -vE "/($wrapping)\.swift:"; then
    echo "sizes must use checked operators" >&2
    status=1
  fi
done
exit $status
