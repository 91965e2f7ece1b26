#!/bin/sh
# Writes the picture of docs/architecture.md: the targets of Swift and what they depend on, from the
# manifest. An edge that follows from others is left out.
set -eu
cd "$(dirname "$0")/../.."
page=docs/architecture.md
picture=$(mktemp)
trap 'rm -f "$picture"' EXIT
sh Tests/Tools/layers.sh --graph | awk '
  $1 !~ /^C[A-Z][a-zA-Z0-9]*$/ || $1 ~ /^(CaffeFormat|CaffeImport|CaffeInterpretation|CoreMLModel|CustomLayers)$/ {
    if ($2 ~ /^C[A-Z]/ && $2 !~ /^(CaffeFormat|CaffeImport|CaffeInterpretation|CoreMLModel|CustomLayers)$/) next
    if ($2 ~ /^(LibC|ArgumentParser)$/ || $1 ~ /Benchmarks|TestSupport/) next
    edges[$1] = edges[$1] " " $2; pairs[++n] = $1 " " $2
  }
  function reaches(from, to, direct,   parts, count, i) {
    count = split(edges[from], parts, " ")
    for (i = 1; i <= count; i++) {
      if (direct && parts[i] == to) continue
      if (parts[i] == to || reaches(parts[i], to, 0)) return 1
    }
    return 0
  }
  END {
    print "```mermaid"; print "graph TD"
    for (i = 1; i <= n; i++) {
      split(pairs[i], pair, " ")
      if (!reaches(pair[1], pair[2], 1)) print "  " pair[1] " --> " pair[2] | "sort"
    }
    close("sort"); print "```"
  }' >"$picture"
awk -v picture="$picture" '
  /^<!-- dependencies/ { print; while ((getline line < picture) > 0) print line; skip = 1; next }
  /^<!-- end/ { skip = 0 }
  !skip { print }' "$page" >"$page.new"
mv "$page.new" "$page"
