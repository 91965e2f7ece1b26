#ifndef CPROCESSOR_H
#define CPROCESSOR_H
#include <stdbool.h>

/// Whether processor and operating system offer AVX2, FMA and F16C.
bool processor_has_avx2(void);
/// Whether they also offer AVX-512 F, VL, BW and DQ.
bool processor_has_avx512(void);

/// Tells the core that the thread waits in a loop: it spends less and notices the end sooner.
static inline void processor_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

#endif
