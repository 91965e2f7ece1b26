#!/bin/sh
# Copies the programs of a folder, stripped, with their man pages and completions:
#     install.sh BINARIES PREFIX
set -eu
cd "$(dirname "$0")/../.."
binaries=$1 prefix=$2
if ! [ -x "$binaries/assay" ] || ! [ -x "$binaries/assay-hdf5" ]; then
  echo "error: $binaries has no programs: run make build first" >&2
  exit 1
fi
install -d "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" \
  "$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d"
for program in assay assay-hdf5; do
  strip -o "$prefix/bin/.$program.new" "$binaries/$program"
  chmod 755 "$prefix/bin/.$program.new"
  mv "$prefix/bin/.$program.new" "$prefix/bin/$program"
done
completions() { "$binaries/assay" --generate-completion-script "$1" >"$prefix/share/$2"; }
completions bash bash-completion/completions/assay
completions zsh zsh/site-functions/_assay
completions fish fish/vendor_completions.d/assay.fish
if command -v python3 >/dev/null; then
  "$binaries/assay" --experimental-dump-help | python3 Tests/Tools/release/manuals.py \
    "$prefix/share/man/man1" "$(sed -n 's/.*assayVersion = "\(.*\)"/\1/p' Sources/Assay/Version.swift)" \
    "$(date -u -d "@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}" +%Y-%m-%d)"
else
  echo "install: without man pages, which need python3" >&2
fi
