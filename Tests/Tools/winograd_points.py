"""Rounding errors of Winograd's F(m, r) along one axis for sets of points.

    python3 Tests/Tools/winograd_points.py 3 7 0,1,-1,3/2,-3/2,1/2,-1/2,4 0,1,-1,2,-2,1/2,-1/2,4

prints for each set the root mean square error and the largest one, relative to the spread and the
largest value of the result, of convolutions of rectified normal values in single precision, summed
over 192 channels in parts of 32. Needs numpy.
"""

import sys
from fractions import Fraction

import numpy as np

CHANNELS, TILES, KERNELS, PART = 192, 24, 16, 32


def product(roots):
    """The coefficients of Π (x − root), the lowest first."""
    polynomial = [Fraction(1)]
    for root in roots:
        shifted = [Fraction(0)] + polynomial
        polynomial = [a - root * b for a, b in zip(shifted, polynomial + [Fraction(0)])]
    return polynomial


def matrices(points, outputs, taps):
    """Bᵀ, G and Aᵀ for the points and infinity, by Toom and Cook."""
    size = outputs + taps - 1
    assert len(points) == size - 1, f"F({outputs}, {taps}) needs {size - 1} points"
    input_rows, weight_rows = [], []
    for index, point in enumerate(points):
        others = points[:index] + points[index + 1 :]
        input_rows.append(product(others) + [Fraction(0)])
        divisor = Fraction(1)
        for other in others:
            divisor *= point - other
        weight_rows.append([point**k / divisor for k in range(taps)])
    input_rows.append(product(points))
    weight_rows.append([Fraction(int(k == taps - 1)) for k in range(taps)])
    output_rows = [
        [point**k for point in points] + [Fraction(int(k == outputs - 1))] for k in range(outputs)
    ]
    return [np.array(m, dtype=np.float64) for m in (input_rows, weight_rows, output_rows)]


def errors(points, outputs, taps, seed=0):
    to_input, to_weights, to_output = matrices(points, outputs, taps)
    generator = np.random.default_rng(seed)
    size = outputs + taps - 1
    tiles = np.maximum(generator.standard_normal((TILES, CHANNELS, size)), 0).astype(np.float32)
    kernels = generator.standard_normal((KERNELS, CHANNELS, taps)) / np.sqrt(CHANNELS * taps)
    kernels = kernels.astype(np.float32)
    weights = np.einsum("ij,kcj->kci", to_weights, kernels.astype(np.float64)).astype(np.float32)
    values = np.einsum("ij,tcj->tci", to_input.astype(np.float32), tiles)
    products = np.zeros((TILES, KERNELS, size), np.float32)
    for first in range(0, CHANNELS, PART):
        part = np.zeros_like(products)
        for c in range(first, first + PART):
            part += values[:, None, c] * weights[None, :, c]
        products += part
    found = np.einsum("ij,tkj->tki", to_output.astype(np.float32), products)
    exact = np.zeros((TILES, KERNELS, outputs))
    for x in range(taps):
        exact += np.einsum(
            "tci,kc->tki", tiles[:, :, x : x + outputs].astype(np.float64), kernels[:, :, x]
        )
    error = np.abs(found - exact)
    return np.sqrt((error**2).mean() / (exact**2).mean()), error.max() / np.abs(exact).max()


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    outputs, taps = int(sys.argv[1]), int(sys.argv[2])
    for text in sys.argv[3:]:
        spread, largest = errors([Fraction(p) for p in text.split(",")], outputs, taps)
        print(f"{spread:.2e} {largest:.2e}  {text}")


if __name__ == "__main__":
    main()
