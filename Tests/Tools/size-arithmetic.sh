#!/bin/sh
# Fails if a file that handles documents adds, subtracts or multiplies without `import SizeArithmetic`,
# whose operators saturate. Only the files below use operators that wrap round.
set -eu
wrapping='RandomWeights|PackedCodes|PythonMachine\+Calls|PythonMachine\+Values|PythonTensors|CaffeBlob'
status=0
for target in $(awk '/library\(/ { name = "" } /^ +tests\(/ { exit } /library\($/ { getline }
  match($0, /"[A-Za-z]+"/) && name == "" { name = substr($0, RSTART + 1, RLENGTH - 2) }
  /"SizeArithmetic"/ && name != "SizeArithmetic" { print name }' Package.swift); do
  computing=$(grep -rlE '^ *[^ /].*[])A-Za-z0-9_] [-+*]=? [A-Za-z0-9_(-]' "Sources/$target" --include='*.swift') || continue
  for file in $(grep -L '^import SizeArithmetic$' $computing); do
    echo "$file computes without import SizeArithmetic" >&2
    status=1
  done
  if grep -rnE '&[-*+]=? |Int\.[-*+]\(|unsafe(Multiplied|Adding|Subtracting)' "Sources/$target" \
    --include='*.swift' | grep -vE "/($wrapping)\.swift:"; then
    echo "sizes must use checked operators" >&2
    status=1
  fi
done
exit $status
