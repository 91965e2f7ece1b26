/// The functions of Apple's vForce that custom layers call, for floats, with an f at the end of the
/// name, and for doubles; n is the number of elements, and the result comes first.
#ifndef VFORCE_H
#define VFORCE_H

#include <assay_plugin_host.h>
#include <tgmath.h>

#pragma STDC FP_CONTRACT OFF
#pragma clang assume_nonnull begin

#define VFORCE_BOTH(SHAPE, name, ...)                                                              \
  SHAPE(float, name##f, __VA_ARGS__)                                                               \
  SHAPE(double, name, __VA_ARGS__)
#define VFORCE_EACH(i, n) for (int i = 0; i < (n); i++)

// `value` computes an element from x, that of the operand.
#define VFORCE_UNARY(T, name, value)                                                               \
  static inline void name(T *result, const T *operand, const int *n) {                             \
    VFORCE_EACH(i, *n) {                                                                           \
      const T x = operand[i];                                                                      \
      result[i] = value;                                                                           \
    }                                                                                              \
  }
// With y, that of the first operand, and x, that of the second.
#define VFORCE_BINARY(T, name, value)                                                              \
  static inline void name(T *result, const T *first, const T *second, const int *n) {              \
    VFORCE_EACH(i, *n) {                                                                           \
      const T y = first[i], x = second[i];                                                         \
      result[i] = value;                                                                           \
    }                                                                                              \
  }

// The program's own functions, where the plug-in runs in one: they are vectorized for its processor
// and those of its own layers.
static inline size_t vforce_count(int n) { return n < 0 ? 0 : (size_t)n; }
#define VFORCE_HOSTED_UNARY(name, function, value)                                                 \
  VFORCE_UNARY(float, vforce_##function, value)                                                    \
  VFORCE_UNARY(double, name, value)                                                                \
  static inline void name##f(float *result, const float *operand, const int *n) {                  \
    const assay_host *host = assay_plugin_host();                                                  \
    if (!ASSAY_HOST_HAS(host, function)) return vforce_##function(result, operand, n);                                       \
    host->function(operand, result, vforce_count(*n));                                             \
  }

VFORCE_HOSTED_UNARY(vvexp, exponential, exp(x))
VFORCE_HOSTED_UNARY(vvlog, logarithm, log(x))
VFORCE_HOSTED_UNARY(vvtanh, tangent_hyperbolic, tanh(x))
VFORCE_HOSTED_UNARY(vvsqrt, square_root, sqrt(x))
VFORCE_HOSTED_UNARY(vvexpm1, exponential_minus_one, expm1(x))
VFORCE_HOSTED_UNARY(vvlog1p, logarithm_one_plus, log1p(x))
VFORCE_HOSTED_UNARY(vvsin, sine, sin(x))
VFORCE_HOSTED_UNARY(vvcos, cosine, cos(x))
VFORCE_HOSTED_UNARY(vvtan, tangent, tan(x))
VFORCE_HOSTED_UNARY(vvasin, arc_sine, asin(x))
VFORCE_HOSTED_UNARY(vvacos, arc_cosine, acos(x))
VFORCE_HOSTED_UNARY(vvatan, arc_tangent, atan(x))
VFORCE_HOSTED_UNARY(vvsinh, hyperbolic_sine, sinh(x))
VFORCE_HOSTED_UNARY(vvcosh, hyperbolic_cosine, cosh(x))

VFORCE_BOTH(VFORCE_UNARY, vvexp2, exp2(x))
VFORCE_BOTH(VFORCE_UNARY, vvlog2, log2(x))
VFORCE_BOTH(VFORCE_UNARY, vvlog10, log10(x))
VFORCE_BOTH(VFORCE_UNARY, vvcbrt, cbrt(x))
VFORCE_BOTH(VFORCE_UNARY, vvrsqrt, 1 / sqrt(x))
VFORCE_BOTH(VFORCE_UNARY, vvrec, 1 / x)
VFORCE_BOTH(VFORCE_UNARY, vvfabs, fabs(x))
VFORCE_BOTH(VFORCE_UNARY, vvfloor, floor(x))
VFORCE_BOTH(VFORCE_UNARY, vvceil, ceil(x))
VFORCE_BOTH(VFORCE_UNARY, vvint, trunc(x))
// The nearest integer, an even one of two.
VFORCE_BOTH(VFORCE_UNARY, vvnint, rint(x))

VFORCE_BINARY(float, vforce_divide, y / x)
VFORCE_BINARY(double, vvdiv, y / x)
static inline void vvdivf(
    float *result, const float *first, const float *second, const int *n) {
  const assay_host *host = assay_plugin_host();
  if (!host) return vforce_divide(result, first, second, n);
  host->divide(first, second, result, vforce_count(*n));
}
// The exponents come first.
VFORCE_BINARY(float, vforce_power, pow(x, y))
VFORCE_BINARY(double, vvpow, pow(x, y))
static inline void vvpowf(
    float *result, const float *exponents, const float *bases, const int *n) {
  const assay_host *host = assay_plugin_host();
  if (!ASSAY_HOST_HAS(host, power)) return vforce_power(result, exponents, bases, n);
  host->power(bases, exponents, result, vforce_count(*n));
}
VFORCE_BOTH(VFORCE_BINARY, vvatan2, atan2(y, x))
VFORCE_BOTH(VFORCE_BINARY, vvfmod, fmod(y, x))
VFORCE_BOTH(VFORCE_BINARY, vvcopysign, copysign(y, x))

// One exponent for all.
#define VFORCE_POWER(T, name, value)                                                               \
  static inline void name(T *result, const T *exponent, const T *base, const int *n) {             \
    const T y = *exponent;                                                                         \
    VFORCE_EACH(i, *n) {                                                                           \
      const T x = base[i];                                                                         \
      result[i] = value;                                                                           \
    }                                                                                              \
  }
VFORCE_POWER(float, vforce_power_of_one, pow(x, y))
VFORCE_POWER(double, vvpows, pow(x, y))
static inline void vvpowsf(
    float *result, const float *exponent, const float *bases, const int *n) {
  const assay_host *host = assay_plugin_host();
  if (!ASSAY_HOST_HAS(host, power_of_one)) return vforce_power_of_one(result, exponent, bases, n);
  host->power_of_one(bases, *exponent, result, vforce_count(*n));
}

#pragma clang assume_nonnull end
#endif
