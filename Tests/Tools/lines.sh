#!/bin/sh
# Counts the hand-written lines of Sources: all languages, without generated code and .proto files.
set -eu
cd "$(dirname "$0")/../.."
list() {
  find Sources -type f ! -path '*/generated/*' \( -name '*.swift' -o -name '*.c' -o -name '*.h' -o -name '*.py' \
    -o -name '*.js' -o -name '*.css' -o -name '*.metal' \) -print0
}
list | xargs -0 cat | wc -l | awk '{ print "lines", $1 }'
list | xargs -0 wc -l | awk '$2 != "total" { split($2, p, "/"); n[p[2]] += $1 } END { for (t in n) print n[t], t }' | sort -rn
