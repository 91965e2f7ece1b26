#ifndef CPROCESSOR_H
#define CPROCESSOR_H
#include <stdbool.h>

/// Whether processor and operating system offer AVX2, FMA and F16C.
bool processor_has_avx2(void);
/// Whether they also offer AVX-512 F, VL, BW and DQ.
bool processor_has_avx512(void);

#endif
