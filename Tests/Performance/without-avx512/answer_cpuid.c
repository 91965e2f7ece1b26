// Answers patched cpuid instructions as a processor without AVX-512 would.
//
// A tool for measuring: run.py preloads it into the rivals' processes, nothing links with it. It is
// written in C because it has to answer before any language runtime has started: the rivals ask in
// the constructors of their libraries, and all that a signal handler may touch is registers.
//
// patch.py has written 27 2f (daa, das) where cpuid (0f a2) stood. Neither exists in 64-bit mode, so
// that the processor raises SIGILL there, and no compiler writes them, so that a trap that is meant
// (ud2) is not taken for a question.
//
// ANSWERED_CPUID in the environment names a file that gets a line for each answer: the leaf, the
// subleaf and the library that asked.
#define _GNU_SOURCE
#include <cpuid.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

struct registers {
  unsigned a, b, c, d;
};

enum { SAVED_STATE = 0xd, AVX10 = 0x24, PERFORMANCE_HINTS = 0x8000001a };

static unsigned bit(int index) { return 1u << index; }

// Bits as in Intel's Software Developer's Manual, volume 2A, CPUID, and AMD's Architecture
// Programmer's Manual, volume 3, appendix E.
static void remove_wide_vectors(unsigned leaf, unsigned subleaf, struct registers *r) {
  if (leaf == 7 && subleaf == 0) {
    // F, DQ, IFMA, PF, ER, CD, BW, VL
    r->b &= ~(bit(16) | bit(17) | bit(21) | bit(26) | bit(27) | bit(28) | bit(30) | bit(31));
    // VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ
    r->c &= ~(bit(1) | bit(6) | bit(11) | bit(12) | bit(14));
    // 4VNNIW, 4FMAPS, VP2INTERSECT, AMX-BF16, FP16, AMX-TILE, AMX-INT8
    r->d &= ~(bit(2) | bit(3) | bit(8) | bit(22) | bit(23) | bit(24) | bit(25));
  } else if (leaf == 7 && subleaf == 1) {
    // AVX-VNNI, AVX512-BF16, AMX-FP16, AVX-IFMA
    r->a &= ~(bit(4) | bit(5) | bit(21) | bit(23));
    // AVX-VNNI-INT8, AVX-NE-CONVERT, AMX-COMPLEX, AVX-VNNI-INT16, AVX10
    r->d &= ~(bit(4) | bit(5) | bit(8) | bit(10) | bit(19));
  } else if (leaf == SAVED_STATE && subleaf == 0) {
    // What the system saves: mask registers, upper halves of zmm0 to 15, zmm16 to 31, AMX's two.
    // The sizes stay those of what it does save.
    r->a &= ~(bit(5) | bit(6) | bit(7) | bit(17) | bit(18));
  } else if (leaf == SAVED_STATE && ((subleaf >= 5 && subleaf <= 7) || subleaf == 17 || subleaf == 18)) {
    *r = (struct registers){0, 0, 0, 0};
  } else if (leaf == AVX10) {
    *r = (struct registers){0, 0, 0, 0};
  } else if (leaf == PERFORMANCE_HINTS) {
    r->a &= ~bit(3);  // FP512
  }
}

static int log_file = -1;

static void write_answer(unsigned leaf, unsigned subleaf, void *address) {
  Dl_info info;
  const char *library = dladdr(address, &info) && info.dli_fname ? info.dli_fname : "?";
  char line[4352];
  int length = snprintf(line, sizeof line, "%x %x %.4096s\n", leaf, subleaf, library);
  if (write(log_file, line, length) != length) abort();
}

static void answer(int number, siginfo_t *info, void *context) {
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  const unsigned char *instruction = (const unsigned char *)registers[REG_RIP];
  if (instruction[0] != 0x27 || instruction[1] != 0x2f) {
    // None of ours: it happens again, as without this handler.
    signal(number, SIG_DFL);
    return;
  }
  unsigned leaf = registers[REG_RAX], subleaf = registers[REG_RCX];
  struct registers r;
  __cpuid_count(leaf, subleaf, r.a, r.b, r.c, r.d);
  remove_wide_vectors(leaf, subleaf, &r);
  if (log_file >= 0) write_answer(leaf, subleaf, (void *)instruction);
  registers[REG_RAX] = r.a;
  registers[REG_RBX] = r.b;
  registers[REG_RCX] = r.c;
  registers[REG_RDX] = r.d;
  registers[REG_RIP] += 2;
}

// Libraries that are preloaded start before the ones that the program loads.
__attribute__((constructor)) static void start(void) {
  const char *path = getenv("ANSWERED_CPUID");
  if (path) log_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGILL, &action, NULL);
}
