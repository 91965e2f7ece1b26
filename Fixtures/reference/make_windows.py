#!/usr/bin/env python3
"""Makes windows.npz: expected outputs of the layers whose points, windows and places are easy to get
wrong, in numpy only (numpy 2): resampling in every mode, padding of three dimensions, ties, slices.
Arrays are named CASE/ARRAY.

Grids are the words of the specification's SamplingMode, BoxCoordinatesMode and LinearUpsampleMode in
numpy.linspace; slices and orders are Python's and numpy's own.
"""
import itertools

import numpy as np

rng = np.random.default_rng(22)
arrays = {}


def normal(*shape):
    """Random single-precision values, as doubles."""
    return rng.standard_normal(shape).astype(np.float32).astype(np.float64)


def case(name, **values):
    for key, value in values.items():
        arrays[f"{name}/{key}"] = np.asarray(value, np.float64)


# --- resampling ------------------------------------------------------------------------------------

def bilinear(plane, rows, columns):
    """np.interp along one axis, then along the other; both hold points inside of the plane."""
    along = np.stack([np.interp(columns, np.arange(plane.shape[1]), row) for row in plane])
    return np.stack([np.interp(rows, np.arange(plane.shape[0]), column) for column in along.T], 1)


def sampling(mode, X, N):
    """N points of the interval [0, X − 1]."""
    if mode == 0:  # STRICT_ALIGN_ENDPOINTS_MODE
        points = np.linspace(0, X - 1, N)
    elif mode == 1:  # ALIGN_ENDPOINTS_MODE
        points = np.linspace((X - 1) / 2, (X - 1) / 2, N) if N == 1 else np.linspace(0, X - 1, N)
    elif mode == 2:  # UPSAMPLE_MODE
        points = np.linspace(0, X - X / N, N)
    else:  # ROI_ALIGN_MODE
        spacing = max(1, X - 1) / N
        start = 0.5 * spacing
        points = np.linspace(start, start + (N - 1) * spacing, N)
    return np.minimum(X - 1, points)


x = normal(1, 2, 2, 5, 4)
for mode in range(4):
    for rows, columns in ((9, 3), (1, 6), (5, 1), (2, 4)):
        case(f"resize_{mode}_{rows}_{columns}", output=np.stack([[bilinear(
            plane, sampling(mode, 5, rows), sampling(mode, 4, columns)) for plane in item] for item in x[0]])[None])
case("resize", input=x)

H, W = 6, 8
x = normal(1, 3, 2, H, W)
# top, left, bottom, right in pixels: inside, a point, a line, less than a pixel, beyond every edge
corners = np.array([[0.5, 1.25, 4.5, 6], [2, 3, 2, 3], [1, 0, 1, 7], [1.25, 2.5, 1.75, 2.75], [-2, -1.5, 7.25, 9]])
case("crop", input=x)
for mode, (rows, columns) in itertools.product(range(4), ((3, 4), (1, 1))):
    expected = [[[bilinear(plane, box[0] + sampling(mode, box[2] - box[0] + 1, rows),
                           box[1] + sampling(mode, box[3] - box[1] + 1, columns)) for plane in item] for item in x[0]]
                for box in corners]
    case(f"crop_{mode}_{rows}", output=expected)
    if mode == 1:  # the formula of TensorFlow's crop_and_resize
        for box, boxes in zip(corners, expected):
            place = lambda a, b, i, n: (a + b) / 2 if n == 1 else a + i * (b - a) / (n - 1)
            for item, planes in zip(x[0], boxes):
                np.testing.assert_allclose(planes[0], bilinear(
                    item[0], [place(box[0], box[2], i, rows) for i in range(rows)],
                    [place(box[1], box[3], i, columns) for i in range(columns)]), atol=1e-12)
t, l, b, r = corners.T
for boxes, values in enumerate(([t, l, b, r], [l, t, r, b], [(t + b) / 2, (l + r) / 2, b - t, r - l],
                                [(l + r) / 2, (t + b) / 2, r - l, b - t])):  # BoxCoordinatesMode
    values = np.stack(values, 1)
    unit = np.array([H - 1, W - 1] * 2 if boxes in (0, 2) else [W - 1, H - 1] * 2)
    case(f"boxes_{boxes}", pixels=values, halves=values * 2, normalized=values / unit)

