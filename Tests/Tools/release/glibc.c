// What the static binaries use of glibc and glibc 2.28 lacks: later versions of functions, which set
// errno in another way, and some functions for the runtime of C++.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

// Not for others: they would find it where they look for the C library's.
#define HIDDEN __attribute__((visibility("hidden")))

// The first version of the C library for the architecture.
#if defined(__aarch64__)
#define FIRST "GLIBC_2.17"
#else
#define FIRST "GLIBC_2.2.5"
#endif

#define EARLIER(name, parameters, arguments)              \
  __asm__(".symver earlier_" #name "," #name "@" FIRST);  \
  double earlier_##name parameters;                       \
  HIDDEN double name parameters;                          \
  double name parameters { return earlier_##name arguments; }
EARLIER(exp, (double x), (x))
EARLIER(exp2, (double x), (x))
EARLIER(log, (double x), (x))
EARLIER(log2, (double x), (x))
EARLIER(pow, (double x, double y), (x, y))

HIDDEN unsigned arc4random(void) {
  unsigned value;
  if (getrandom(&value, sizeof value, 0) != sizeof value) abort();
  return value;
}

struct search {
  uintptr_t address;
  struct dl_find_object *found;
};

static int visit(struct dl_phdr_info *image, size_t size, void *context) {
  (void)size;
  struct search *search = context;
  const void *table = NULL;
  uintptr_t start = 0, end = 0;
  for (int i = 0; i < image->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &image->dlpi_phdr[i];
    uintptr_t first = image->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_GNU_EH_FRAME) table = (const void *)first;
    if (segment->p_type == PT_LOAD && search->address - first < segment->p_memsz) {
      start = first;
      end = first + segment->p_memsz;
    }
  }
  if (end == 0) return 0;
  *search->found = (struct dl_find_object){
      .dlfo_map_start = (void *)start, .dlfo_map_end = (void *)end, .dlfo_eh_frame = (void *)table};
  return table ? 1 : -1;
}

// Whether there has been one thread only, for which the C++ library skips atomic operations.
HIDDEN char __libc_single_threaded = 0;

HIDDEN int _dl_find_object(void *address, struct dl_find_object *result) {
  struct search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(visit, &search) == 1 ? 0 : -1;
}
