/// Operations on the widest vector of the instruction set that this header is compiled for, where
/// Swift's own would go through the lanes one by one.

#ifndef CVECTOR_H
#define CVECTOR_H

#if defined(__AVX512F__)
#define VECTOR_LANES 16
#elif defined(__AVX2__)
#define VECTOR_LANES 8
#else
#define VECTOR_LANES 4
#endif

typedef float vector_float __attribute__((ext_vector_type(VECTOR_LANES)));
typedef int vector_int __attribute__((ext_vector_type(VECTOR_LANES)));
typedef unsigned short vector_half __attribute__((ext_vector_type(VECTOR_LANES)));
typedef unsigned char vector_bytes __attribute__((ext_vector_type(VECTOR_LANES)));

#define VECTOR_OPERATION static inline __attribute__((always_inline, const, unused))

/// `a * b + c`, rounded once where the instruction set can.
VECTOR_OPERATION vector_float vector_multiply_add(vector_float a, vector_float b, vector_float c) {
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_elementwise_fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// Asks for the cache line at `address`, which need not be one that may be read.
static inline __attribute__((always_inline, unused)) void vector_prefetch(const void *address) {
  __builtin_prefetch(address, 0, 3);
}

/// Asks for the cache line at `address` in the second-level cache alone.
static inline __attribute__((always_inline, unused)) void vector_prefetch_far(const void *address) {
  __builtin_prefetch(address, 0, 2);
}

/// Exchanges rows and columns of a square of as many vectors as one has lanes.
static inline __attribute__((always_inline, unused)) void vector_transpose(float *square) {
  typedef vector_float row __attribute__((aligned(4)));
  row *rows = (row *)square;
#define LOW(lane, step) ((lane) & (step) ? VECTOR_LANES + (lane) - (step) : (lane))
#define HIGH(lane, step) ((lane) & (step) ? VECTOR_LANES + (lane) : (lane) + (step))
#define FOUR(half, first, step)                                                                    \
  half(first, step), half(first + 1, step), half(first + 2, step), half(first + 3, step)
#if VECTOR_LANES == 16
#define LANES(half, step)                                                                          \
  FOUR(half, 0, step), FOUR(half, 4, step), FOUR(half, 8, step), FOUR(half, 12, step)
#elif VECTOR_LANES == 8
#define LANES(half, step) FOUR(half, 0, step), FOUR(half, 4, step)
#else
#define LANES(half, step) FOUR(half, 0, step)
#endif
#define EXCHANGE(step)                                                                             \
  for (int i = 0; i < VECTOR_LANES; i++) {                                                         \
    if (i & step) continue;                                                                        \
    vector_float a = rows[i], b = rows[i + step];                                                  \
    rows[i] = __builtin_shufflevector(a, b, LANES(LOW, step));                                     \
    rows[i + step] = __builtin_shufflevector(a, b, LANES(HIGH, step));                             \
  }
  EXCHANGE(1)
  EXCHANGE(2)
#if VECTOR_LANES >= 8
  EXCHANGE(4)
#endif
#if VECTOR_LANES >= 16
  EXCHANGE(8)
#endif
#undef EXCHANGE
#undef LANES
#undef FOUR
#undef HIGH
#undef LOW
}

VECTOR_OPERATION vector_float vector_square_root(vector_float x) {
  return __builtin_elementwise_sqrt(x);
}

/// `yes` in the lanes where `mask` is negative.
VECTOR_OPERATION vector_float vector_select(vector_int mask, vector_float yes, vector_float no) {
  return mask < 0 ? yes : no;
}

/// Whether `mask` is negative in every lane.
VECTOR_OPERATION _Bool vector_all(vector_int mask) { return __builtin_reduce_and(mask) < 0; }

VECTOR_OPERATION vector_int vector_shift_left(vector_int x, int count) { return x << count; }

/// With the sign.
VECTOR_OPERATION vector_int vector_shift_right(vector_int x, int count) { return x >> count; }

VECTOR_OPERATION vector_float vector_from_int(vector_int x) {
  return __builtin_convertvector(x, vector_float);
}

/// `scale * x + bias` of bytes, rounded once.
VECTOR_OPERATION vector_float vector_scale_bytes(vector_bytes x, float scale, float bias) {
#if defined(__FMA__) || defined(__aarch64__)
  vector_float codes =
      __builtin_convertvector(__builtin_convertvector(x, vector_int), vector_float);
  return __builtin_elementwise_fma(codes, (vector_float)scale, (vector_float)bias);
#else
  typedef double wide __attribute__((ext_vector_type(VECTOR_LANES)));
  wide codes = __builtin_convertvector(__builtin_convertvector(x, vector_int), wide);
  return __builtin_convertvector(codes * (double)scale + (double)bias, vector_float);
#endif
}

/// `target[i] = scale * code[i] + bias` of the eight codes of `bits` bits that `bytes` begin with, the
/// first of them in the highest bits; rounded once.
static inline __attribute__((always_inline, unused)) void vector_expand_codes(
    const void *bytes, int bits, float scale, float bias, void *target) {
  typedef unsigned long long words __attribute__((ext_vector_type(8)));
  typedef int integers __attribute__((ext_vector_type(8)));
  typedef float floats __attribute__((ext_vector_type(8)));
  typedef floats unaligned __attribute__((aligned(4)));
  unsigned long long word = 0;
  for (int i = 0; i < bits; i++) word = word << 8 | ((const unsigned char *)bytes)[i];
  words shifts = {7, 6, 5, 4, 3, 2, 1, 0};
  shifts *= (unsigned long long)bits;
  words codes = (word >> shifts) & ((1ull << bits) - 1);
  integers small = __builtin_convertvector(codes, integers);
#if defined(__FMA__) || defined(__aarch64__)
  *(unaligned *)target = __builtin_elementwise_fma(
      __builtin_convertvector(small, floats), (floats)scale, (floats)bias);
#else
  typedef double wide __attribute__((ext_vector_type(8)));
  wide exact = __builtin_convertvector(small, wide) * (double)scale + (double)bias;
  *(unaligned *)target = __builtin_convertvector(exact, floats);
#endif
}

/// IEEE 754 binary16 values, exactly.
VECTOR_OPERATION vector_float vector_from_half(vector_half x) {
#if defined(__F16C__) || defined(__aarch64__)
  typedef _Float16 native __attribute__((ext_vector_type(VECTOR_LANES)));
  return __builtin_convertvector((native)x, vector_float);
#else
  vector_int h = __builtin_convertvector(x, vector_int);
  vector_int magnitude = (h & 0x7fff) << 13;
  // A subnormal value as the difference of two normal ones, since subnormal products are slow.
  vector_float subnormal =
      (vector_float)(magnitude + 0x38800000) - (vector_float)((vector_int)0x38800000);
  vector_int normal = magnitude + 0x38000000 + ((magnitude >= 0x7c00 << 13) & 0x38000000);
  vector_int value = magnitude < 0x400 << 13 ? (vector_int)subnormal : normal;
  return (vector_float)(value | (h & 0x8000) << 16);
#endif
}

#endif
