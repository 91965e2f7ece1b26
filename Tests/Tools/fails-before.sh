#!/bin/sh
# Shows that the tests of fixes fail without them.
#     fails-before.sh [TEXT]
# For each row of fails-before.tsv (the subject of a commit, a filter of tests) whose subject contains TEXT: checks
# out the commit's parent with the tests and fixtures of the commit, builds it, and runs these tests, which must
# fail. Builds in .build-before; the first build takes minutes.
set -eu
cd "$(dirname "$0")/../.."
table=$PWD/Tests/Tools/fails-before.tsv
tree=$PWD/.build-before
tab=$(printf '\t')
[ -d "$tree" ] || git worktree add --quiet --detach "$tree" HEAD
status=0
while IFS="$tab" read -r subject filter; do
  case $subject in '#'* | '') continue ;; *"${1:-}"*) ;; *) continue ;; esac
  commit=$(git log --format='%H %s' | awk -v s="$subject" 'substr($0, 42) == s { print $1; exit }')
  if [ -z "$commit" ]; then echo "no commit: $subject"; status=1; continue; fi
  git -C "$tree" checkout --quiet --force --detach "$commit^"
  git -C "$tree" checkout --quiet "$commit" -- Tests Fixtures
  if ! (cd "$tree" && swift build --build-tests) >"$tree/build.log" 2>&1; then
    echo "does not compile on the parent: $subject"
    grep -m 1 'error:' "$tree/build.log" || true
    status=1
  elif (cd "$tree" && swift test --skip-build --filter "$filter") >"$tree/test.log" 2>&1; then
    echo "PASSES on the parent: $subject ($filter)"
    status=1
  elif grep -q 'Test run with' "$tree/test.log"; then
    echo "fails on the parent: $subject ($(sed -n 's/.*Test run with \(.*\) failed after.*/\1/p' "$tree/test.log" | tail -1))"
  else
    echo "ran no test: $subject ($filter)"
    status=1
  fi
  git -C "$tree" checkout --quiet --force HEAD -- .
  git -C "$tree" clean -fdq Tests Fixtures
done <"$table"
exit $status
