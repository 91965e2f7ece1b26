#define _GNU_SOURCE
#include "CPosix.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __linux__
#include <signal.h>
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
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 34)
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
#endif
#endif
  (void)actions;
  (void)first;
  return 0;
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
  // Past the first it is SIGXCPU, which tells the reason; past the second SIGKILL.
  limit(RLIMIT_CPU, seconds, seconds + 1);
  limit(RLIMIT_FSIZE, 0, 0);
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_NPROC, 0, 0);
  if (address_space > 0) limit(RLIMIT_AS, address_space, address_space);
}
