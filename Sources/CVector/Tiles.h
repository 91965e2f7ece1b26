/// Matrix products on tiles of bf16 numbers (AMX).
///
/// A float is the sum of three bf16 numbers, its parts, of eight bits each. A product of two floats
/// is the sum of six products of their parts; the other three are below 2⁻²³ of it. Tiles treat
/// subnormal numbers as zero.

#ifndef CVECTOR_TILES_H
#define CVECTOR_TILES_H

#include "CVector.h"

#if defined(__AVX512BW__)

/// Bytes of a tile: 16 rows of 32 bf16 numbers, in pairs whose products are added.
#define TILE_BYTES 1024L
#define TILE_PARTS 3L

/// Writes a row of each part's tile: 16 pairs of numbers to sum over, from the lanes of `first` and
/// `second`. If a value is not finite, neither is one of its parts.
///
/// - rounds: rounds to nearest, which takes longer than rounding toward zero. If both factors are
///   split toward zero, the omitted products have the sign of the product.
static inline __attribute__((always_inline, unused)) void tile_split(
    vector_float first, vector_float second, _Bool rounds, void *row, long part_stride) {
  typedef unsigned int words __attribute__((ext_vector_type(16)));
  for (int part = 0; part < TILE_PARTS; part++) {
    words a = (words)first, b = (words)second;
    if (part + 1 < TILE_PARTS) {
      a = (a + (rounds ? 0x8000 : 0)) & 0xffff0000;
      b = (b + (rounds ? 0x8000 : 0)) & 0xffff0000;
    }
    *(words *)((char *)row + part * part_stride) = a >> 16 | b;
    first -= (vector_float)a;
    second -= (vector_float)b;
  }
}

/// Calls the macro for each pair of parts to multiply, smallest products first: with the left and
/// the right part to load, or -1 to keep the loaded one. The largest products follow after all
/// steps of the others, which are rounded while sums are small and thus cost no accuracy.
#define TILE_SMALL_PRODUCTS(PRODUCT)                                                               \
  PRODUCT(2, 0) PRODUCT(1, -1) PRODUCT(-1, 1) PRODUCT(0, -1) PRODUCT(-1, 2)
#define TILE_LARGE_PRODUCT(PRODUCT) PRODUCT(0, 0)

#define TILE_FUNCTION static __attribute__((target("amx-tile,amx-bf16"), noinline, unused))

/// Configures the thread's tiles: eight tiles of 16 rows of 64 bytes.
TILE_FUNCTION void tile_begin(void) {
  struct {
    unsigned char palette, start, reserved[14];
    unsigned short row_bytes[16];
    unsigned char rows[16];
  } configuration = {.palette = 1};
  for (int i = 0; i < 8; i++) {
    configuration.row_bytes[i] = 64;
    configuration.rows[i] = 16;
  }
  __builtin_ia32_tile_loadconfig(&configuration);
}

TILE_FUNCTION void tile_end(void) { __builtin_ia32_tilerelease(); }

/// Floats to split: 32 rows of `steps` times two runs of 16. The left factor's rows are pixels, the
/// right factor's the 16 rows of a run of weights, in each of two vectors of columns.
typedef struct {
  const float *rows[32];
  /// Offsets of each step's two runs in a row, in units of `scale` floats; the second may be -1 for
  /// zeros.
  const long *offsets;
  long scale, steps;
  /// The parts of row `i` start at `i / 16 * half + i % 16 * 64 + step * step_stride`.
  char *target;
  long half, step_stride, part_stride;
} tile_source;

static inline __attribute__((always_inline, unused)) void tile_split_rows(
    const tile_source *source, _Bool rounds) {
  typedef vector_float row __attribute__((aligned(4)));
  for (long step = 0; step < source->steps; step++) {
    long first = source->offsets[2 * step] * source->scale;
    long second = source->offsets[2 * step + 1] * source->scale;
    char *target = source->target + step * source->step_stride;
    for (int i = 0; i < 32; i++) {
      vector_float zeros = 0;
      tile_split(
          *(const row *)(source->rows[i] + first),
          second < 0 ? zeros : *(const row *)(source->rows[i] + second), rounds,
          target + i / 16 * source->half + i % 16 * 64, source->part_stride);
    }
  }
}

/// Splits the left factor; if there are fewer than 32 rows, one is repeated.
static __attribute__((noinline, unused)) void tile_split_left(const tile_source *source) {
  tile_split_rows(source, 1);
}

