/* A library to preload that makes one call of the C library fail, or ends the process there.

     cc -shared -fPIC -O1 -o faults.so faults.c -ldl
     ASSAY_FAULT=fail:write:3 LD_PRELOAD=$PWD/faults.so assay …

   ASSAY_FAULT is ACTION:CALL:NUMBER.
     fail    the NUMBER-th call fails
     full    that one and all later ones fail, as on a full disk
     kill    the process is killed at the NUMBER-th call
     SIGINT, SIGTERM, SIGHUP    it gets the signal there
     wait    that call takes two seconds
     trap    there is a trap, after an allocation that failed
     count   at the end, how many calls there were is written to the file ASSAY_FAULT_COUNT
   CALL is one of those below; `memory` is every allocation of at least ASSAY_FAULT_BYTES bytes,
   `exchange` a renaming that gives two items each other's names, `rename` any other. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum action { NONE, FAIL, FULL, KILL, COUNT, WAIT, TRAP, INTERRUPT, TERMINATE, HANG_UP };
static enum action action;
static char call[32];
static long number, least;
static long calls;
static pid_t process;

__attribute__((constructor)) static void begin(void) {
  const char *text = getenv("ASSAY_FAULT");
  if (!text) return;
  char word[16] = "";
  long at = 0;
  if (sscanf(text, "%15[^:]:%31[^:]:%ld", word, call, &at) < 2) return;
  const char *bytes = getenv("ASSAY_FAULT_BYTES");
  least = bytes ? atol(bytes) : 0;
  number = at;
  process = getpid();
  static const char *const words[] = {"",     "fail",   "full",    "kill",  "count",
                                      "wait", "trap",   "SIGINT",  "SIGTERM", "SIGHUP"};
  for (int index = FAIL; index <= HANG_UP; index++)
    if (!strcmp(word, words[index])) action = index;
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("ASSAY_FAULT_COUNT");
  if (action != COUNT || !path || getpid() != process) return;
  action = NONE;
  FILE *file = fopen(path, "w");
  if (!file) return;
  fprintf(file, "%ld\n", calls);
  fclose(file);
}

/* Whether this call is to fail. */
static int fails(const char *name) {
  if (action == NONE || strcmp(name, call)) return 0;
  long count = __sync_add_and_fetch(&calls, 1);
  if (count == number) {
    if (action == KILL) kill(getpid(), SIGKILL);
    if (action == WAIT) sleep(2);
    if (action == TRAP) {
      errno = ENOMEM;
      __builtin_trap();
    }
    if (action == INTERRUPT) kill(getpid(), SIGINT);
    if (action == TERMINATE) kill(getpid(), SIGTERM);
    if (action == HANG_UP) kill(getpid(), SIGHUP);
  }
  return (action == FAIL && count == number) || (action == FULL && count >= number);
}

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define REFUSE(code, value) do { errno = code; return value; } while (0)

