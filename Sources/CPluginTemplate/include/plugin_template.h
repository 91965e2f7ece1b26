/// The files under Support, which stand in every package that `assay plugin new` writes.
#ifndef PLUGIN_TEMPLATE_H
#define PLUGIN_TEMPLATE_H

#include <stddef.h>

typedef struct {
  /// In the package.
  const char *path;
  const unsigned char *bytes;
  size_t byte_count;
} plugin_template_file;

size_t plugin_template_count(void);
const plugin_template_file *plugin_template_files(void);

#endif