static __attribute__((noinline, unused)) void tile_split_right(const tile_source *source) {
  tile_split_rows(source, 0);
}

/// `products[32][32] = left · right`.
///
/// - left: tiles `[2][step][part]`; the first index selects the upper or lower 16 rows.
/// - right: tiles `[step][part][2]`; the last index selects the left or right 16 columns.
TILE_FUNCTION void tile_multiply(
    const void *left, const void *right, long steps, float *products) {
  const long row = 64, below = steps * TILE_PARTS * TILE_BYTES;
  __builtin_ia32_tilezero(0);
  __builtin_ia32_tilezero(1);
  __builtin_ia32_tilezero(2);
  __builtin_ia32_tilezero(3);
#define PRODUCT(l, r)                                                                              \
  if (l >= 0) {                                                                                    \
    __builtin_ia32_tileloadd64(4, a + l * TILE_BYTES, row);                                        \
    __builtin_ia32_tileloadd64(5, a + l * TILE_BYTES + below, row);                                \
  }                                                                                                \
  if (r >= 0) {                                                                                    \
    __builtin_ia32_tileloadd64(6, b + 2 * r * TILE_BYTES, row);                                    \
    __builtin_ia32_tileloadd64(7, b + (2 * r + 1) * TILE_BYTES, row);                              \
  }                                                                                                \
  __builtin_ia32_tdpbf16ps(0, 4, 6);                                                               \
  __builtin_ia32_tdpbf16ps(1, 4, 7);                                                               \
  __builtin_ia32_tdpbf16ps(2, 5, 6);                                                               \
  __builtin_ia32_tdpbf16ps(3, 5, 7);
#define STEPS(PRODUCTS)                                                                            \
  for (long step = 0; step < steps; step++) {                                                      \
    const char *a = (const char *)left + step * TILE_PARTS * TILE_BYTES;                           \
    const char *b = (const char *)right + step * TILE_PARTS * 2 * TILE_BYTES;                      \
    PRODUCTS(PRODUCT)                                                                              \
  }
  STEPS(TILE_SMALL_PRODUCTS)
  STEPS(TILE_LARGE_PRODUCT)
#undef PRODUCT
  __builtin_ia32_tilestored64(0, products, 128);
  __builtin_ia32_tilestored64(1, products + 16, 128);
  __builtin_ia32_tilestored64(2, products + 16 * 32, 128);
  __builtin_ia32_tilestored64(3, products + 16 * 32 + 16, 128);
}

/// Adds the product of two tiles to `sums`, with even and odd numbers summed separately, as in AMX.
static inline void tile_add(const unsigned short *left, const unsigned short *right, float *sums) {
  typedef unsigned int words __attribute__((ext_vector_type(16)));
  for (int row = 0; row < 16; row++) {
    vector_float even = 0, odd = 0;
    for (int pair = 0; pair < 16; pair++) {
      words b = ((const words *)right)[pair];
      words a0 = (unsigned)left[32 * row + 2 * pair] << 16;
      words a1 = (unsigned)left[32 * row + 2 * pair + 1] << 16;
      even = __builtin_elementwise_fma((vector_float)a0, (vector_float)(b << 16), even);
      odd = __builtin_elementwise_fma((vector_float)a1, (vector_float)(b & 0xffff0000), odd);
    }
    *(vector_float *)(sums + 32 * row) += even + odd;
  }
}

/// `tile_multiply` without AMX, for tests; keeps subnormal numbers.
static __attribute__((noinline, unused)) void tile_multiply_emulated(
    const void *left, const void *right, long steps, float *products) {
  for (int i = 0; i < 32 * 32; i++) products[i] = 0;
  int x = 0, y = 0;
#define PRODUCT(l, r)                                                                              \
  if (l >= 0) x = l;                                                                               \
  if (r >= 0) y = r;                                                                               \
  for (int i = 0; i < 4; i++) {                                                                    \
    tile_add(                                                                                      \
        (const unsigned short *)(a + (i / 2 * steps * TILE_PARTS + x) * TILE_BYTES),               \
        (const unsigned short *)(b + (2 * y + i % 2) * TILE_BYTES),                                \
        products + i / 2 * 16 * 32 + i % 2 * 16);                                                  \
  }
  STEPS(TILE_SMALL_PRODUCTS)
  STEPS(TILE_LARGE_PRODUCT)
#undef PRODUCT
#undef STEPS
}
#endif

#endif
