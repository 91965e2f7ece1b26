// Checks the stand-ins of vDSP and vForce against numbers worked out by hand; prints what is wrong.
#include <assay_plugin_host.h>
#include <stdio.h>
#include <vDSP.h>
#include <vForce.h>

static int faults = 0;

static void expect(const char *name, const double *found, int stride, const double *wanted) {
  for (int i = 0; i < 3; i++) {
    const double a = found[i * stride], b = wanted[i];
    if (fabs(a - b) <= 1e-6 * fabs(b)) continue;
    printf("%s[%d] is %.9g, not %.9g\n", name, i, a, b);
    faults++;
  }
}

// Operands one after the other, and results two apart; of doubles and of floats.
#define RESULTS(T) T r[6] = {0}; double found[6]
#define COMPARE(name, ...)                                                                         \
  for (int i = 0; i < 6; i++) found[i] = r[i];                                                     \
  expect(#name, found, 2, (double[]){__VA_ARGS__})
#define CHECK_AS(T, function, name, OPERANDS, ...)                                                 \
  {                                                                                                \
    const T x[] = {1, -2, 3.5}, y[] = {2, 0.5, -4}, z[] = {0.25, -3, 2}, h[] = {0.5}, t[] = {2};   \
    (void)x, (void)y, (void)z, (void)h, (void)t;                                                   \
    RESULTS(T);                                                                                    \
    function(OPERANDS, r, 2, 3);                                                                   \
    COMPARE(name, __VA_ARGS__);                                                                    \
  }
#define LIST(...) __VA_ARGS__
#define CHECK(name, OPERANDS, ...)                                                                 \
  CHECK_AS(float, vDSP_##name, name, LIST OPERANDS, __VA_ARGS__)                                   \
  CHECK_AS(double, vDSP_##name##D, name##D, LIST OPERANDS, __VA_ARGS__)

// One value, which stands for all three.
#define CHECK_VALUE_AS(T, function, name, OPERANDS, wanted)                                        \
  {                                                                                                \
    const T x[] = {1, -2, 3.5}, y[] = {2, 0.5, -4};                                                \
    (void)y;                                                                                       \
    T r = 0;                                                                                       \
    function(OPERANDS, &r, 3);                                                                     \
    expect(#name, (double[]){r, r, r}, 1, (double[]){wanted, wanted, wanted});                     \
  }
#define CHECK_VALUE(name, OPERANDS, wanted)                                                        \
  CHECK_VALUE_AS(float, vDSP_##name, name, LIST OPERANDS, wanted)                                  \
  CHECK_VALUE_AS(double, vDSP_##name##D, name##D, LIST OPERANDS, wanted)

#define CHECK_FORCE_AS(T, function, name, OPERANDS, ...)                                           \
  {                                                                                                \
    const T p[] = {0.25, 1, 2}, q[] = {3, 2, 0.5}, m[] = {-1.5, 2.5, 0.75}, e[] = {3};             \
    (void)p, (void)q, (void)m, (void)e;                                                            \
    const int n = 3;                                                                               \
    T r[3];                                                                                        \
    function(r, OPERANDS, &n);                                                                     \
    expect(#name, (double[]){r[0], r[1], r[2]}, 1, (double[]){__VA_ARGS__});                       \
  }
#define CHECK_FORCE(name, OPERANDS, ...)                                                           \
  CHECK_FORCE_AS(float, name##f, name##f, LIST OPERANDS, __VA_ARGS__)                              \
  CHECK_FORCE_AS(double, name, name, LIST OPERANDS, __VA_ARGS__)

int main(void) {
  CHECK(vneg, (x, 1), -1, 2, -3.5)
  CHECK(vabs, (x, 1), 1, 2, 3.5)
  CHECK(vnabs, (x, 1), -1, -2, -3.5)
  CHECK(vsq, (x, 1), 1, 4, 12.25)
  CHECK(vssq, (x, 1), 1, -4, 12.25)
  CHECK(vfrac, (z, 1), 0.25, 0, 0)
  CHECK(vadd, (x, 1, y, 1), 3, -1.5, -0.5)
  CHECK(vsub, (x, 1, y, 1), 1, 2.5, -7.5)
  CHECK(vmul, (x, 1, y, 1), 2, -1, -14)
  CHECK(vdiv, (y, 1, x, 1), 0.5, -4, -0.875)
  CHECK(vmax, (x, 1, y, 1), 2, 0.5, 3.5)
  CHECK(vmin, (x, 1, y, 1), 1, -2, -4)
  CHECK(vmaxmg, (x, 1, y, 1), 2, 2, 4)
  CHECK(vminmg, (x, 1, y, 1), 1, 0.5, 3.5)
  CHECK(vma, (x, 1, y, 1, z, 1), 2.25, -4, -12)
  CHECK(vmsb, (x, 1, y, 1, z, 1), 1.75, 2, -16)
  CHECK(vam, (x, 1, y, 1, z, 1), 0.75, 4.5, -1)
  CHECK(vsbm, (x, 1, y, 1, z, 1), -0.25, 7.5, 15)
  CHECK(vsadd, (x, 1, t), 3, 0, 5.5)
  CHECK(vsmul, (x, 1, t), 2, -4, 7)
  CHECK(vsdiv, (x, 1, t), 0.5, -1, 1.75)
  CHECK(svdiv, (t, x, 1), 2, -1, 4.0 / 7)
  CHECK(vthr, (x, 1, t), 2, 2, 3.5)
  CHECK(vthres, (x, 1, t), 0, 0, 3.5)
  CHECK(vsmsa, (x, 1, t, h), 2.5, -3.5, 7.5)
  CHECK(vclip, (x, 1, h, t), 1, 0.5, 2)
  CHECK(vthrsc, (x, 1, h, t), 2, -2, 2)
  CHECK(vlim, (x, 1, t, h), -0.5, -0.5, 0.5)
  CHECK(vsma, (x, 1, t, z, 1), 2.25, -7, 9)
  CHECK(vsmsb, (x, 1, t, z, 1), 1.75, -1, 5)
  CHECK(vmsa, (x, 1, y, 1, h), 2.5, -0.5, -13.5)
  CHECK(vasm, (x, 1, y, 1, h), 1.5, -0.75, -0.25)
  CHECK(vsbsm, (x, 1, y, 1, h), -0.5, -1.25, 3.75)
  CHECK(vintb, (x, 1, y, 1, h), 1.5, -0.75, -0.25)
  CHECK(vfill, (t), 2, 2, 2)
  CHECK(vramp, (h, t), 0.5, 2.5, 4.5)

  CHECK_VALUE(sve, (x, 1), 2.5)
  CHECK_VALUE(svesq, (x, 1), 17.25)
  CHECK_VALUE(svemg, (x, 1), 6.5)
  CHECK_VALUE(meanv, (x, 1), 2.5 / 3)
  CHECK_VALUE(meamgv, (x, 1), 6.5 / 3)
  CHECK_VALUE(measqv, (x, 1), 5.75)
  CHECK_VALUE(rmsqv, (x, 1), 2.3979157616563596)
  CHECK_VALUE(maxv, (x, 1), 3.5)
  CHECK_VALUE(minv, (x, 1), -2)
  CHECK_VALUE(maxmgv, (x, 1), 3.5)
  CHECK_VALUE(dotpr, (x, 1, y, 1), -13)
  CHECK_VALUE(distancesq, (x, 1, y, 1), 63.5)

  // e, π and their kin to ten digits, as tables have them.
  CHECK_FORCE(vvexp, (p), 1.2840254167, 2.7182818285, 7.3890560989)
  CHECK_FORCE(vvexp2, (p), 1.1892071150, 2, 4)
  CHECK_FORCE(vvexpm1, (p), 0.2840254167, 1.7182818285, 6.3890560989)
  CHECK_FORCE(vvlog, (p), -1.3862943611, 0, 0.6931471806)
  CHECK_FORCE(vvlog1p, (p), 0.2231435513, 0.6931471806, 1.0986122887)
  CHECK_FORCE(vvlog2, (p), -2, 0, 1)
  CHECK_FORCE(vvlog10, (p), -0.6020599913, 0, 0.3010299957)
  CHECK_FORCE(vvsinh, (p), 0.2526123168, 1.1752011936, 3.6268604078)
  CHECK_FORCE(vvcosh, (p), 1.0314130999, 1.5430806348, 3.7621956911)
  CHECK_FORCE(vvtanh, (p), 0.2449186624, 0.7615941560, 0.9640275801)
  CHECK_FORCE(vvsin, (p), 0.2474039593, 0.8414709848, 0.9092974268)
  CHECK_FORCE(vvcos, (p), 0.9689124217, 0.5403023059, -0.4161468365)
  CHECK_FORCE(vvtan, (p), 0.2553419212, 1.5574077247, -2.1850398633)
  CHECK_FORCE(vvsqrt, (p), 0.5, 1, 1.4142135624)
  CHECK_FORCE(vvcbrt, (p), 0.6299605249, 1, 1.2599210499)
  CHECK_FORCE(vvrsqrt, (p), 2, 1, 0.7071067812)
  CHECK_FORCE(vvrec, (p), 4, 1, 0.5)
  CHECK_FORCE(vvatan, (p), 0.2449786631, 0.7853981634, 1.1071487178)
  CHECK_FORCE(vvfabs, (m), 1.5, 2.5, 0.75)
  CHECK_FORCE(vvfloor, (m), -2, 2, 0)
  CHECK_FORCE(vvceil, (m), -1, 3, 1)
  CHECK_FORCE(vvint, (m), -1, 2, 0)
  CHECK_FORCE(vvnint, (m), -2, 2, 1)
  CHECK_FORCE(vvdiv, (p, q), 0.25 / 3, 0.5, 4)
  CHECK_FORCE(vvpow, (p, q), 1.3160740130, 2, 0.25)
  CHECK_FORCE(vvpows, (e, p), 0.015625, 1, 8)
  CHECK_FORCE(vvatan2, (p, q), 0.0831412319, 0.4636476090, 1.3258176637)
  CHECK_FORCE(vvfmod, (m, q), -1.5, 0.5, 0.25)
  CHECK_FORCE(vvcopysign, (p, m), -0.25, 1, 2)
  return faults != 0;
}
