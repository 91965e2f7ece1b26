#include "assay_plugin_host.h"

static const assay_host *current;

const assay_host *assay_plugin_host(void) { return current; }

void assay_plugin_set_host(const assay_host *host) { current = host; }
