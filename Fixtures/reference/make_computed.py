#!/usr/bin/env python3
"""Makes computed.npz: inputs and expected outputs of the layers that scatter, of those whose sizes are
values, and of products of 8-bit codes, in numpy only (numpy 2). Arrays are named CASE/ARRAY.

What is scattered is combined by the functions' own `at`, which takes one element after the other.
"""
import numpy as np

rng = np.random.default_rng(23)
arrays = {}


def normal(*shape):
    """Random single-precision values, as doubles."""
    return rng.standard_normal(shape).astype(np.float32).astype(np.float64)


def case(name, **values):
    for key, value in values.items():
        arrays[f"{name}/{key}"] = np.asarray(value, np.float64)


def put(x, places, updates):
    x[places] = updates


x = normal(3, 6, 4)
indices = np.array([[2, -1], [0, 2]])
updates = np.abs(normal(3, 2, 2, 4)) + 0.5
along = rng.integers(-4, 4, (3, 6, 7))
along_updates = np.abs(normal(3, 6, 7)) + 0.5
places = np.array([[0, -1], [2, 1], [0, 5], [1, 1]])
nd_updates = np.abs(normal(4, 4)) + 0.5
case("scatter", x=x, indices=indices, updates=updates, along=along, along_updates=along_updates, places=places,
     nd_updates=nd_updates)
grid = np.ogrid[:3, :6, :7]
for name, function in dict(update=put, add=np.add.at, sub=np.subtract.at, mul=np.multiply.at, div=np.divide.at,
                           max=np.maximum.at, min=np.minimum.at).items():
    results = [x.copy() for _ in range(3)]
    function(results[0], (slice(None), indices), updates)
    function(results[1], (grid[0], grid[1], along), along_updates)
    function(results[2], tuple(places.T), nd_updates)
    case("scatter", **{f"axis_{name}": results[0], f"along_{name}": results[1], f"nd_{name}": results[2]})

x = np.round(normal(3, 4, 5) * 2) / 2
image, kernel = np.round(normal(1, 3, 6, 5)), np.round(normal(4, 3, 3, 2))
view = np.lib.stride_tricks.sliding_window_view(image, (3, 2), (2, 3))
order = np.argsort(-x, -1, kind="stable")[..., :2]
case("sizes", x=x, nonzero=np.transpose(np.nonzero(x)), slice=x[1:3, ::-2, 0:4], range=np.arange(-1, 4, 0.75),
     tile=np.tile(x, (2, 1, 3)), top=np.take_along_axis(x, order, -1), image=image, kernel=kernel,
     convolved=np.einsum("bchwxy,ocxy->bohw", view, kernel))

# Whole numbers all the way: codes of x times codes of the weights, then the two steps.
x, codes = normal(5, 24), rng.integers(-127, 128, (24, 7))
step, scale = np.abs(x).max() / 127, np.float32(0.0123)
case("codes", x=x, codes=codes.T, output=(np.rint(x / step).astype(np.int64) @ codes) * step * np.float64(scale))

# The eigenvalue of largest magnitude that power iteration is to find.
matrix = np.array([[2.0, -6, 8], [-6, 4, 5], [8, 5, 3]])
values, vectors = np.linalg.eigh(matrix)
case("power", matrix=matrix, start=normal(3), value=[values[np.argmax(np.abs(values))]])

np.savez_compressed("computed.npz", **{name.replace("/", "__SLASH__"): v.astype(np.float32) for name, v in arrays.items()})
print(len(arrays), "arrays")
