#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static unsigned long long least(unsigned long long a, unsigned long long b) {
  return a < b ? a : b;
}

#ifdef __linux__
// The number in a file, or the maximum if it contains none ("max").
static unsigned long long number(const char *path) {
  FILE *file = fopen(path, "re");
  unsigned long long value = 0;
  if (!file) return ~0ull;
  if (fscanf(file, "%llu", &value) != 1) value = ~0ull;
  fclose(file);
  return value;
}
#endif

#ifdef __linux__
// The processors that a group's quota allows, in thousandths; version 1 has a file for the period.
static unsigned long long quota(const char *folder, int isUnified) {
  char path[1300];
  long long time = -1, period = 0;
  snprintf(path, sizeof path, "%s/%s", folder, isUnified ? "cpu.max" : "cpu.cfs_quota_us");
  FILE *file = fopen(path, "re");
  if (!file) return ~0ull;
  int count = fscanf(file, "%lld %lld", &time, &period);
  fclose(file);
  if (count == 1 && !isUnified) {
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    period = (long long)number(path);
  }
  return time > 0 && period > 0 ? (unsigned long long)(time * 1000.0 / period) : ~0ull;
}

static unsigned long long memory(const char *folder, int isUnified) {
  char path[1300];
  snprintf(path, sizeof path, "%s/%s", folder, isUnified ? "memory.max" : "memory.limit_in_bytes");
  return number(path);
}

// The smallest limit of the process's control group and its ancestors.
static unsigned long long groupLimit(const char *groups, const char *folder, const char *controller,
                                     unsigned long long limit(const char *, int)) {
  unsigned long long result = ~0ull;
  FILE *file = fopen(groups, "re");
  if (!file) return result;
  char line[1024], path[1200];
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue;
    *group++ = 0;
    int isUnified = controllers[1] == 0;
    if (!isUnified && !strstr(controllers, controller)) continue;
    for (;;) {
      snprintf(path, sizeof path, "%s/%s%s", folder, isUnified ? "" : controller, group);
      result = least(result, limit(path, isUnified));
      char *slash = strrchr(group, '/');
      if (!slash || !group[0]) break;
      *slash = 0;
    }
  }
  fclose(file);
  return result;
}
#endif

long assay_processor_quota(const char *groups, const char *folder) {
#ifdef __linux__
  unsigned long long limit = groupLimit(groups, folder, "cpu", quota);
  return limit < 1000000 ? (long)(limit + 999) / 1000 : 1000;
#else
  (void)groups, (void)folder;
  return 1000;
#endif
}

long assay_processor_count(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
  // The system rejects sets smaller than its own.
  static const int most = 8192;
  cpu_set_t *allowed = CPU_ALLOC(most);
  size_t size = CPU_ALLOC_SIZE(most);
  if (allowed && sched_getaffinity(0, size, allowed) == 0) count = CPU_COUNT_S(size, allowed);
  CPU_FREE(allowed);
#endif
  long quota = assay_processor_quota("/proc/self/cgroup", "/sys/fs/cgroup");
  if (count > quota) count = quota;
  return count > 1 ? count : 1;
}

size_t assay_memory_limit(void) {
  unsigned long long result = ~0ull;
#ifdef __linux__
  result = groupLimit("/proc/self/cgroup", "/sys/fs/cgroup", "memory", memory);
#endif
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