x = normal(1, 1, 2, 4, 5)
case("upsample", input=x)
for height, width in ((1.5, 2.25), (0.5, 3), (2.3, 0.2)):
    rows, columns = int(np.floor(4 * np.float32(height))), int(np.floor(5 * np.float32(width)))
    points = {
        "default": lambda X, N: np.arange(N) * ((X - X / N) / (N - 1) if N > 1 else 0),
        "align_true": lambda X, N: np.arange(N) * ((X - 1) / (N - 1) if N > 1 else 0),
        "align_false": lambda X, N: np.arange(N) * X / N + 0.5 * X / N - 0.5,
    }
    case(f"upsample_{rows}_{columns}", nearest=x[..., np.arange(rows) * 4 // rows, :][..., np.arange(columns) * 5 // columns],
         **{name: np.stack([bilinear(plane, f(4, rows), f(5, columns)) for plane in x[0, 0]])[None, None]
            for name, f in points.items()})

# --- windows of three dimensions -------------------------------------------------------------------

def same(size, kernel, stride, dilation=1):
    total = max(0, (-(-size // stride) - 1) * stride + (kernel - 1) * dilation + 1 - size)
    return total // 2, total - total // 2


def windows(x, kernel, stride, dilation=(1, 1, 1)):
    extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    view = np.lib.stride_tricks.sliding_window_view(x, extent, (2, 3, 4))
    return view[:, :, ::stride[0], ::stride[1], ::stride[2], ::dilation[0], ::dilation[1], ::dilation[2]]


def pad(x, amounts, value=0.0):
    return np.pad(x, [(0, 0), (0, 0), *amounts], constant_values=value)


x, kernel, stride = normal(1, 2, 5, 6, 7), (2, 4, 3), (1, 3, 2)
amounts = [same(n, k, s) for n, k, s in zip((5, 6, 7), kernel, stride)]
assert (0, 1) in amounts
case("pool3d_same", x=x, max=windows(pad(x, amounts, -np.inf), kernel, stride).max((5, 6, 7)),
     mean=windows(pad(x, amounts), kernel, stride).mean((5, 6, 7)),
     real=np.nanmean(windows(pad(x, amounts, np.nan), kernel, stride), (5, 6, 7)))
w, dilation = normal(3, 2, *kernel), (2, 1, 1)
amounts = [same(n, k, s, d) for n, k, s, d in zip((5, 6, 7), kernel, stride, dilation)]
case("conv3d_same", x=x, weights=w,
     output=np.einsum("bcdhwxyz,ocxyz->bodhw", windows(pad(x, amounts), kernel, stride, dilation), w))


def transposed(x, w, stride, size, dilation=(1, 1, 1)):
    """The transpose of the SAME-like convolution of `size` to the size of x: scattered, then cut."""
    kernel, (I, O) = w.shape[2:], w.shape[:2]
    full = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(x.shape[2:], stride, kernel, dilation)]
    total = [max(0, f - n) for f, n in zip(full, size)]
    result = np.zeros((x.shape[0], O, *[max(f, n + t) for f, n, t in zip(full, size, total)]))
    for place in np.ndindex(*x.shape[2:]):
        where = tuple(slice(p * s, p * s + (k - 1) * d + 1, d) for p, s, k, d in zip(place, stride, kernel, dilation))
        result[(slice(None), slice(None), *where)] += np.einsum("bc,coxyz->boxyz", x[(slice(None), slice(None), *place)], w)
    return result[(slice(None), slice(None), *[slice(t // 2, t // 2 + n) for t, n in zip(total, size)])]


x, w = normal(1, 2, 2, 3, 3), normal(2, 3, 3, 2, 4)
case("deconv3d_same", x=x, weights=w, output=transposed(x, w, (2, 3, 1), (4, 9, 3)),
     shaped=transposed(x, w, (2, 3, 1), (4, 7, 5)))

# --- ties ------------------------------------------------------------------------------------------
x = rng.integers(-2, 3, (3, 7, 2)).astype(float)
down, up = np.argsort(-x, 1, kind="stable"), np.argsort(x, 1, kind="stable")
case("ties", x=x, argmax=x.argmax(1)[:, None], argmin=x.argmin(1)[:, None], ascending=up, descending=down,
     top=np.take_along_axis(x, down, 1)[:, :4], top_places=down[:, :4], bottom=np.take_along_axis(x, up, 1)[:, :4],
     bottom_places=up[:, :4])

# --- slices ----------------------------------------------------------------------------------------
# Every begin, end and stride around an axis of 4 that leaves elements; nan stands for none given.
rows = []
for begin, end, stride in itertools.product([None, *range(-6, 7)], [None, *range(-6, 7)], (-5, -2, -1, 1, 2, 5)):
    places = list(range(4))[begin:end:stride]
    if places:
        rows.append([np.nan if v is None else v for v in (begin, end, stride)] + places + [np.nan] * (4 - len(places)))
case("slices", rows=rows)

np.savez_compressed("windows.npz", **{name.replace("/", "__SLASH__"): v.astype(np.float32) for name, v in arrays.items()})
print(len(arrays), "arrays")
