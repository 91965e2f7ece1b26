#!/bin/sh
# Writes generated/embed.c from the files of Support and Layers, and those of CustomLayers/Shared,
# which the engine and an app's classes have in common.
set -eu
cd "$(dirname "$0")"
{
  printf '#include "plugin_support.h"\n\n'
  printf '// A language extension of the compilers that come with Swift 6.2 and later.\n'
  printf '#pragma clang diagnostic ignored "-Wc23-extensions"\n\n'
  number=0
  table() {
    list=$1 rows=
    shift
    for file in $(find "$@" \( -type f -o -type l \) | LC_ALL=C sort); do
      printf 'static const unsigned char file%d[] = {\n#embed "../%s"\n};\n' $number "$file"
      name=$file
      [ "$list" = support ] || name=$(basename "$file")
      rows="$rows    {\"$name\", file$number, sizeof file$number},
"
      number=$((number + 1))
    done
    printf '\nstatic const plugin_support_file %s[] = {\n%s};\n\n' "$list" "$rows"
  }
  table support Support
  table layers Layers ../CustomLayers/Shared
  cat <<'END'
size_t plugin_support_count(void) { return sizeof support / sizeof support[0]; }

const plugin_support_file *plugin_support_files(void) { return support; }

size_t plugin_layer_count(void) { return sizeof layers / sizeof layers[0]; }

const plugin_support_file *plugin_layer_files(void) { return layers; }
END
} >generated/embed.c
