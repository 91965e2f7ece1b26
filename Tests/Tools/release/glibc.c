// What the static binaries use of glibc and glibc 2.28 lacks: later versions of functions, which set
// errno in another way, and some functions for the runtime of C++.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

// What headers of glibc 2.38 and later make of these functions, which read binary numbers, too.
#define NEWER(type, name, parameters, arguments)        \
  extern type earlier_##name parameters __asm__(#name); \
  HIDDEN type __isoc23_##name parameters { return earlier_##name arguments; }
NEWER(long, strtol, (const char *text, char **end, int base), (text, end, base))
NEWER(unsigned long, strtoul, (const char *text, char **end, int base), (text, end, base))
NEWER(long long, strtoll, (const char *text, char **end, int base), (text, end, base))
NEWER(unsigned long long, strtoull, (const char *text, char **end, int base), (text, end, base))
NEWER(int, vsscanf, (const char *text, const char *format, va_list values), (text, format, values))
NEWER(int, vfscanf, (FILE *file, const char *format, va_list values), (file, format, values))

HIDDEN int __isoc23_sscanf(const char *text, const char *format, ...) {
  va_list values;
  va_start(values, format);
  int count = __isoc23_vsscanf(text, format, values);
  va_end(values);
  return count;
}

HIDDEN int __isoc23_fscanf(FILE *file, const char *format, ...) {
  va_list values;
  va_start(values, format);
  int count = __isoc23_vfscanf(file, format, values);
  va_end(values);
  return count;
}

HIDDEN size_t strlcpy(char *target, const char *text, size_t size) {
  size_t length = strlen(text), count = length < size ? length : size - 1;
  if (size > 0) {
    memcpy(target, text, count);
    target[count] = 0;
  }
  return length;
}
