#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Mapped files, which another process may truncate.
static struct {
  _Atomic(const char *) line;
  atomic_uintptr_t start;
  atomic_size_t size;
} mappings[64];

static char fault[4096];
static atomic_flag isReporting = ATOMIC_FLAG_INIT;

int assay_watch_mapping(const void *start, size_t size, const char *line) {
  char *copy = strdup(line);
  for (int slot = 0; copy && slot < (int)(sizeof mappings / sizeof mappings[0]); slot++) {
    uintptr_t none = 0;
    if (!atomic_compare_exchange_strong(&mappings[slot].start, &none, (uintptr_t)start)) continue;
    atomic_store(&mappings[slot].size, size);
    atomic_store(&mappings[slot].line, copy);
    return slot;
  }
  free(copy);
  return -1;
}

void assay_unwatch_mapping(int slot) {
  if (slot < 0) return;
  const char *line = atomic_exchange(&mappings[slot].line, NULL);
  atomic_store(&mappings[slot].start, 0);
  free((void *)line);
}

static void say(const char *text) {
  size_t rest = strlen(text);
  while (rest > 0) {
    ssize_t count = write(2, text, rest);
    if (count <= 0) return;
    text += count;
    rest -= (size_t)count;
  }
}

#ifdef __GLIBC__
#include <execinfo.h>

// Functions that end the process if an allocation fails, in their first `longest` bytes.
extern char swift_slowAlloc[] __attribute__((weak));
extern char _Znwm[] __attribute__((weak));
static const size_t longest = 512;

// Whether a failed allocation ended the process: errno alone may be left from an earlier error.
static int wasAllocating(void) {
  void *callers[64];
  int count = backtrace(callers, sizeof callers / sizeof callers[0]);
  const char *const functions[] = {(const char *)assay_out_of_memory, swift_slowAlloc, _Znwm};
  for (int i = 0; i < count; i++)
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++)
      if (functions[f] && (uintptr_t)callers[i] - (uintptr_t)functions[f] < longest) return 1;
  return 0;
}

// The first call of backtrace loads a library.
static void prepare(void) {
  void *caller;
  backtrace(&caller, 1);
}
#else
static int wasAllocating(void) { return 1; }
static void prepare(void) {}
#endif

static void report(int number, siginfo_t *info, void *context) {
  (void)context;
  // Only one thread reports, and it ends the process.
  while (atomic_flag_test_and_set(&isReporting)) pause();
  int isAllocation =
      errno == ENOMEM && (number == SIGILL || number == SIGTRAP || number == SIGABRT) &&
      wasAllocating();
  if (isAllocation) {
    say("error: out of memory; a larger --max-memory may help\n");
    _exit(75);
  }
  if (number == SIGBUS) {
    uintptr_t address = (uintptr_t)info->si_addr;
    for (size_t slot = 0; slot < sizeof mappings / sizeof mappings[0]; slot++) {
      const char *line = atomic_load(&mappings[slot].line);
      uintptr_t start = atomic_load(&mappings[slot].start);
      if (!line || address < start || address - start >= atomic_load(&mappings[slot].size)) continue;
      say(line);
      _exit(74);
    }
  }
  say(fault);
  _exit(70);
}

void assay_report_faults(const char *line) {
  // Keeps Swift's backtrace if the user asks for it.
  const char *wish = getenv("SWIFT_BACKTRACE");
  if (wish && (strstr(wish, "enable=yes") || strstr(wish, "enable=on"))) return;
  snprintf(fault, sizeof fault, "%s", line);
  prepare();
  static char stack[64 << 10];
  stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&alternate, NULL);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = report;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE};
  for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++) {
    sigaction(deadly[i], &action, NULL);
  }
}
