#!/bin/sh
# Shows that the tests of fixes fail without them, for each row of fails-before.tsv (the subject of a commit, a
# filter of tests) whose subject contains TEXT.
#     fails-before.sh [TEXT]               builds the parent of the commit with its tests and fixtures, in
#                                          .build-before; takes minutes for each row
#     fails-before.sh --binary OLD [TEXT]  runs today's tests with an older program; tests that do not run the
#                                          program pass
set -eu
cd "$(dirname "$0")/../.."
table=$PWD/Tests/Tools/fails-before.tsv
tree=$PWD/.build-before
tab=$(printf '\t')
binary=
if [ "${1:-}" = --binary ]; then
  binary=$(realpath "$2")
  shift 2
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0

# The result of the tests in this folder, which must fail.
judge() {
  if swift test --skip-build --filter "$filter" >"$log" 2>&1 </dev/null; then
    echo "PASSES: $subject ($filter)"
    status=1
  elif grep -q 'Test run with' "$log"; then
    echo "fails: $subject ($(sed -n 's/.*Test run with \(.*\) failed after.*\( with.*\)/\1\2/p' "$log" | tail -1))"
  else
    echo "ran no test: $subject ($filter)"
    status=1
  fi
}

[ -n "$binary" ] || [ -d "$tree" ] || git worktree add --quiet --detach "$tree" HEAD
while IFS="$tab" read -r subject filter; do
  case $subject in '#'* | '') continue ;; *"${1:-}"*) ;; *) continue ;; esac
  if [ -n "$binary" ]; then
    export ASSAY_BINARY="$binary"
    judge
    continue
  fi
  commit=$(git log --format='%H %s' | awk -v s="$subject" 'substr($0, 42) == s { print $1; exit }')
  if [ -z "$commit" ]; then
    echo "no commit: $subject"
    status=1
    continue
  fi
  git -C "$tree" checkout --quiet --force --detach "$commit^"
  git -C "$tree" checkout --quiet "$commit" -- Tests Fixtures
  cd "$tree"
  if swift build --build-tests >"$log" 2>&1 </dev/null; then
    judge
  else
    echo "does not compile on the parent: $subject: $(grep -m 1 'error:' "$log")"
    status=1
  fi
  cd - >/dev/null
  git -C "$tree" checkout --quiet --force HEAD -- .
  git -C "$tree" clean -fdq Tests Fixtures
done <"$table"
exit $status
