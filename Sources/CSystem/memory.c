#include "CSystem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static unsigned long long least(unsigned long long a, unsigned long long b) {
  return a < b ? a : b;
}

#ifdef __linux__
// The number in a file, or the largest where it has none ("max").
static unsigned long long number(const char *path) {
  FILE *file = fopen(path, "re");
  unsigned long long value = 0;
  if (!file) return ~0ull;
  if (fscanf(file, "%llu", &value) != 1) value = ~0ull;
  fclose(file);
  return value;
}
#endif

// The least limit of the process's control group and those around it.
static unsigned long long groupLimit(void) {
  unsigned long long result = ~0ull;
#ifdef __linux__
  FILE *file = fopen("/proc/self/cgroup", "re");
  if (!file) return result;
  char line[1024], path[1200];
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue;
    *group++ = 0;
    int isUnified = controllers[1] == 0;
    if (!isUnified && !strstr(controllers, "memory")) continue;
    for (;;) {
      snprintf(path, sizeof path, "/sys/fs/cgroup%s%s/%s", isUnified ? "" : "/memory", group,
               isUnified ? "memory.max" : "memory.limit_in_bytes");
      result = least(result, number(path));
      char *slash = strrchr(group, '/');
      if (!slash || !group[0]) break;
      *slash = 0;
    }
  }
  fclose(file);
#endif
  return result;
}

size_t assay_memory_limit(void) {
  unsigned long long result = groupLimit();
  struct rlimit limits;
  if (getrlimit(RLIMIT_AS, &limits) == 0 && limits.rlim_cur != RLIM_INFINITY)
    result = least(result, limits.rlim_cur);
  if (getrlimit(RLIMIT_DATA, &limits) == 0 && limits.rlim_cur != RLIM_INFINITY)
    result = least(result, limits.rlim_cur);
  return result > (size_t)-1 / 2 ? (size_t)-1 / 2 : (size_t)result;
}

void assay_limit_memory(size_t bytes) {
#ifdef __linux__
  FILE *file = fopen("/proc/self/status", "re");
  unsigned long used = 0;
  if (file) {
    char line[256];
    while (fgets(line, sizeof line, file))
      if (sscanf(line, "VmData: %lu", &used) == 1) break;
    fclose(file);
  }
  struct rlimit limits;
  if (getrlimit(RLIMIT_DATA, &limits) != 0) return;
  rlim_t wanted = (rlim_t)bytes + ((rlim_t)used << 10);
  if (wanted < bytes || wanted > limits.rlim_cur) return;
  limits.rlim_cur = wanted;
  setrlimit(RLIMIT_DATA, &limits);
#else
  (void)bytes;
#endif
}

void assay_out_of_memory(void) {
  errno = ENOMEM;
  __builtin_trap();
}

void assay_forget_failed_allocation(void) {
  if (errno == ENOMEM) errno = 0;
}
