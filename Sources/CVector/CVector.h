/// Operations on the widest vector of the instruction set that this header is compiled for, where
/// Swift's own operators would process the lanes one by one.

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

/// `a * b + c`, rounded once if the instruction set supports it.
VECTOR_OPERATION vector_float vector_multiply_add(vector_float a, vector_float b, vector_float c) {
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_elementwise_fma(a, b, c);
#else
  return a * b + c;
#endif
}

VECTOR_OPERATION vector_float vector_add(vector_float a, vector_float b) { return a + b; }

VECTOR_OPERATION vector_float vector_subtract(vector_float a, vector_float b) { return a - b; }

VECTOR_OPERATION vector_float vector_multiply(vector_float a, vector_float b) { return a * b; }

VECTOR_OPERATION vector_float vector_divide(vector_float a, vector_float b) { return a / b; }

/// As many doubles as a vector has floats.
typedef double vector_double __attribute__((ext_vector_type(VECTOR_LANES)));

VECTOR_OPERATION vector_double vector_to_double(vector_float x) {
  return __builtin_convertvector(x, vector_double);
}

VECTOR_OPERATION vector_float vector_from_double(vector_double x) {
  return __builtin_convertvector(x, vector_float);
}

/// Rounds toward zero.
VECTOR_OPERATION vector_int vector_int_from_double(vector_double x) {
  return __builtin_convertvector(x, vector_int);
}

