/// The files under Support, which stand in every package that `assay plugin new` writes.
#ifndef PLUGIN_SUPPORT_H
#define PLUGIN_SUPPORT_H

#include <stddef.h>

typedef struct {
  /// In the package.
  const char *path;
  const unsigned char *bytes;
  size_t byte_count;
} plugin_support_file;

size_t plugin_support_count(void);
const plugin_support_file *plugin_support_files(void);

#endif
