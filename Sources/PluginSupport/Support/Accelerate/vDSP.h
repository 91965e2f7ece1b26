/// The functions of Apple's vDSP that custom layers call, with their signatures and operand orders.
/// Each stands for floats and, with a D at the end of its name, for doubles; a result may be where
/// an operand is. Every operation is rounded on its own, except where a program has loaded the plug-in
/// and its own layers' function takes part: see `vDSP_vsmsa` and the sums.
#ifndef VDSP_H
#define VDSP_H

#include <assay_plugin_host.h>
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>

#pragma STDC FP_CONTRACT OFF
#pragma clang assume_nonnull begin

typedef unsigned long vDSP_Length;
typedef long vDSP_Stride;

// An operand is a vector with the distance between its values, or one value for all.
#define VDSP_VECTOR(T, x) const T *x, vDSP_Stride i##x
#define VDSP_VALUE(T, x) const T *x
#define VDSP_RESULT(T, x) T *x, vDSP_Stride i##x

#define VDSP_BOTH(SHAPE, name, ...)                                                                \
  SHAPE(float, name, __VA_ARGS__)                                                                  \
  SHAPE(double, name##D, __VA_ARGS__)
#define VDSP_EACH(i, n) for (vDSP_Stride i = 0; i < (vDSP_Stride)(n); i++)

// MARK: - Vectors from vectors

// The name tells the operands in order, V for a vector and S for one value. `value` computes an
// element from a, b and c, the elements of the first, second and third.
#define VDSP_V(T, name, value)                                                                     \
  static inline void name(VDSP_VECTOR(T, x), VDSP_RESULT(T, r), vDSP_Length n) {                   \
    VDSP_EACH(i, n) {                                                                              \
      const T a = x[i * ix];                                                                       \
      r[i * ir] = value;                                                                           \
    }                                                                                              \
  }
#define VDSP_VV(T, name, value)                                                                    \
  static inline void name(                                                                         \
      VDSP_VECTOR(T, x), VDSP_VECTOR(T, y), VDSP_RESULT(T, r), vDSP_Length n) {                    \
    VDSP_EACH(i, n) {                                                                              \
      const T a = x[i * ix], b = y[i * iy];                                                        \
      r[i * ir] = value;                                                                           \
    }                                                                                              \
  }
#define VDSP_VVV(T, name, value)                                                                   \
  static inline void name(                                                                         \
      VDSP_VECTOR(T, x), VDSP_VECTOR(T, y), VDSP_VECTOR(T, z), VDSP_RESULT(T, r),                  \
      vDSP_Length n) {                                                                             \
    VDSP_EACH(i, n) {                                                                              \
      const T a = x[i * ix], b = y[i * iy], c = z[i * iz];                                         \
      r[i * ir] = value;                                                                           \
    }                                                                                              \
  }
#define VDSP_VS(T, name, value)                                                                    \
  static inline void name(                                                                         \
      VDSP_VECTOR(T, x), VDSP_VALUE(T, y), VDSP_RESULT(T, r), vDSP_Length n) {                     \
    const T b = *y;                                                                                \
    VDSP_EACH(i, n) {                                                                              \
      const T a = x[i * ix];                                                                       \
      r[i * ir] = value;                                                                           \
    }                                                                                              \
  }
#define VDSP_SV(T, name, value)                                                                    \
  static inline void name(                                                                         \
      VDSP_VALUE(T, x), VDSP_VECTOR(T, y), VDSP_RESULT(T, r), vDSP_Length n) {                     \
    const T a = *x;                                                                                \
    VDSP_EACH(i, n) {                                                                              \
      const T b = y[i * iy];                                                                       \
      r[i * ir] = value;                                                                           \
    }                                                                                              \
  }
#define VDSP_VSS(T, name, value)                                                                   \
  static inline void name(                                                                         \
      VDSP_VECTOR(T, x), VDSP_VALUE(T, y), VDSP_VALUE(T, z), VDSP_RESULT(T, r), vDSP_Length n) {   \
    const T b = *y, c = *z;                                                                        \
    VDSP_EACH(i, n) {                                                                              \
      const T a = x[i * ix];                                                                       \
      r[i * ir] = value;                                                                           \
    }                                                                                              \
  }
#define VDSP_VSV(T, name, value)                                                                   \
  static inline void name(                                                                         \
      VDSP_VECTOR(T, x), VDSP_VALUE(T, y), VDSP_VECTOR(T, z), VDSP_RESULT(T, r), vDSP_Length n) {  \
    const T b = *y;                                                                                \
    VDSP_EACH(i, n) {                                                                              \
      const T a = x[i * ix], c = z[i * iz];                                                        \
      r[i * ir] = value;                                                                           \
    }                                                                                              \
  }
#define VDSP_VVS(T, name, value)                                                                   \
  static inline void name(                                                                         \
      VDSP_VECTOR(T, x), VDSP_VECTOR(T, y), VDSP_VALUE(T, z), VDSP_RESULT(T, r), vDSP_Length n) {  \
    const T c = *z;                                                                                \
    VDSP_EACH(i, n) {                                                                              \
      const T a = x[i * ix], b = y[i * iy];                                                        \
      r[i * ir] = value;                                                                           \
    }                                                                                              \
  }

VDSP_BOTH(VDSP_V, vDSP_vneg, -a)
VDSP_BOTH(VDSP_V, vDSP_vabs, fabs(a))
VDSP_BOTH(VDSP_V, vDSP_vnabs, -fabs(a))
VDSP_BOTH(VDSP_V, vDSP_vsq, a *a)
VDSP_BOTH(VDSP_V, vDSP_vssq, a *fabs(a))
VDSP_BOTH(VDSP_V, vDSP_vfrac, a - trunc(a))

// A difference and a quotient take the right operand first.
VDSP_BOTH(VDSP_VV, vDSP_vadd, a + b)
VDSP_BOTH(VDSP_VV, vDSP_vsub, b - a)
VDSP_BOTH(VDSP_VV, vDSP_vmul, a *b)
VDSP_BOTH(VDSP_VV, vDSP_vdiv, b / a)
VDSP_BOTH(VDSP_VV, vDSP_vmax, a < b ? b : a)
VDSP_BOTH(VDSP_VV, vDSP_vmin, a > b ? b : a)
VDSP_BOTH(VDSP_VV, vDSP_vmaxmg, fabs(a) < fabs(b) ? fabs(b) : fabs(a))
VDSP_BOTH(VDSP_VV, vDSP_vminmg, fabs(a) > fabs(b) ? fabs(b) : fabs(a))

VDSP_BOTH(VDSP_VVV, vDSP_vma, a *b + c)
VDSP_BOTH(VDSP_VVV, vDSP_vmsb, a *b - c)
VDSP_BOTH(VDSP_VVV, vDSP_vam, (a + b) * c)
VDSP_BOTH(VDSP_VVV, vDSP_vsbm, (a - b) * c)

VDSP_BOTH(VDSP_VS, vDSP_vsadd, a + b)
VDSP_BOTH(VDSP_VS, vDSP_vsmul, a *b)
VDSP_BOTH(VDSP_VS, vDSP_vsdiv, a / b)
VDSP_BOTH(VDSP_VS, vDSP_vthr, a >= b ? a : b)
VDSP_BOTH(VDSP_VS, vDSP_vthres, a >= b ? a : 0)
VDSP_BOTH(VDSP_SV, vDSP_svdiv, a / b)

VDSP_VSS(float, vdsp_scale_add, a *b + c)
VDSP_VSS(double, vDSP_vsmsaD, a *b + c)
static inline void vDSP_vsmsa(
    VDSP_VECTOR(float, x), VDSP_VALUE(float, y), VDSP_VALUE(float, z), VDSP_RESULT(float, r),
    vDSP_Length n) {
  const assay_host *host = assay_plugin_host();
  if (ix != 1 || ir != 1 || !ASSAY_HOST_HAS(host, scale_add))
    return vdsp_scale_add(x, ix, y, z, r, ir, n);
  host->scale_add(x, *y, *z, r, n);
}
VDSP_BOTH(VDSP_VSS, vDSP_vclip, (a < b ? b : a) > c ? c : (a < b ? b : a))
VDSP_BOTH(VDSP_VSS, vDSP_vthrsc, a >= b ? c : -c)
VDSP_BOTH(VDSP_VSS, vDSP_vlim, b <= a ? c : -c)

VDSP_BOTH(VDSP_VSV, vDSP_vsma, a *b + c)
VDSP_BOTH(VDSP_VSV, vDSP_vsmsb, a *b - c)

VDSP_BOTH(VDSP_VVS, vDSP_vmsa, a *b + c)
VDSP_BOTH(VDSP_VVS, vDSP_vasm, (a + b) * c)
VDSP_BOTH(VDSP_VVS, vDSP_vsbsm, (a - b) * c)
VDSP_BOTH(VDSP_VVS, vDSP_vintb, a + c * (b - a))

// MARK: - One value from vectors

// `next` is what becomes of the result r with the element a; `last` what is stored at the end.
#define VDSP_FOLD(T, name, first, next, last)                                                      \
  static inline void name(VDSP_VECTOR(T, x), T *result, vDSP_Length n) {                           \
    T r = first;                                                                                   \
    VDSP_EACH(i, n) {                                                                              \
      const T a = x[i * ix];                                                                       \
      r = next;                                                                                    \
    }                                                                                              \
    *result = last;                                                                                \
  }

// Of floats by the program's function, where the plug-in runs in one.
#define VDSP_HOSTED_FOLD(name, function, first, next, last)                                        \
  VDSP_FOLD(float, name##_alone, first, next, last)                                                \
  VDSP_FOLD(double, name##D, first, next, last)                                                    \
  static inline void name(VDSP_VECTOR(float, x), float *result, vDSP_Length n) {                   \
    const assay_host *host = assay_plugin_host();                                                  \
    if (ix != 1 || !ASSAY_HOST_HAS(host, function)) return name##_alone(x, ix, result, n);         \
    const double r = host->function(x, n);                                                         \
    *result = (float)(last);                                                                       \
  }

VDSP_HOSTED_FOLD(vDSP_sve, sum, 0, r + a, r)
VDSP_HOSTED_FOLD(vDSP_svesq, sum_of_squares, 0, r + a * a, r)
VDSP_HOSTED_FOLD(vDSP_meanv, sum, 0, r + a, r / n)
VDSP_HOSTED_FOLD(vDSP_measqv, sum_of_squares, 0, r + a * a, r / n)
VDSP_BOTH(VDSP_FOLD, vDSP_svemg, 0, r + fabs(a), r)
VDSP_BOTH(VDSP_FOLD, vDSP_meamgv, 0, r + fabs(a), r / n)
VDSP_BOTH(VDSP_FOLD, vDSP_rmsqv, 0, r + a * a, sqrt(r / n))
VDSP_BOTH(VDSP_FOLD, vDSP_maxv, -INFINITY, a >= r ? a : r, r)
VDSP_BOTH(VDSP_FOLD, vDSP_minv, INFINITY, a < r ? a : r, r)
VDSP_BOTH(VDSP_FOLD, vDSP_maxmgv, 0, fabs(a) >= r ? fabs(a) : r, r)

// The extreme value and the place of the first such value, times the stride.
#define VDSP_PLACE(T, name, first, isBetter)                                                       \
  static inline void name(VDSP_VECTOR(T, x), T *result, vDSP_Length *place, vDSP_Length n) {       \
    *result = first;                                                                               \
    *place = 0;                                                                                    \
    VDSP_EACH(i, n) {                                                                              \
      if (!(x[i * ix] isBetter *result)) continue;                                                 \
      *result = x[i * ix];                                                                         \
      *place = (vDSP_Length)labs(i * ix);                                                          \
    }                                                                                              \
  }

VDSP_BOTH(VDSP_PLACE, vDSP_maxvi, -INFINITY, >)
VDSP_BOTH(VDSP_PLACE, vDSP_minvi, INFINITY, <)

// The sum of `term` over the elements a and b.
#define VDSP_SUM(T, name, term)                                                                    \
  static inline void name(VDSP_VECTOR(T, x), VDSP_VECTOR(T, y), T *result, vDSP_Length n) {        \
    T sum = 0;                                                                                     \
    VDSP_EACH(i, n) {                                                                              \
      const T a = x[i * ix], b = y[i * iy];                                                        \
      sum += term;                                                                                 \
    }                                                                                              \
    *result = sum;                                                                                 \
  }

VDSP_BOTH(VDSP_SUM, vDSP_dotpr, a *b)
VDSP_BOTH(VDSP_SUM, vDSP_distancesq, (a - b) * (a - b))

// MARK: - Filling, exchanging and matrices

#define VDSP_OTHERS(T, D)                                                                          \
  static inline void vDSP_vfill##D(VDSP_VALUE(T, x), VDSP_RESULT(T, r), vDSP_Length n) {           \
    const T a = *x;                                                                                \
    VDSP_EACH(i, n) r[i * ir] = a;                                                                 \
  }                                                                                                \
  static inline void vDSP_vclr##D(VDSP_RESULT(T, r), vDSP_Length n) {                              \
    VDSP_EACH(i, n) r[i * ir] = 0;                                                                 \
  }                                                                                                \
  /* r[i] = x + i · y */                                                                           \
  static inline void vDSP_vramp##D(                                                                \
      VDSP_VALUE(T, x), VDSP_VALUE(T, y), VDSP_RESULT(T, r), vDSP_Length n) {                      \
    const T a = *x, b = *y;                                                                        \
    VDSP_EACH(i, n) r[i * ir] = a + i * b;                                                         \
  }                                                                                                \
  /* Turns the order around. */                                                                    \
  static inline void vDSP_vrvrs##D(VDSP_RESULT(T, r), vDSP_Length n) {                             \
    VDSP_EACH(i, n / 2) {                                                                          \
      T *const other = r + ((vDSP_Stride)n - 1 - i) * ir;                                          \
      const T a = r[i * ir];                                                                       \
      r[i * ir] = *other;                                                                          \
      *other = a;                                                                                  \
    }                                                                                              \
  }                                                                                                \
  static inline void vDSP_vswap##D(VDSP_RESULT(T, x), VDSP_RESULT(T, y), vDSP_Length n) {          \
    VDSP_EACH(i, n) {                                                                              \
      const T a = x[i * ix];                                                                       \
      x[i * ix] = y[i * iy];                                                                       \
      y[i * iy] = a;                                                                               \
    }                                                                                              \
  }                                                                                                \
  /* Copies n rows of m values; rows begin tx values apart in x and tr in r. */                    \
  static inline void vDSP_mmov##D(                                                                 \
      const T *x, T *r, vDSP_Length m, vDSP_Length n, vDSP_Length tx, vDSP_Length tr) {            \
    VDSP_EACH(row, n) memmove(r + row * tr, x + row * tx, m * sizeof(T));                          \
  }                                                                                                \
  /* The m rows of n values of r are the columns of x. */                                          \
  static inline void vDSP_mtrans##D(                                                               \
      VDSP_VECTOR(T, x), VDSP_RESULT(T, r), vDSP_Length m, vDSP_Length n) {                        \
    VDSP_EACH(row, m) VDSP_EACH(column, n) {                                                       \
      r[(row * (vDSP_Stride)n + column) * ir] = x[(column * (vDSP_Stride)m + row) * ix];           \
    }                                                                                              \
  }                                                                                                \
  /* r = x · y, of m rows, n columns and p products each */                                        \
  static inline void vDSP_mmul##D(                                                                 \
      VDSP_VECTOR(T, x), VDSP_VECTOR(T, y), VDSP_RESULT(T, r), vDSP_Length m, vDSP_Length n,       \
      vDSP_Length p) {                                                                             \
    VDSP_EACH(row, m) VDSP_EACH(column, n) {                                                       \
      T sum = 0;                                                                                   \
      VDSP_EACH(k, p) {                                                                            \
        sum += x[(row * (vDSP_Stride)p + k) * ix] * y[(k * (vDSP_Stride)n + column) * iy];         \
      }                                                                                            \
      r[(row * (vDSP_Stride)n + column) * ir] = sum;                                               \
    }                                                                                              \
  }

VDSP_OTHERS(float, )
VDSP_OTHERS(double, D)

// Floats as doubles, and doubles rounded to floats.
static inline void vDSP_vspdp(VDSP_VECTOR(float, x), VDSP_RESULT(double, r), vDSP_Length n) {
  VDSP_EACH(i, n) r[i * ir] = x[i * ix];
}
static inline void vDSP_vdpsp(VDSP_VECTOR(double, x), VDSP_RESULT(float, r), vDSP_Length n) {
  VDSP_EACH(i, n) r[i * ir] = (float)x[i * ix];
}

#pragma clang assume_nonnull end
#endif
