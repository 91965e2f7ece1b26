#define _GNU_SOURCE
#include "CSystem.h"

#if defined(__linux__) && __has_include(<linux/landlock.h>)

#include <errno.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int assay_confine_to_file(int file) {
  // Version 1 of Landlock has thirteen rights: the lowest bits.
  struct landlock_ruleset_attr rules = {.handled_access_fs = (1 << 13) - 1};
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
  if (ruleset < 0) return 0;
  struct landlock_path_beneath_attr rule = {
      .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE, .parent_fd = file};
  // Shared memory accepts no rule and needs none.
  int done =
      (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0 ||
       errno == EBADFD) &&
      syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  close(ruleset);
  return done;
}

#else

int assay_confine_to_file(int file) {
  (void)file;
  return 0;
}

#endif

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define YES(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), ALLOW
// Allows a call if an argument equals the value (JEQ) or has one of its bits (JSET). Compares the
// lower half, which comes first: arguments are 32 bits wide or have all their flags there.
#define YES_IF(number, argument, comparison, value, yes, no)                                     \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4), LOAD(args[argument]),                       \
      BPF_JUMP(BPF_JMP | comparison | BPF_K, value, 0, 1), yes, no

int assay_filter_system_calls(void) {
  struct sock_filter program[] = {
      LOAD(arch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      LOAD(nr),
      // The file, the shared memory and the pipe, which are open already.
      YES(SYS_read), YES(SYS_pread64), YES(SYS_write), YES(SYS_lseek), YES(SYS_fstat), YES(SYS_close),
      // Memory that is not executable.
      YES_IF(SYS_mmap, 2, BPF_JSET, PROT_EXEC, REFUSE, ALLOW),
      YES_IF(SYS_mprotect, 2, BPF_JSET, PROT_EXEC, REFUSE, ALLOW),
      YES(SYS_munmap), YES(SYS_mremap), YES(SYS_madvise), YES(SYS_brk),
      // Locks, time and hash tables of the C library and the Swift runtime.
      YES(SYS_futex), YES(SYS_sched_yield), YES(SYS_clock_gettime), YES(SYS_gettimeofday),
      YES(SYS_getrandom),
      // Exiting, also by abort.
      YES(SYS_getpid), YES(SYS_gettid), YES(SYS_rt_sigaction), YES(SYS_rt_sigprocmask),
      YES(SYS_rt_sigreturn), YES(SYS_sigaltstack), YES(SYS_restart_syscall), YES(SYS_exit),
      YES(SYS_exit_group),
      YES_IF(SYS_tgkill, 0, BPF_JEQ, (unsigned)getpid(), ALLOW, REFUSE),
      REFUSE,
  };
  struct sock_fprog filter = {sizeof program / sizeof program[0], program};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

#else

int assay_filter_system_calls(void) { return 0; }

#endif
