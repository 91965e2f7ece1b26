#define _GNU_SOURCE
#include "CSystem.h"

#if defined(__linux__) && __has_include(<linux/landlock.h>)

#include <errno.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int assay_confine_to_file(int file) {
  // Version 1 of the interface, all of whose rights are the lowest thirteen bits.
  struct landlock_ruleset_attr rules = {.handled_access_fs = (1 << 13) - 1};
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
  if (ruleset < 0) return 0;
  struct landlock_path_beneath_attr rule = {
      .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE, .parent_fd = file};
  // Shared memory takes no rule and needs none.
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
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
// Refuses one call.
#define NO(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), REFUSE
// Refuses one call where its argument has any of these bits.
#define NO_FLAGS(number, argument, bits)                                                         \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4), LOAD(args[argument]),                       \
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1), REFUSE, ALLOW

#define WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

int assay_filter_system_calls(void) {
  struct sock_filter program[] = {
      LOAD(arch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      LOAD(nr),
#ifdef __x86_64__
      // The x32 calls, which would pass by the numbers below.
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), REFUSE,
      NO(SYS_fork), NO(SYS_vfork), NO(SYS_creat), NO(SYS_unlink), NO(SYS_rename), NO(SYS_mkdir),
      NO(SYS_rmdir), NO(SYS_link), NO(SYS_symlink), NO(SYS_chmod), NO(SYS_chown), NO(SYS_lchown),
      NO(SYS_mknod), NO_FLAGS(SYS_open, 1, WRITING),
#endif
      NO(SYS_execve), NO(SYS_execveat), NO(SYS_clone), NO(SYS_clone3), NO(SYS_ptrace),
      NO(SYS_process_vm_readv), NO(SYS_process_vm_writev), NO(SYS_kill), NO(SYS_tkill),
      NO(SYS_socket), NO(SYS_socketpair), NO(SYS_connect), NO(SYS_bind), NO(SYS_sendto),
      NO(SYS_sendmsg), NO(SYS_unlinkat), NO(SYS_renameat), NO(SYS_renameat2), NO(SYS_mkdirat),
      NO(SYS_linkat), NO(SYS_symlinkat), NO(SYS_fchmod), NO(SYS_fchmodat), NO(SYS_fchown),
      NO(SYS_fchownat), NO(SYS_mknodat), NO(SYS_truncate), NO(SYS_mount), NO(SYS_umount2),
      NO(SYS_setns), NO(SYS_unshare), NO(SYS_bpf), NO(SYS_keyctl), NO(SYS_add_key),
      NO(SYS_io_uring_setup), NO(SYS_perf_event_open), NO(SYS_userfaultfd), NO(SYS_openat2),
      NO(SYS_prctl), NO_FLAGS(SYS_openat, 2, WRITING),
      ALLOW,
  };
  struct sock_fprog filter = {sizeof program / sizeof program[0], program};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

#else

int assay_filter_system_calls(void) { return 0; }

#endif
