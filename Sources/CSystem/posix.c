#define _GNU_SOURCE
#include "CSystem.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

int assay_shared_memory(void) {
#ifdef __linux__
  return memfd_create("assay-hdf5", MFD_CLOEXEC | MFD_ALLOW_SEALING);
#else
  for (int attempt = 0; attempt < 16; attempt++) {
    char name[32];
    snprintf(name, sizeof name, "/assay-%08x", arc4random());
    int descriptor = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor >= 0) {
      shm_unlink(name);
      fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    }
    return descriptor;
  }
  return -1;
#endif
}

int assay_pipe(int ends[2]) {
#ifdef __linux__
  return pipe2(ends, O_CLOEXEC);
#else
  // Children are started with POSIX_SPAWN_CLOEXEC_DEFAULT.
  return pipe(ends);
#endif
}

int assay_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
  // Available since glibc 2.34.
  int (*function)(posix_spawn_file_actions_t *, int) =
      (int (*)(posix_spawn_file_actions_t *, int))dlsym(
          RTLD_DEFAULT, "posix_spawn_file_actions_addclosefrom_np");
  return function ? function(actions, first) : 0;
}

const char *assay_image_path(const void *address) {
  Dl_info info;
  return dladdr(address, &info) ? info.dli_fname : NULL;
}

int assay_is_linked(const char *name) { return dlsym(RTLD_DEFAULT, name) != NULL; }

void assay_bind_to_parent(void) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
#endif
}

static void limit(int resource, unsigned long value, unsigned long hard) {
  struct rlimit limits = {value, hard};
  setrlimit(resource, &limits);
}

void assay_limit_resources(unsigned long seconds, unsigned long address_space) {
  // The soft limit sends SIGXCPU, which tells the reason, and the hard limit SIGKILL.
  limit(RLIMIT_CPU, seconds, seconds + 1);
  limit(RLIMIT_FSIZE, 0, 0);
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_NPROC, 0, 0);
  if (address_space > 0) limit(RLIMIT_AS, address_space, address_space);
}

int assay_deep_binding(void) {
// AddressSanitizer aborts a process that uses it.
#if defined(RTLD_DEEPBIND) && !__has_feature(address_sanitizer)
  return RTLD_DEEPBIND;
#else
  return 0;
#endif
}

int assay_rehearse_loading(const char *path, int mode, const char *entry, unsigned version,
                           const void *table, unsigned seconds, char *text, size_t size) {
  // Not 0, because the library itself may exit with 0.
  const int survived = 42;
  int ends[2];
  text[0] = 0;
  if (assay_pipe(ends) != 0) return -1;
  pid_t child = fork();
  if (child == 0) {
    static const int deadly[] = {SIGALRM, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE};
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++) signal(deadly[i], SIG_DFL);
    limit(RLIMIT_CORE, 0, 0);
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    alarm(seconds);
    void *library = dlopen(path, mode);
    const void *(*function)(unsigned, const void *) =
        library ? (const void *(*)(unsigned, const void *))dlsym(library, entry) : NULL;
    if (function) function(version, table);
    _exit(survived);
  }
  close(ends[1]);
  int status = -1;
  if (child > 0) {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    // Processes that the child left behind may hold the other end open.
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    ssize_t count = read(ends[0], text, size - 1);
    text[count > 0 ? count : 0] = 0;
  }
  close(ends[0]);
  if (status == 0) return -1;
  return status == survived << 8 ? 0 : status;
}

int assay_open_at(int folder, const char *path, int flags, unsigned mode) {
  int file = openat(folder, path, flags | O_CLOEXEC, mode);
#ifdef O_PATH
  // Folders that may be entered and written to, but not listed.
  if (file < 0 && errno == EACCES && (flags & O_DIRECTORY))
    file = openat(folder, path, flags | O_CLOEXEC | O_PATH);
#endif
  return file;
}

int assay_open_nameless(int folder, unsigned mode) {
#ifdef O_TMPFILE
  return openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
#else
  (void)folder, (void)mode;
  errno = EOPNOTSUPP;
  return -1;
#endif
}

int assay_rename(int from, const char *old, int to, const char *name, enum assay_renaming kind) {
  if (kind == ASSAY_RENAME_REPLACE) return renameat(from, old, to, name);
#ifdef __linux__
  return renameat2(from, old, to, name,
                   kind == ASSAY_RENAME_NEW ? RENAME_NOREPLACE : RENAME_EXCHANGE);
#else
  return renameatx_np(from, old, to, name, kind == ASSAY_RENAME_NEW ? RENAME_EXCL : RENAME_SWAP);
#endif
}

int assay_lock_file(int file) { return flock(file, LOCK_EX | LOCK_NB); }