/// `a * b + c`, rounded once if the instruction set supports it.
VECTOR_OPERATION vector_double vector_multiply_add_double(
    vector_double a, vector_double b, vector_double c) {
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_elementwise_fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// Clamps `x` to `-bound`…`bound`.
VECTOR_OPERATION vector_double vector_limit_double(vector_double x, double bound) {
  vector_double high = bound;
  x = x < high ? x : high;
  return x > -high ? x : -high;
}

/// The largest lane; NaN lanes are ignored unless all are NaN.
VECTOR_OPERATION float vector_largest(vector_float x) { return __builtin_reduce_max(x); }

/// Prefetches the cache line at `address`, which may be invalid.
static inline __attribute__((always_inline, unused)) void vector_prefetch(const void *address) {
  __builtin_prefetch(address, 0, 3);
}

/// Prefetches the cache line at `address` into the second-level cache only.
static inline __attribute__((always_inline, unused)) void vector_prefetch_far(const void *address) {
  __builtin_prefetch(address, 0, 2);
}

/// Keeps memory accesses from being moved across this point. Otherwise, the compiler starts the
/// loads of several steps at once and runs out of registers.
static inline __attribute__((always_inline, unused)) void vector_keep_order(void) {
  __asm__ volatile("" ::: "memory");
}

/// `x`, hidden from the optimizer, which then computes what depends on `x` where it is used instead
/// of once before a loop.
static inline __attribute__((always_inline, unused)) long vector_opaque(long x) {
  __asm__("" : "+r"(x));
  return x;
}

/// The same for an address.
static inline __attribute__((always_inline, unused, returns_nonnull)) const float *
vector_opaque_address(const float *x) {
  __asm__("" : "+r"(x));
  return x;
}

/// Transposes a square of as many vectors as a vector has lanes.
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

/// `mask < 0 ? yes : no` in each lane.
VECTOR_OPERATION vector_float vector_select(vector_int mask, vector_float yes, vector_float no) {
  return mask < 0 ? yes : no;
}

/// Whether every lane is zero.
VECTOR_OPERATION _Bool vector_are_zero(vector_float x) {
  vector_int differs = x != 0;
  return !__builtin_reduce_or(differs);
}

/// Whether `mask` is negative in every lane.
VECTOR_OPERATION _Bool vector_all(vector_int mask) { return __builtin_reduce_and(mask) < 0; }

VECTOR_OPERATION vector_int vector_shift_left(vector_int x, int count) { return x << count; }

/// An arithmetic shift, which keeps the sign.
VECTOR_OPERATION vector_int vector_shift_right(vector_int x, int count) { return x >> count; }

VECTOR_OPERATION vector_float vector_from_int(vector_int x) {
  return __builtin_convertvector(x, vector_float);
}

/// Rounds toward zero.
VECTOR_OPERATION vector_int vector_to_int(vector_float x) {
  return __builtin_convertvector(x, vector_int);
}

VECTOR_OPERATION vector_int vector_maximum(vector_int a, vector_int b) {
  return __builtin_elementwise_max(a, b);
}

/// Clamps `x` to `-bound`…`bound`.
VECTOR_OPERATION vector_int vector_limit(vector_int x, int bound) {
  vector_int high = bound;
  return __builtin_elementwise_max(__builtin_elementwise_min(x, high), -high);
}

VECTOR_OPERATION int vector_sum(vector_int x) { return __builtin_reduce_add(x); }

/// `scale * x + bias`, rounded once.
VECTOR_OPERATION vector_float vector_scale(vector_int x, vector_float scale, vector_float bias) {
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_elementwise_fma(__builtin_convertvector(x, vector_float), scale, bias);
#else
  typedef double wide __attribute__((ext_vector_type(VECTOR_LANES)));
  wide product = __builtin_convertvector(x, wide) * __builtin_convertvector(scale, wide);
  return __builtin_convertvector(product + __builtin_convertvector(bias, wide), vector_float);
#endif
}

VECTOR_OPERATION vector_int vector_from_bytes(vector_bytes x) {
  return __builtin_convertvector(x, vector_int);
}

/// Stores the lowest byte of each lane.
static inline __attribute__((always_inline, unused)) void vector_store_bytes(
    vector_int x, void *target) {
  typedef vector_bytes unaligned __attribute__((aligned(1)));
  *(unaligned *)target = __builtin_convertvector(x, vector_bytes);
}

/// Adds to each lane the sum of four products: unsigned bytes of `a` by signed bytes of `b`. AVX2 and
/// AVX-512 need VNNI, whose instruction has no name here, because the rest of the module must not
/// contain it.
VECTOR_OPERATION vector_int vector_add_byte_products(vector_int sum, vector_int a, vector_int b) {
#if defined(__AVX512F__)
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  return sum;
#elif defined(__AVX2__)
  __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
  return sum;
#else
  return sum + (a & 255) * (b << 24 >> 24) + (a >> 8 & 255) * (b << 16 >> 24)
         + (a >> 16 & 255) * (b << 8 >> 24) + (a >> 24 & 255) * (b >> 24);
#endif
}

typedef short vector_shorts __attribute__((ext_vector_type(VECTOR_LANES)));
typedef vector_shorts unaligned_shorts __attribute__((aligned(1)));
typedef vector_bytes unaligned_bytes __attribute__((aligned(1)));

/// Loads signed 24-bit codes from their high 16 bits and their low 8 bits.
static inline __attribute__((always_inline, unused)) vector_int vector_load_fixed(
    const void *high, const void *low) {
  vector_int highs = __builtin_convertvector(*(const unaligned_shorts *)high, vector_int);
  return highs << 8 | vector_from_bytes(*(const unaligned_bytes *)low);
}

/// The inverse of `vector_load_fixed`.
static inline __attribute__((always_inline, unused)) void vector_store_fixed(
    vector_int codes, void *high, void *low) {
  *(unaligned_shorts *)high = __builtin_convertvector(codes >> 8, vector_shorts);
  *(unaligned_bytes *)low = __builtin_convertvector(codes, vector_bytes);
}

/// One vector of contiguous codes of `bits` bits, highest bits first, starting at code
/// `part * VECTOR_LANES`. With eight or more lanes, `part` must be 0. Reads as many bytes as there
/// are lanes, starting with the byte in which the first code begins.
static inline __attribute__((always_inline, unused)) vector_int vector_codes(
    const void *bytes, int bits, int part) {
  typedef unsigned short words __attribute__((ext_vector_type(VECTOR_LANES)));
  typedef vector_bytes unaligned __attribute__((aligned(1)));
  vector_bytes x, zeros = 0;
// The two bytes that contain code `i`, as indices into `x` and `zeros`, and its position in them.
#define BEGIN(bits, start, i) ((start) + (i) * (bits))
#define HIGH(bits, start, i) (BEGIN(bits, start, i) / 8)
#define LOW(bits, start, i)                                                                        \
  (HIGH(bits, start, i) + 1 < VECTOR_LANES ? HIGH(bits, start, i) + 1 : VECTOR_LANES)
#define PAIR(bits, start, i) LOW(bits, start, i), HIGH(bits, start, i)
#define PLACE(bits, start, i) BEGIN(bits, start, i) % 8
#define FOUR(what, bits, start, i)                                                                 \
  what(bits, start, i), what(bits, start, i + 1), what(bits, start, i + 2), what(bits, start, i + 3)
#if VECTOR_LANES == 16
#define ALL(what, bits, start)                                                                     \
  FOUR(what, bits, start, 0), FOUR(what, bits, start, 4), FOUR(what, bits, start, 8),              \
      FOUR(what, bits, start, 12)
#elif VECTOR_LANES == 8
#define ALL(what, bits, start) FOUR(what, bits, start, 0), FOUR(what, bits, start, 4)
#else
#define ALL(what, bits, start) FOUR(what, bits, start, 0)
#endif
#define CODES(bits, start, offset)                                                                 \
  {                                                                                                \
    x = *(const unaligned *)((const unsigned char *)bytes + offset);                               \
    words pairs = (words)__builtin_shufflevector(x, zeros, ALL(PAIR, bits, start));                \
    words places = {ALL(PLACE, bits, start)};                                                      \
    words codes = (pairs << places) >> (unsigned short)(16 - bits);                                \
    return __builtin_convertvector(codes, vector_int);                                             \
  }
#if VECTOR_LANES >= 8
#define CASE(bits)                                                                                 \
  case bits: CODES(bits, 0, 0)
#else
#define CASE(bits)                                                                                 \
  case bits:                                                                                       \
    if (part == 0) CODES(bits, 0, 0) else CODES(bits, bits * 4 % 8, bits * 4 / 8)
#endif
  switch (bits) {
    CASE(1)
    CASE(2)
    CASE(3)
    CASE(4)
    CASE(5)
    CASE(6)
    CASE(7)
    default:
      x = *(const unaligned *)((const unsigned char *)bytes + part * VECTOR_LANES);
      return vector_from_bytes(x);
  }
#undef CASE
#undef CODES
#undef ALL
#undef FOUR
#undef PLACE
#undef PAIR
#undef LOW
#undef HIGH
#undef BEGIN
}

/// `table[code]` for codes of at most VECTOR_TABLE_BITS bits.
#if defined(__AVX512F__)
#define VECTOR_TABLE_BITS 7
#elif defined(__AVX2__)
#define VECTOR_TABLE_BITS 4
#else
#define VECTOR_TABLE_BITS 0
#endif
static inline __attribute__((always_inline, unused)) vector_float vector_look_up(
    vector_int codes, int bits, const float *table) {
  typedef vector_float row __attribute__((aligned(4)));
  const row *rows = (const row *)table;
#if defined(__AVX512F__)
#define PAIR(i) __builtin_ia32_vpermi2varps512(rows[2 * (i)], codes, rows[2 * (i) + 1])
  if (bits <= 4) return __builtin_ia32_permvarsf512(rows[0], codes);
  if (bits == 5) return PAIR(0);
  vector_int bit5 = codes << 26, bit6 = codes << 25;
  vector_float low = vector_select(bit5, PAIR(1), PAIR(0));
  if (bits == 6) return low;
  return vector_select(bit6, vector_select(bit5, PAIR(3), PAIR(2)), low);
#undef PAIR
#elif defined(__AVX2__)
  vector_float low = __builtin_ia32_permvarsf256(rows[0], codes);
  if (bits <= 3) return low;
  return vector_select(codes << 28, __builtin_ia32_permvarsf256(rows[1], codes), low);
#else
  return rows[0];
#endif
}

#if defined(__AVX2__)
/// One vector of codes of 1, 2 or 4 bits, in the lowest bits of the lanes; the higher bits are
/// undefined. `bytes` starts with the first code; no other bytes are read.
static inline __attribute__((always_inline, unused)) vector_int vector_loose_codes(
    const void *bytes, int bits) {
  typedef unsigned int lanes __attribute__((ext_vector_type(VECTOR_LANES)));
  typedef unsigned int unaligned_word __attribute__((aligned(1)));
  typedef unsigned short unaligned_half __attribute__((aligned(1)));
#define PLACE(bits, i) (i) * (bits) / 8 * 8 % 32 + 8 - (bits) - (i) * (bits) % 8
#define FOUR(bits, i) PLACE(bits, i), PLACE(bits, i + 1), PLACE(bits, i + 2), PLACE(bits, i + 3)
#if VECTOR_LANES == 16
#define PLACES(bits) {FOUR(bits, 0), FOUR(bits, 4), FOUR(bits, 8), FOUR(bits, 12)}
  if (bits == 4) {
    typedef unsigned int two __attribute__((ext_vector_type(2)));
    typedef two unaligned_two __attribute__((aligned(1)));
    two x = *(const unaligned_two *)bytes;
    lanes places = PLACES(4);
    return (vector_int)(
        __builtin_shufflevector(x, x, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1) >> places);
  }
  if (bits == 2) {
    lanes places = PLACES(2);
    return (vector_int)((lanes) * (const unaligned_word *)bytes >> places);
  }
  lanes places = PLACES(1);
  return (vector_int)((lanes)(unsigned int) * (const unaligned_half *)bytes >> places);
#else
#define PLACES(bits) {FOUR(bits, 0), FOUR(bits, 4)}
  if (bits == 4) {
    lanes places = PLACES(4);
    return (vector_int)((lanes) * (const unaligned_word *)bytes >> places);
  }
  if (bits == 2) {
    lanes places = PLACES(2);
    return (vector_int)((lanes)(unsigned int) * (const unaligned_half *)bytes >> places);
  }
  lanes places = PLACES(1);
  return (vector_int)((lanes)(unsigned int) * (const unsigned char *)bytes >> places);
#endif
#undef PLACES
#undef FOUR
#undef PLACE
}

/// Looks up loose codes in a table of 16 values, which repeat if codes have fewer than four bits:
/// `low` is its first vector and `high`, if there are two, its second.
VECTOR_OPERATION vector_float vector_look_up_loose(
    vector_int codes, int bits, vector_float low, vector_float high) {
#if VECTOR_LANES == 16
  return __builtin_ia32_permvarsf512(low, codes);
#else
  vector_float value = __builtin_ia32_permvarsf256(low, codes);
  if (bits < 4) return value;
  return vector_select(codes << 28, __builtin_ia32_permvarsf256(high, codes), value);
#endif
}
#endif

#if defined(__AVX512BW__)
/// Looks up 32 · `count` bytes per row in a table of 256 floats, which is kept in registers: eight
/// for the floats' low halves and eight for their high halves.
static inline __attribute__((always_inline, unused)) void vector_look_up_bytes(
    const void *bytes, long row_stride, long rows, long count, const float *values, void *target,
    long target_stride) {
  typedef unsigned int integers __attribute__((ext_vector_type(32)));
  typedef integers unaligned_integers __attribute__((aligned(4)));
  typedef unsigned short words __attribute__((ext_vector_type(32)));
  typedef words unaligned_words __attribute__((aligned(4)));
  typedef short integer_words __attribute__((ext_vector_type(32)));
  typedef unsigned char eights __attribute__((ext_vector_type(32)));
  typedef int fours __attribute__((ext_vector_type(8)));
  typedef fours unaligned_fours __attribute__((aligned(1)));
  words low[8], high[8];
  for (int i = 0; i < 8; i++) {
    integers bits = ((const unaligned_integers *)values)[i];
    low[i] = __builtin_convertvector(bits, words);
    high[i] = __builtin_convertvector(bits >> 16, words);
  }
  for (long row = 0; row < rows; row++) {
    const char *source = (const char *)bytes + row * row_stride;
    float *output = (float *)target + row * target_stride;
    for (long i = 0; i < count; i++) {
      // Permuted so that interleaving low and high halves by fours restores the order.
      fours all = ((const unaligned_fours *)source)[i];
      all = __builtin_shufflevector(all, all, 0, 4, 1, 5, 2, 6, 3, 7);
      words codes = __builtin_convertvector((eights)all, words);
      integer_words bit6 = (integer_words)(codes << 9), bit7 = (integer_words)(codes << 8);
#define PAIR(t, i)                                                                                 \
  (words) __builtin_ia32_vpermi2varhi512(                                                          \
      (integer_words)t[2 * i], (integer_words)codes, (integer_words)t[2 * i + 1])
#define CHOOSE(t)                                                                                  \
  (bit7 < 0 ? (bit6 < 0 ? PAIR(t, 3) : PAIR(t, 2)) : (bit6 < 0 ? PAIR(t, 1) : PAIR(t, 0)))
      words lows = CHOOSE(low), highs = CHOOSE(high);
#undef CHOOSE
#undef PAIR
#define FOUR(i) i, 32 + i, i + 1, 33 + i, i + 2, 34 + i, i + 3, 35 + i
      ((unaligned_words *)output)[2 * i] =
          __builtin_shufflevector(lows, highs, FOUR(0), FOUR(8), FOUR(16), FOUR(24));
      ((unaligned_words *)output)[2 * i + 1] =
          __builtin_shufflevector(lows, highs, FOUR(4), FOUR(12), FOUR(20), FOUR(28));
#undef FOUR
    }
  }
}

/// Whether a processor with the rest of AVX-512 also supports AVX-512 VBMI.
static inline _Bool vector_permutes_bytes(void) {
  unsigned int a = 7, b, c = 0, d;
  __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return c >> 1 & 1;
}

/// Like `vector_look_up_bytes`, for 64 · `count` bytes, by permutations of bytes: the floats' four
/// bytes are in separate planes of four registers each.
static __attribute__((target("avx512vbmi"), noinline, unused)) void vector_permute_bytes(
    const void *bytes, long row_stride, long rows, long count, const float *values, void *target,
    long target_stride) {
  typedef unsigned int integers __attribute__((ext_vector_type(64)));
  typedef integers unaligned_integers __attribute__((aligned(4)));
  typedef unsigned char eights __attribute__((ext_vector_type(64)));
  typedef signed char signs __attribute__((ext_vector_type(64)));
  typedef char chars __attribute__((vector_size(64)));
  typedef unsigned short words __attribute__((ext_vector_type(32)));
  typedef words unaligned_words __attribute__((aligned(4)));
  typedef int fours __attribute__((ext_vector_type(16)));
  typedef fours unaligned_fours __attribute__((aligned(1)));
  eights planes[4][4];
  for (int i = 0; i < 4; i++) {
    integers bits = ((const unaligned_integers *)values)[i];
    for (int plane = 0; plane < 4; plane++)
      planes[plane][i] = __builtin_convertvector(bits >> 8 * plane, eights);
  }
  for (long row = 0; row < rows; row++) {
    const char *source = (const char *)bytes + row * row_stride;
    float *output = (float *)target + row * target_stride;
    for (long i = 0; i < count; i++) {
      // Permuted so that interleaving the four planes below restores the order.
      fours all = ((const unaligned_fours *)source)[i];
      all = __builtin_shufflevector(
          all, all, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
      eights codes = (eights)all, found[4];
      for (int plane = 0; plane < 4; plane++) {
        const eights *table = planes[plane];
#define PAIR(i)                                                                                    \
  (eights) __builtin_ia32_vpermi2varqi512(                                                         \
      (chars)table[2 * i], (chars)codes, (chars)table[2 * i + 1])
        found[plane] = (signs)codes < 0 ? PAIR(1) : PAIR(0);
#undef PAIR
      }
#define EIGHT(i)                                                                                   \
  i, 64 + i, i + 1, 65 + i, i + 2, 66 + i, i + 3, 67 + i, i + 4, 68 + i, i + 5, 69 + i, i + 6,     \
      70 + i, i + 7, 71 + i
#define LOW(a, b) __builtin_shufflevector(a, b, EIGHT(0), EIGHT(16), EIGHT(32), EIGHT(48))
#define HIGH(a, b) __builtin_shufflevector(a, b, EIGHT(8), EIGHT(24), EIGHT(40), EIGHT(56))
      words halves[4] = {
          (words)LOW(found[0], found[1]), (words)LOW(found[2], found[3]),
          (words)HIGH(found[0], found[1]), (words)HIGH(found[2], found[3])};
#undef HIGH
#undef LOW
#undef EIGHT
#define FOUR(i) i, 32 + i, i + 1, 33 + i, i + 2, 34 + i, i + 3, 35 + i
      for (int half = 0; half < 2; half++) {
        words low = halves[2 * half], high = halves[2 * half + 1];
        unaligned_words *to = (unaligned_words *)output + 4 * i + 2 * half;
        to[0] = __builtin_shufflevector(low, high, FOUR(0), FOUR(8), FOUR(16), FOUR(24));
        to[1] = __builtin_shufflevector(low, high, FOUR(4), FOUR(12), FOUR(20), FOUR(28));
      }
#undef FOUR
    }
  }
}
#endif

/// Converts IEEE 754 binary16 values exactly.
VECTOR_OPERATION vector_float vector_from_half(vector_half x) {
#if defined(__F16C__) || defined(__aarch64__)
  typedef _Float16 native __attribute__((ext_vector_type(VECTOR_LANES)));
  return __builtin_convertvector((native)x, vector_float);
#else
  vector_int h = __builtin_convertvector(x, vector_int);
  vector_int magnitude = (h & 0x7fff) << 13;
  // Computes a subnormal value as the difference of two normal ones: subnormal products are slow.
  vector_float subnormal =
      (vector_float)(magnitude + 0x38800000) - (vector_float)((vector_int)0x38800000);
  vector_int normal = magnitude + 0x38000000 + ((magnitude >= 0x7c00 << 13) & 0x38000000);
  vector_int value = magnitude < 0x400 << 13 ? (vector_int)subnormal : normal;
  return (vector_float)(value | (h & 0x8000) << 16);
#endif
}

/// Rounds finite numbers to IEEE 754 binary16, ties to even, and those from 65520 on to infinity.
VECTOR_OPERATION vector_float vector_round_to_half(vector_float x) {
#if defined(__F16C__) || defined(__aarch64__)
  typedef _Float16 native __attribute__((ext_vector_type(VECTOR_LANES)));
  return __builtin_convertvector(__builtin_convertvector(x, native), vector_float);
#else
  vector_int bits = (vector_int)x & 0x7fffffff;
  // The spacing of subnormal values, 2⁻²⁴, is that of floats near 0.5.
  vector_float subnormal = ((vector_float)bits + 0.5f) - 0.5f;
  vector_int normal = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fff;
  vector_int large = normal < 0x47800000 ? normal : (vector_int)0x7f800000;
  vector_int value = bits < 0x38800000 ? (vector_int)subnormal : large;
  return (vector_float)(value | ((vector_int)x & (int)0x80000000));
#endif
}

#endif
