/// The files under Support, which are in every package that `assay plugin new` writes, and the Swift
/// files that classes of layers are made of.
#ifndef PLUGIN_SUPPORT_H
#define PLUGIN_SUPPORT_H

#include <stddef.h>

typedef struct {
  /// In the package; of a layer's file its name.
  const char *path;
  const unsigned char *bytes;
  size_t byte_count;
} plugin_support_file;

size_t plugin_support_count(void);
const plugin_support_file *plugin_support_files(void);

size_t plugin_layer_count(void);
const plugin_support_file *plugin_layer_files(void);

#endif
