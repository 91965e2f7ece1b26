// Filters the system calls of a process as assay-hdf5 does and tries every one of them. Prints what
// is allowed and should not be, or the reverse; nothing if all is well.
//     sandbox -l|-s COMMAND…
// runs the command on a system without Landlock or without seccomp instead.
#include "../../Sources/CSystem/confine.c"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

static const long allowed[] = {
    SYS_read, SYS_pread64, SYS_write, SYS_lseek, SYS_fstat, SYS_close, SYS_mmap, SYS_mprotect,
    SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk, SYS_futex, SYS_sched_yield, SYS_clock_gettime,
    SYS_gettimeofday, SYS_getrandom, SYS_getpid, SYS_gettid, SYS_rt_sigaction,
    SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack, SYS_restart_syscall, SYS_exit,
    SYS_exit_group, SYS_tgkill,
};

static int is_allowed(long number) {
#ifdef __x86_64__
  // uretprobe and uprobe, which the kernel does not filter: anywhere else they are SIGILL.
  if (number == 335 || number == 336) return 1;
#endif
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
    if (allowed[i] == number) return 1;
  return 0;
}

static void expect(const char *what, long result, int works) {
  if (works ? result < 0 : result >= 0 || errno != EPERM)
    printf("%s: %ld, %s\n", what, result, strerror(errno));
}

static void try_all(pid_t victim) {
  // The filter decides before a call looks at its arguments.
  for (long number = 0; number < 1024; number++) {
    char name[32];
    snprintf(name, sizeof name, "call %ld", number);
    if (!is_allowed(number)) expect(name, syscall(number, -1L, -1L, -1L, -1L, -1L, -1L), 0);
#ifdef __x86_64__
    // The x32 calls, some of which have the same numbers otherwise.
    expect(name, syscall(number | 0x40000000, -1L, -1L, -1L, -1L, -1L, -1L), 0);
#endif
  }
  long me = getpid();
  expect("tgkill of the victim", syscall(SYS_tgkill, victim, victim, SIGTERM), 0);
  expect("tgkill of any process", syscall(SYS_tgkill, -1, victim, SIGTERM), 0);
  expect("tgkill with upper bits", syscall(SYS_tgkill, me + (1L << 32), me, 0), 1);
  expect("tgkill of itself", syscall(SYS_tgkill, me, me, 0), 1);
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  expect("executable mmap", (long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, flags, -1, 0), 0);
  char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
  expect("mmap", page == MAP_FAILED ? -1 : 0, 1);
  expect("executable mprotect", mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
  expect("mprotect", mprotect(page, 4096, PROT_READ), 1);
  free(malloc(100 << 20));
}

// Refuses a call, or only one option of it, as a kernel without it does.
static int run_without(long number, unsigned option, char **command) {
  struct sock_filter program[] = {
      LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3), LOAD(args[0]),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, option, 0, number == SYS_prctl),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL), ALLOW,
  };
  struct sock_fprog filter = {sizeof program / sizeof program[0], program};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0) execv(command[0], command);
  perror(command[0]);
  return 70;
}

int main(int count, char **arguments) {
  if (count > 2 && strcmp(arguments[1], "-l") == 0)
    return run_without(SYS_landlock_create_ruleset, 0, arguments + 2);
  if (count > 2) return run_without(SYS_prctl, PR_SET_SECCOMP, arguments + 2);
  setvbuf(stdout, NULL, _IONBF, 0);
  pid_t victim = fork();
  if (victim == 0) {
    pause();
    _exit(0);
  }
  pid_t process = fork();
  if (process == 0) {
    // Without the filter, some call would wait forever.
    alarm(20);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!assay_filter_system_calls()) {
      printf("there is no seccomp\n");
      exit(0);
    }
    try_all(victim);
    abort();
  }
  int status = 0;
  waitpid(process, &status, 0);
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT) printf("status %x\n", status);
  if (kill(victim, 0) != 0 || waitpid(victim, &status, WNOHANG) != 0) printf("the victim ended\n");
  kill(victim, SIGKILL);
  waitpid(victim, &status, 0);
  return 0;
}
