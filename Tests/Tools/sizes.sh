#!/bin/sh
# Counts what the house is to stay small in, and fails where a limit is passed: no file of Sources
# above 400 lines, no initializer with more than ten parameters. Generated code does not count.
set -eu
cd "$(dirname "$0")/../.."
most_lines=400
most_parameters=10

swift_files() { find Sources -name '*.swift' -type f; }
count() { printf '%8d  %s\n' "$1" "$2"; }

count "$(swift_files | xargs cat | wc -l)" "lines of Swift in Sources"
count "$(find Sources -type f \( -name '*.c' -o -name '*.h' \) ! -path 'Sources/CSpec/*' | xargs cat | wc -l)" \
  "lines of C in Sources, without generated code"
count "$(swift_files | wc -l)" "files of Swift in Sources"
count "$(find Tests -name '*.swift' | xargs cat | wc -l)" "lines of Swift in Tests"
count "$(swift_files | xargs grep -hE '^ *#if .*(canImport\((Glibc|Darwin|Musl)\)|os\()' | wc -l)" \
  "forks by system"
count "$(swift_files | xargs grep -hE '(struct|class|enum) [A-Za-z]*JSON[A-Za-z]*(Parser|Scanner)|JSONSerialization|JSONDecoder' | wc -l)" \
  "parsers of JSON"

# An initializer's parameters are the colons at the depth of its own parentheses.
long=$(swift_files | xargs awk -v most=$most_parameters '
  FNR == 1 { open = 0 }
  open == 0 && /(^| )init[?!]?(<[^>]*>)?\(/ {
    open = 1; line = FNR; depth = 0; colons = 0; sub(/^.*init[?!]?(<[^>]*>)?\(/, "(")
  }
  open == 1 {
    text = $0; sub(/\/\/.*/, "", text); gsub(/"[^"]*"/, "", text)
    for (i = 1; i <= length(text); i++) {
      c = substr(text, i, 1)
      if (c == "(" || c == "[") depth++
      else if (c == ")" || c == "]") { depth--; if (depth == 0) { open = 0; break } }
      else if (c == ":" && depth == 1) colons++
    }
    if (open == 0 && colons > most) print FILENAME ":" line ": an initializer with " colons " parameters"
  }')
high=$(swift_files | xargs wc -l | awk -v most=$most_lines '
  $2 != "total" && $1 > most { print $2 ": " $1 " lines" }')
[ -z "$long$high" ] || { printf '%s\n' "$long" "$high" | sed '/^$/d; s/^/sizes: /' >&2; exit 1; }
