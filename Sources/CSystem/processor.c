#include "CSystem.h"

#if defined(__x86_64__)

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

#else

bool processor_has_avx2(void) { return false; }
bool processor_has_avx512(void) { return false; }

#endif
