#!/bin/sh
# In targets that handle documents, a link to SizeArithmetic.swift makes the operators of `Int` saturate.
# Fails if one uses operators that wrap round; only the files below do.
set -eu
wrapping='RandomWeights|PackedCodes|PythonMachine\+Calls|PythonMachine\+Values|PythonTensors|CaffeBlob'
status=0
for link in $(find Sources -name SizeArithmetic.swift -type l); do
  if grep -rnE '&[-*+]=? |Int\.[-*+]\(|unsafe(Multiplied|Adding|Subtracting)' "${link%/*}" \
    --include='*.swift' | grep -vE "/($wrapping)\.swift:"; then
    echo "sizes must use checked operators" >&2
    status=1
  fi
done
exit $status
