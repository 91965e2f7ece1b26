#!/bin/sh
# Lists the public declarations without a documentation comment, enum cases and requirements of
# public protocols among them.
set -eu
cd "$(dirname "$0")/../.."
found=$(find Sources -name '*.swift' -exec awk '
  # Inside a literal of several lines nothing is declared.
  { quotes = gsub(/"""/, "\"\"\"") }
  isText { if (quotes % 2) isText = 0; next }
  quotes % 2 { isText = 1 }
  FNR == 1 { documented = 0; members = "" }
  /^ *\/\/\// { documented = 1; next }
  /^ *@/ && !/ (public|open|case|func|var|let|init|struct|class|enum) / { next }
  { match($0, /^ */); indent = RLENGTH; isDeclared = 0 }
  /^ *(@[^ ]+ +)*(public|open) / && !/ (extension|import) / { isDeclared = 1 }
  members == "enum" && indent == outer + 2 && /^ *(indirect )?case / { isDeclared = 1 }
  members == "protocol" && indent == outer + 2 &&
    /^ *(static |mutating )*(func|var|init|subscript|associatedtype)/ { isDeclared = 1 }
  isDeclared && !documented { print FILENAME ":" FNR ": " $0 }
  members != "" && indent == outer && /^ *}/ { members = "" }
  /^ *(@[^ ]+ +)*public (indirect )?(enum|protocol) / && /{$/ {
    members = / protocol / ? "protocol" : "enum"; outer = indent
  }
  { documented = 0 }
' {} +)
if [ -n "$found" ]; then
  printf '%s\n' "$found" >&2
  echo "public-docs: $(printf '%s\n' "$found" | wc -l) public declarations have no documentation" >&2
  exit 1
fi
echo "public-docs: every public declaration is documented"
