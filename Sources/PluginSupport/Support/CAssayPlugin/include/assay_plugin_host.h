/// The program that has loaded this plug-in.
#ifndef ASSAY_PLUGIN_HOST_H
#define ASSAY_PLUGIN_HOST_H

#include "assay_plugin.h"

#define ASSAY_INTERNAL __attribute__((visibility("hidden")))

/// Its functions; NULL in the package's own tests.
ASSAY_INTERNAL const assay_host *assay_plugin_host(void);
ASSAY_INTERNAL void assay_plugin_set_host(const assay_host *host);

#endif
