#include "CSystem.h"

static int count;
static char **values;

#if defined(__GLIBC__) || defined(__APPLE__)
// Both pass main's arguments to constructors.
__attribute__((constructor)) static void keep(int argc, char **argv) {
  count = argc;
  values = argv;
}
#endif

int assay_argument_count(void) { return count; }

const char *assay_argument(int index) {
  return index >= 0 && index < count ? values[index] : NULL;
}
