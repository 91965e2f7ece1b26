#define _GNU_SOURCE
#include "CSystem.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <xmmintrin.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

bool processor_has_avx2(void) {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c");
}

bool processor_has_avx512(void) {
  return processor_has_avx2() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq");
}

bool processor_has_amx(void) {
#ifdef __linux__
  unsigned a, b, c, d;
  if (!processor_has_avx512() || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  // AMX-BF16 and AMX-TILE; the system enables the registers (state 18) on request.
  return (d >> 22 & 1) && (d >> 24 & 1) && syscall(SYS_arch_prctl, 0x1023, 18) == 0;
#else
  return false;
#endif
}

bool processor_has_vnni(bool is_avx512) {
  unsigned a, b, c, d;
  if (is_avx512) return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c >> 11 & 1);
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}

bool processor_met_subnormals(void) {
  unsigned state = _mm_getcsr();
  // The flags for subnormal operands and for underflow.
  _mm_setcsr(state & ~0x12u);
  return state & 0x12;
}

void processor_flush_subnormals(void) {
  // Treats subnormal results and operands as zero.
  _mm_setcsr(_mm_getcsr() | 0x8040);
}

#else

bool processor_has_avx2(void) { return false; }
bool processor_has_avx512(void) { return false; }
bool processor_has_amx(void) { return false; }
bool processor_has_vnni(__attribute__((unused)) bool is_avx512) { return false; }
bool processor_met_subnormals(void) { return false; }
void processor_flush_subnormals(void) {}

#endif
