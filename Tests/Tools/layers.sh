#!/bin/sh
# Checks the order of the targets, from the manifest and the `import` lines themselves:
#  - a target imports what it declares and modules of the system, nothing else (SwiftPM lets it import
#    what its dependencies depend on), and declares nothing that it does not import;
#  - rooms that must not see one another do not, through others either;
#  - as a dependency the package has no unsafe flags but those of the kernels, which SwiftPM before 6.3
#    refuses of a version and the manifest leaves out then.
# That no circle is declared SwiftPM checks. With --graph, writes the dependencies as edges instead.
set -eu
cd "$(dirname "$0")/../.."

# Whoever stands left of the colon must not reach what stands right.
apart='
KerasImport: CaffeImport DarknetImport Engine Imaging
CaffeImport: KerasImport DarknetImport Engine Imaging
DarknetImport: KerasImport CaffeImport Engine Imaging HDF5Reader
Engine: KerasImport CaffeImport DarknetImport ImportSupport Imaging
NetworkBuilder: KerasImport CaffeImport DarknetImport ImportSupport
Interpretation: CoreMLModel ImportSupport Formulas Engine
KerasFormat: CoreMLModel ImportSupport Formulas Engine Imaging
CaffeFormat: CoreMLModel ImportSupport Formulas Engine Imaging
DarknetFormat: CoreMLModel ImportSupport Formulas Engine Imaging HDF5Reader
KerasInterpretation: CoreMLModel ImportSupport Formulas Engine Imaging CaffeFormat DarknetFormat
CaffeInterpretation: CoreMLModel ImportSupport Formulas Engine Imaging KerasFormat DarknetFormat
DarknetInterpretation: CoreMLModel ImportSupport Formulas Engine Imaging KerasFormat CaffeFormat
Assay: HDF5Library CHDF5
AssayCommand: HDF5Library CHDF5
'
# LibC is the system's C library under one name.
system='LibC Foundation FoundationEssentials Glibc Darwin Musl Dispatch Synchronization Testing XCTest'

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
list=$folder/list
# One line a target: name, type, kind of module, folder, files with commas between, dependencies.
${SWIFT:-swift} package describe | awk '
  function flush() { if (name != "") print name, type, kind, path, files, deps }
  /^Targets:/ { inside = 1; next }
  !inside { next }
  /^    Name: / { flush(); name = $2; type = kind = path = files = "-"; deps = ""; list = "" }
  /^    Type: / { type = $2 }
  /^    Module type: / { kind = $3 }
  /^    Path: / { path = $2 }
  /^    [A-Z]/ { list = $1 $2 }
  /^        / && list == "Sources:" { files = files "," $1 }
  /^        / && (list ~ /dependencies:$/) { deps = deps " " $1 }
  END { flush() }' >"$list"

if [ "${1:-}" = --graph ]; then
  awk '$2 != "test" { for (i = 6; i <= NF; i++) print $1, $i }' "$list"
  exit
fi

# The modules that Swift files import: what stands above the first declaration.
imports() {
  awk '
    FNR == 1 { header = 1 }
    !header { next }
    /^ *(@[a-zA-Z_]+(\([a-z]+\))? +)*((public|package|internal|private|fileprivate) +)?import +/ {
      sub(/.*import +/, ""); sub(/^(struct|class|enum|func|protocol|typealias|let|var) +/, "")
      sub(/[^A-Za-z0-9_].*/, ""); print; next
    }
    /^ *(@|public|package|internal|private|fileprivate|open|final|struct|enum|class|actor|protocol|extension|func|let|var|typealias)/ {
      header = 0
    }' "$@" | sort -u
}

status=0
fail() { echo "layers: $*" >&2; status=1; }

while read -r name type kind path files dependencies; do
  [ "$kind" = SwiftTarget ] || continue
  # shellcheck disable=SC2046
  used=$(imports $(printf '%s' "${files#-,}" | tr ',' '\n' | sed "s|^|$path/|"))
  for module in $used; do
    case " $name $system $dependencies " in
      *" $module "*) ;;
      *) fail "$name imports $module and does not declare it" ;;
    esac
  done
  for module in $dependencies; do
    # A test runs a program without importing it, and is always given TestSupport. Kernels exports its
    # interface, and whoever uses that declares it, so that nothing stale is linked where it changes.
    case $module in TestSupport | LibC | KernelInterface) continue ;; esac
    ! grep -q "^$module executable" "$list" || continue
    printf '%s\n' "$used" | grep -qx "$module" || fail "$name declares $module and does not import it"
  done
done <"$list"

# SwiftPM keeps dependencies in folders of this name.
mkdir -p "$folder/checkouts/assay"
cp Package.swift "$folder/checkouts/assay"
${SWIFT:-swift} package --package-path "$folder/checkouts/assay" dump-package >"$folder/manifest"
[ "$(grep -c '"unsafeFlags"' "$folder/manifest")" -le 3 ] ||
  fail "a dependency on the package gets more unsafe flags than those of three kernel targets"

reached() {
  awk -v start="$1" '
    { for (i = 6; i <= NF; i++) edges[$1] = edges[$1] " " $i }
    function visit(name,   parts, count, i) {
      count = split(edges[name], parts, " ")
      for (i = 1; i <= count; i++) if (!(parts[i] in seen)) { seen[parts[i]]; print parts[i]; visit(parts[i]) }
    }
    END { visit(start) }' "$list"
}
printf '%s\n' "$apart" | while IFS=: read -r name others; do
  [ -n "$name" ] || continue
  grep -q "^$name " "$list" || { echo "layers: there is no target $name" >&2; exit 1; }
  all=$(reached "$name")
  for other in $others; do
    ! printf '%s\n' "$all" | grep -qx "$other" || { echo "layers: $name reaches $other" >&2; exit 1; }
  done
done || status=1
[ $status -ne 0 ] || echo "layers: every import is declared and looks down"
exit $status