ssize_t write(int file, const void *bytes, size_t count) {
  REAL(write);
  /* Messages get out. */
  if (file > 2 && fails("write")) REFUSE(ENOSPC, -1);
  return real(file, bytes, count);
}
ssize_t writev(int file, const struct iovec *parts, int count) {
  REAL(writev);
  if (file > 2 && fails("write")) REFUSE(ENOSPC, -1);
  return real(file, parts, count);
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t place) {
  REAL(pwrite);
  if (fails("write")) REFUSE(ENOSPC, -1);
  return real(file, bytes, count, place);
}
int fsync(int file) {
  REAL(fsync);
  if (fails("fsync")) REFUSE(EIO, -1);
  return real(file);
}
int ftruncate(int file, off_t size) {
  REAL(ftruncate);
  if (fails("ftruncate")) REFUSE(ENOSPC, -1);
  return real(file, size);
}
int rename(const char *from, const char *to) {
  REAL(rename);
  if (fails("rename")) REFUSE(EIO, -1);
  return real(from, to);
}
int renameat(int a, const char *from, int b, const char *to) {
  REAL(renameat);
  if (fails("rename")) REFUSE(EIO, -1);
  return real(a, from, b, to);
}
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
  REAL(renameat2);
  /* As on a file system that cannot do this. */
  if (fails(flags & RENAME_EXCHANGE ? "exchange" : "rename")) REFUSE(EINVAL, -1);
  return real(a, from, b, to, flags);
}
int unlinkat(int folder, const char *path, int flags) {
  REAL(unlinkat);
  if (fails("unlink")) REFUSE(EIO, -1);
  return real(folder, path, flags);
}
int flock(int file, int kind) {
  REAL(flock);
  if (fails("lock")) REFUSE(ENOLCK, -1);
  return real(file, kind);
}
int linkat(int a, const char *from, int b, const char *to, int flags) {
  REAL(linkat);
  if (fails("linkat")) REFUSE(EIO, -1);
  return real(a, from, b, to, flags);
}
int mkdir(const char *path, mode_t mode) {
  REAL(mkdir);
  if (fails("mkdir")) REFUSE(EIO, -1);
  return real(path, mode);
}
int mkdirat(int folder, const char *path, mode_t mode) {
  REAL(mkdirat);
  if (fails("mkdir")) REFUSE(EIO, -1);
  return real(folder, path, mode);
}
static int opened(int (*real)(const char *, int, ...), const char *path, int flags, mode_t mode) {
  if (fails((flags & (O_WRONLY | O_RDWR)) ? "create" : "open")) REFUSE(EMFILE, -1);
  return real(path, flags, mode);
}
#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(name); \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = va_arg(rest, mode_t); \
    va_end(rest); \
    return opened(real, path, flags, mode); \
  }
OPEN(open)
OPEN(open64)
int openat(int folder, const char *path, int flags, ...) {
  REAL(openat);
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  if (fails((flags & (O_WRONLY | O_RDWR)) ? "create" : "open")) REFUSE(EMFILE, -1);
  return real(folder, path, flags, mode);
}
void *mmap(void *address, size_t size, int access, int flags, int file, off_t place) {
  REAL(mmap);
  if (fails("mmap")) REFUSE(ENOMEM, MAP_FAILED);
  return real(address, size, access, flags, file, place);
}
pid_t fork(void) {
  REAL(fork);
  if (fails("fork")) REFUSE(EAGAIN, -1);
  return real();
}
int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const *words, char *const *variables) {
  REAL(posix_spawn);
  if (fails("fork")) return EAGAIN;
  return real(child, path, actions, attributes, words, variables);
}
int pipe(int ends[2]) {
  REAL(pipe);
  if (fails("pipe")) REFUSE(EMFILE, -1);
  return real(ends);
}
int pipe2(int ends[2], int flags) {
  REAL(pipe2);
  if (fails("pipe")) REFUSE(EMFILE, -1);
  return real(ends, flags);
}
int memfd_create(const char *name, unsigned flags) {
  REAL(memfd_create);
  if (fails("memfd")) REFUSE(EMFILE, -1);
  return real(name, flags);
}

/* Allocations: dlsym may allocate, so the C library's own functions are called by name. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static int has_no(size_t size) { return action != NONE && (long)size >= least && fails("memory"); }

void *malloc(size_t size) {
  if (has_no(size)) REFUSE(ENOMEM, NULL);
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  if (has_no(count * size)) REFUSE(ENOMEM, NULL);
  return __libc_calloc(count, size);
}
void *realloc(void *block, size_t size) {
  if (has_no(size)) REFUSE(ENOMEM, NULL);
  return __libc_realloc(block, size);
}
int posix_memalign(void **block, size_t alignment, size_t size) {
  if (has_no(size)) return ENOMEM;
  void *made = __libc_memalign(alignment, size);
  if (!made) return ENOMEM;
  *block = made;
  return 0;
}
void *aligned_alloc(size_t alignment, size_t size) {
  if (has_no(size)) REFUSE(ENOMEM, NULL);
  return __libc_memalign(alignment, size);
}
