"""The polynomials of the kernels' functions of an element, as floats.

    python3 Tests/Tools/function_polynomials.py [NAME ...]

prints for each the coefficients, the highest first as Horner's rule takes them, and the largest
error of the function that would be left if nothing else were rounded, in ULP of the result. Each is
nearly the minimax polynomial, by Lawson's weights; its coefficients are rounded one after the other from the
lowest, and those that are left are fitted again. Needs mpmath and numpy.
"""

import sys

import mpmath as mp
import numpy as np

mp.mp.dps = 40
GRID = 1500


def minimax(values, weights, basis):
    """Factors of the columns of `basis` that make the largest |weights · (basis − values)| small."""
    best, error, emphasis = None, np.inf, np.ones(len(values))
    for _ in range(200):
        row = weights * np.sqrt(emphasis)
        found = np.linalg.lstsq(basis * row[:, None], values * row, rcond=None)[0]
        errors = np.abs(weights * (basis @ found - values))
        if errors.max() < error:
            best, error = found, errors.max()
        emphasis *= errors
        emphasis /= emphasis.mean()
    return best, error


def fitted(f, weight, low, high, degree, doubles=0):
    """Coefficients from the lowest, the first `doubles` of them rounded to doubles, and the error."""
    grid = [mp.mpf(low + (high - low) * (1 - np.cos(a)) / 2) for a in np.linspace(0, np.pi, GRID)]
    rests = [f(x) for x in grid]
    weights = np.array([float(weight(x)) for x in grid])
    scale = max(abs(low), abs(high))
    scaled = np.array([float(x) / scale for x in grid])
    known = []
    for first in range(degree + 1):
        basis = np.stack([scaled**k for k in range(first, degree + 1)], axis=1)
        found, error = minimax(np.array([float(r) for r in rests]), weights, basis)
        kind = np.float64 if first < doubles else np.float32
        known.append(float(kind(found[0] / scale**first)))
        rests = [r - mp.mpf(known[-1]) * x**first for r, x in zip(rests, grid)]
    return known, max(abs(float(r) * w) for r, w in zip(rests, weights))


def odd(f):
    """(f(x) − x) / x³ as a function of x², and what makes its errors those of f, relative."""

    def rest(z):
        x = mp.sqrt(z)
        # Near 0 by the differences that are left there.
        if z < mp.mpf(10) ** -8:
            z = mp.mpf(10) ** -8
            x = mp.sqrt(z)
        return (f(x) - x) / (x * z)

    return rest, lambda z: z * mp.sqrt(z) / f(mp.sqrt(z)) if z > 0 else 0


def mills(x):
    """The normal distribution's tail beyond x over its density, without √(2π)."""
    return mp.erfc(x / mp.sqrt(2)) / 2 * mp.exp(x * x / 2)


def near_zero(f):
    return lambda x: f(x if abs(x) > mp.mpf(10) ** -10 else mp.mpf(10) ** -10)


QUARTER = float(mp.pi / 4) * 1.0001
LOWEST, HIGHEST = float(mp.sqrt(0.5)) - 1, float(mp.sqrt(2)) - 1
#: `gelutail` is a function of t = 1 / (x + 2), up to where the result is below the least float.
SHIFT, END = 2, 14.5


def weighted_tail(t):
    return (1 / t - SHIFT) * mills(1 / t - SHIFT)


POLYNOMIALS = {
    # 2ʳ = 1 + r · P(r)
    "exp2": (near_zero(lambda r: (2**r - 1) / r), lambda r: abs(r) / 2**r, -0.5, 0.5, 5),
    # sin r = r + r³ · P(r²)
    "sin": (*odd(mp.sin), 0, QUARTER**2, 2),
    # cos r = 1 − r²/2 + r⁴ · P(r²)
    "cos": (
        lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2 if z > 1e-8 else mp.mpf(1) / 24,
        lambda z: z**2 / mp.cos(mp.sqrt(z)), 0, QUARTER**2, 2),
    # tan r = r + r³ · P(r²)
    "tan": (*odd(mp.tan), 0, QUARTER**2, 6),
    # asin x = x + x³ · P(x²)
    "asin": (*odd(mp.asin), 0, 0.25, 4),
    # atan x = x + x³ · P(x²)
    "atan": (*odd(mp.atan), 0, 1, 8),
    # sinh x = x + x³ · P(x²)
    "sinh": (*odd(mp.sinh), 0, 1, 3),
    # erf x = x + x · P(x²)
    "erf": (
        lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1 if z > 1e-12 else 2 / mp.sqrt(mp.pi) - 1,
        lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z)) if z > 0 else mp.sqrt(mp.pi) / 2, 0, 0.92**2, 6),
    # erf x = 1 − exp(P(x))
    "erftail": (
        lambda x: mp.log(mp.erfc(x)), lambda x: mp.erfc(x) / mp.erf(x), 0.9, 4, 7),
    # The normal distribution beyond x is exp(−x²/2) · P(x) for x <= 1,
    "gelu": (mills, lambda x: 1 / mills(x), 0, 1, 8),
    # and x times it exp(−x²/2) · P(1 / (x + 2)) for x >= 1.
    "gelutail": (
        weighted_tail, lambda t: 1 / weighted_tail(t), 1 / (END + SHIFT), 1 / (1 + SHIFT), 8),
    # log₂(1 + f) = f · P(f), five coefficients as doubles
    "log2": (
        near_zero(lambda f: mp.log(1 + f, 2) / f),
        lambda f: abs(f / mp.log(1 + f, 2)) if f != 0 else mp.log(2),
        LOWEST, HIGHEST, 12, 5),
}


def main():
    for name in sys.argv[1:] or POLYNOMIALS:
        coefficients, error = fitted(*POLYNOMIALS[name])
        print(f"{name}: {error * 2**24:.3g} ULP at most")
        doubles = (POLYNOMIALS[name] + (0,))[5]
        for k, c in reversed(list(enumerate(coefficients))):
            print("   ", repr(float(c)) if k < doubles else f"{np.float32(float(c)):.9g}")


if __name__ == "__main__":
    main()
