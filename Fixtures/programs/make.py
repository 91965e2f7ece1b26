#!/usr/bin/env python3
"""Makes ML Programs of few operations each, and what coremltools and NumPy say that they give.

    python3 -m venv v && v/bin/pip install coremltools==9.0 torch==2.13.0
    v/bin/python make.py [NAME…]

Each NAME.mlpackage takes the arrays of NAME.inputs.npz and gives those of NAME.expected.npz. The expected values are
coremltools' own value inference of the same operation on constants, or what stands beside it: a NumPy or PyTorch
function, or the numbers in coremltools' tests and documentation.
"""
import os, shutil, sys, tempfile
import numpy as np
import coremltools as ct
from coremltools.converters.mil import Builder as mb
from coremltools.converters.mil.mil import types

HERE = os.path.dirname(os.path.abspath(__file__))
G = np.random.default_rng(7)
r = lambda *shape: G.uniform(-2, 2, shape).astype(np.float32)
positive = lambda *shape: G.uniform(0.3, 2, shape).astype(np.float32)
FAMILIES = {}


def family(name, target, inputs, operations):
    """operations: functions of the inputs (variables, or arrays for the expected values), each with a NumPy
    function or None."""
    FAMILIES[name] = (target, inputs, operations)


def op(name, **fixed):
    def apply(*arguments):
        keys = apply.keys
        return getattr(mb, name)(**dict(zip(keys, arguments)), **fixed)
    apply.keys = ("x",)
    apply.uses = None
    return apply


def takes(apply, *pairs):
    """pairs: argument=input."""
    apply.keys = tuple(p.split("=")[0] for p in pairs)
    apply.uses = tuple(p.split("=")[1] for p in pairs)
    return apply


def of(name, argument, **fixed):
    return takes(op(name, **fixed), f"x={argument}")


def two(name, **fixed):
    return takes(op(name, **fixed), "x=x", "y=y")


def numpy(build, expected):
    """An operation, and the NumPy function that gives its value."""
    build.expected = expected
    return build


SLOPES = np.array([0.1, 0.2, -0.3], np.float32)
family("unary", ct.target.iOS15, {"x": r(2, 3, 5), "p": positive(2, 3, 5), "u": (r(2, 3, 5) / 2.1)},
       [of(n, "x") for n in ("abs", "ceil", "floor", "round", "sign", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh",
                             "erf", "exp", "exp2", "square", "relu", "sigmoid", "softplus", "softsign", "relu6")]
       + [of(n, "p") for n in ("sqrt", "rsqrt", "log", "inverse")] + [of(n, "u") for n in ("asin", "acos", "atanh")]
       + [of("clip", "x", alpha=-0.5, beta=1.25), of("threshold", "x", alpha=0.25), of("leaky_relu", "x", alpha=0.3),
          of("elu", "x", alpha=0.7), of("sigmoid_hard", "x", alpha=0.3, beta=0.4), of("scaled_tanh", "x", alpha=1.5, beta=0.6),
          of("linear_activation", "x", alpha=1.5, beta=-0.25), of("thresholded_relu", "x", alpha=0.5),
          of("clamped_relu", "x", alpha=0.25, beta=1.0), numpy(lambda x, p, u: mb.silu(x=x), lambda x, p, u: x / (1 + np.exp(-x))), of("gelu", "x", mode="EXACT"),
          of("gelu", "x", mode="TANH_APPROXIMATION"), of("gelu", "x", mode="SIGMOID_APPROXIMATION"),
          numpy(lambda x, p, u: mb.prelu(x=mb.expand_dims(x=x, axes=[2]), alpha=SLOPES),
                lambda x, p, u: np.where(x < 0, x * SLOPES[:, None], x)[:, :, None]),
          of("cast", "x", dtype="int32"),
          of("softmax", "x", axis=1)])
family("binary", ct.target.iOS15, {"x": r(2, 1, 5), "y": positive(3, 1)},
       [two(n) for n in ("add", "sub", "mul", "real_div", "floor_div", "mod", "maximum", "minimum", "equal", "not_equal",
                         "less", "less_equal", "greater", "greater_equal")]
       + [takes(op("pow"), "x=y", "y=x")])
family("logical", ct.target.iOS15, {"x": r(4, 5), "y": r(4, 5)}, [
    lambda x, y, n=n: getattr(mb, n)(x=mb.greater(x=x, y=np.float32(0)), y=mb.greater(x=y, y=np.float32(0)))
    for n in ("logical_and", "logical_or", "logical_xor")] + [
    lambda x, y: mb.logical_not(x=mb.greater(x=x, y=np.float32(0))),
    lambda x, y: mb.select(cond=mb.greater(x=x, y=y), a=x, b=y)])
family("reductions", ct.target.iOS15, {"x": r(3, 4, 5), "p": positive(3, 4, 5)},
       [of(n, "x", axes=a, keep_dims=k) for n in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod",
                                                  "reduce_l1_norm", "reduce_l2_norm", "reduce_sum_square", "reduce_log_sum_exp")
        for a, k in (([1], False), ([-1, 0], True), (None, False))]
       + [of("reduce_log_sum", "p", axes=[0, 2], keep_dims=False), of("reduce_argmax", "x", axis=1, keep_dims=False),
          of("reduce_argmin", "x", axis=-1, keep_dims=True), of("cumsum", "x", axis=1),
          numpy(lambda x, p: mb.cumsum(x=x, axis=2, exclusive=True, reverse=True),
                lambda x, p: np.cumsum(x[..., ::-1], 2)[..., ::-1] - x), of("argsort", "x", axis=-1),
          of("argsort", "x", axis=0, ascending=True)])
family("shapes", ct.target.iOS15, {"x": r(2, 3, 4), "i": np.array([[1, 0], [2, 1]], np.int32)},
       [of("reshape", "x", shape=[4, -1]), of("reshape", "x", shape=[0, 2, 6]), of("expand_dims", "x", axes=[0, -1]),
        of("transpose", "x", perm=[2, 0, 1]), of("reverse", "x", axes=[0, 2]), of("tile", "x", reps=[1, 2, 3]),
        of("flatten2d", "x", axis=2), of("pad", "x", pad=[1, 2], mode="constant", constant_val=0.5),
        of("pad", "x", pad=[1, 0, 2, 1], mode="reflect"), of("pad", "x", pad=[2, 1], mode="replicate"),
        of("slice_by_index", "x", begin=[0, 1, 3], end=[2, 3, 0], stride=[1, 1, -2], end_mask=[False, False, True]),
        of("slice_by_index", "x", begin=[1, 0, 1], end=[2, 2, 3], squeeze_mask=[True, False, False]),
        of("slice_by_size", "x", begin=[1, 0, 1], size=[1, 2, -1]), of("band_part", "x", lower=1, upper=0),
        numpy(lambda x, i, z, n: mb.sliding_windows(x=x, axis=2, size=2, stride=1),
              lambda x, i, z, n: np.stack([x[..., j:j + 2] for j in range(3)], 2)), takes(op("gather", axis=1), "x=x", "indices=i"),
        takes(op("gather", axis=0), "x=x", "indices=z"), numpy(lambda x, i, z, n: mb.one_hot(indices=i, one_hot_vector_size=4, axis=0),
              lambda x, i, z, n: np.eye(4)[i].transpose(2, 0, 1)),
        numpy(lambda x, i, z, n: mb.gather_nd(x=x, indices=n), lambda x, i, z, n: x[n[:, 0], n[:, 1]]),
        lambda x, i, z, n: mb.concat(values=[x, x, mb.add(x=x, y=np.float32(1))], axis=1),
        lambda x, i, z, n: mb.stack(values=[x, mb.mul(x=x, y=np.float32(2))], axis=1),
        lambda x, i, z, n: mb.split(x=x, split_sizes=[1, 3], axis=2)[1],
        lambda x, i, z, n: mb.squeeze(x=mb.expand_dims(x=x, axes=[1]), axes=[1]),
        lambda x, i, z, n: mb.reshape(x=x, shape=mb.concat(values=[mb.slice_by_size(x=mb.shape(x=x), begin=[0], size=[1]),
                                                                  np.array([-1], np.int32)], axis=0))])
FAMILIES["shapes"][1].update(z=np.array(1, np.int32).reshape(1), n=np.array([[1, 2], [0, 0]], np.int32))


def scatter(data, indices, updates, axis):
    out = data.copy()
    np.add.at(out, (slice(None),) * axis + (indices,), updates)
    return out


def norm(x, axes, gamma=None, beta=None, eps=1e-5):
    y = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)
    return y if gamma is None else y * gamma + beta


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(q, k, v, mask=None):
    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is not None: s = np.where(mask, s, -np.inf) if mask.dtype == bool else s + mask
    return softmax(s) @ v


def average(x, k, pad):
    """Means of windows of k × k at every place, zeros around counted."""
    y = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    h, w = y.shape[2] - k + 1, y.shape[3] - k + 1
    return sum(y[:, :, i:i + h, j:j + w] for i in range(k) for j in range(k)) / (k * k)


GAMMA, BETA = r(4, 6), r(4, 6)
CHANNEL, OFFSET, MEAN, VARIANCE = r(3), r(3), r(3), positive(3)
WEIGHT, BIAS = r(4, 6), r(4)
per = lambda v, x: v.reshape((1, -1) + (1,) * (x.ndim - 2))
MASK = G.integers(0, 2, (5, 7)).astype(bool)
MASK[:, 0] = True
family("normalizations", ct.target.iOS18, {"x": r(2, 3, 4, 6), "s": r(2, 3, 5), "q": r(2, 2, 5, 6), "k": r(2, 2, 7, 6)}, [
    numpy(lambda x, s, q, k: mb.layer_norm(x=x, axes=[2, 3], gamma=GAMMA, beta=BETA, epsilon=1e-3),
          lambda x, s, q, k: norm(x, (2, 3), GAMMA, BETA, 1e-3)),
    numpy(lambda x, s, q, k: mb.layer_norm(x=x, axes=[1], gamma=CHANNEL, beta=OFFSET),
          lambda x, s, q, k: norm(x, (1,), per(CHANNEL, x), per(OFFSET, x))),
    numpy(lambda x, s, q, k: mb.layer_norm(x=s, axes=[-1]), lambda x, s, q, k: norm(s, (-1,))),
    numpy(lambda x, s, q, k: mb.instance_norm(x=x, gamma=CHANNEL, beta=OFFSET, epsilon=1e-4),
          lambda x, s, q, k: norm(x, (2, 3), per(CHANNEL, x), per(OFFSET, x), 1e-4)),
    numpy(lambda x, s, q, k: mb.instance_norm(x=s, epsilon=1e-4), lambda x, s, q, k: norm(s, (2,), eps=1e-4)),
    numpy(lambda x, s, q, k: mb.batch_norm(x=x, mean=MEAN, variance=VARIANCE, gamma=CHANNEL, beta=OFFSET, epsilon=1e-4),
          lambda x, s, q, k: (x - per(MEAN, x)) / np.sqrt(per(VARIANCE, x) + 1e-4) * per(CHANNEL, x) + per(OFFSET, x)),
    numpy(lambda x, s, q, k: mb.batch_norm(x=s, mean=MEAN, variance=VARIANCE),
          lambda x, s, q, k: (s - per(MEAN, s)) / np.sqrt(per(VARIANCE, s) + 1e-5)),
    numpy(lambda x, s, q, k: mb.linear(x=x, weight=WEIGHT, bias=BIAS), lambda x, s, q, k: x @ WEIGHT.T + BIAS),
    numpy(lambda x, s, q, k: mb.matmul(x=q, y=k, transpose_y=True), lambda x, s, q, k: q @ np.swapaxes(k, -1, -2)),
    numpy(lambda x, s, q, k: mb.matmul(x=x, y=WEIGHT, transpose_y=True), lambda x, s, q, k: x @ WEIGHT.T),
    numpy(lambda x, s, q, k: mb.scaled_dot_product_attention(query=q, key=k, value=k), lambda x, s, q, k: attention(q, k, k)),
    numpy(lambda x, s, q, k: mb.scaled_dot_product_attention(query=q, key=k, value=k, attn_mask=MASK),
          lambda x, s, q, k: attention(q, k, k, MASK)),
    numpy(lambda x, s, q, k: mb.slice_update(x=x, update=np.full((1, 3, 2, 2), 9, np.float32), begin=[1, 0, 1, 0], end=[2, 3, 3, 4], stride=[1, 1, 1, 2]),
          lambda x, s, q, k: updated(x)),
    numpy(lambda x, s, q, k: mb.scatter(data=s, indices=np.array([2, 0, 2], np.int32), updates=np.ones((2, 3, 5), np.float32), axis=1, mode="add"),
          lambda x, s, q, k: scatter(s, np.array([2, 0, 2]), np.ones((2, 3, 5), np.float32), 1)),
    numpy(lambda x, s, q, k: mb.avg_pool(x=x, kernel_sizes=[3, 3], strides=[1, 1], pad_type="custom", pad=[1, 1, 1, 1]),
          lambda x, s, q, k: average(x, 3, 1)),
    numpy(lambda x, s, q, k: mb.avg_pool(x=x, kernel_sizes=[3, 3], strides=[1, 1], pad_type="custom", pad=[1, 1, 1, 1], exclude_padding_from_average=True),
          lambda x, s, q, k: average(x, 3, 1) / average(np.ones_like(x), 3, 1)),
])


def updated(x):
    y = x.copy()
    y[1:2, 0:3, 1:3, 0:4:2] = 9
    return y


# Images between their pixels. coremltools' own tests give what Core ML computes; the rest is PyTorch's.
published = lambda build, values, *shape: numpy(build, lambda *_: np.array(values, np.float32).reshape(shape))
ROW = np.array([0, 1], np.float32).reshape(1, 1, 2)


def grid_sample(x, grid, mode, padding, align):
    import torch
    t = lambda v: torch.from_numpy(v).double()
    return torch.nn.functional.grid_sample(t(x), t(grid), mode=mode, padding_mode=padding, align_corners=align).numpy()


def affine(x, matrix, height, width):
    import torch
    grid = torch.nn.functional.affine_grid(torch.from_numpy(np.broadcast_to(matrix.reshape(-1, 2, 3), (len(x), 2, 3)).copy()).double(),
                                           (len(x), x.shape[1], height, width), align_corners=True)
    return grid_sample(x, grid.numpy(), "bilinear", "zeros", True)


def interpolate(x, size, **settings):
    import torch
    return torch.nn.functional.interpolate(torch.from_numpy(x).double(), size=size, **settings).numpy()


SMALL = dict(sampling_mode="bilinear", padding_value=6.17, padding_mode="constant", coordinates_mode="normalized_minus_one_to_one", align_corners=True)
AFFINE = dict(sampling_mode="bilinear", padding_mode="constant", padding_value=0.0, coordinates_mode="normalized_minus_one_to_one", align_corners=True)


def resampled(mode, padding, coordinates, align, scale=lambda g, x: g):
    """PyTorch's reflection is Core ML's if corners are aligned, else its symmetric."""
    name = {"constant": "zeros", "border": "border", "reflection": "reflection", "symmetric": "reflection"}[padding]
    return numpy(lambda x, g, m, s, c, a, p: mb.resample(x=x, coordinates=g, sampling_mode=mode, padding_mode=padding, padding_value=0.0,
                                                         coordinates_mode=coordinates, align_corners=align),
                 lambda x, g, m, s, c, a, p: grid_sample(x, scale(g, x), mode, name, align))


unit = lambda g, x: 2 * g - 1                                                                      # 0…1 as −1…1
pixel = lambda g, x: 2 * g / (np.array([x.shape[3], x.shape[2]]) - 1) - 1                          # pixels as −1…1
BOXES = np.array([[0.1, 0.3, 1.3, 1.0], [0.5, 1.8, 1.0, 0.3], [0.0, 0.4, 0.6, 0.7]], np.float32)
CROP = dict(target_width=2, target_height=2, box_coordinate_mode="CORNERS_HEIGHT_FIRST", sampling_mode="ALIGN_CORNERS", pad_value=10.0)
family("sampling", ct.target.iOS17,
       {"x": r(2, 3, 5, 4), "g": (r(2, 3, 6, 2) * 1.3), "m": np.array([[1.2, -0.4, 0.3, 0.2, 0.9, -0.5], [0.7, 0.1, 0, -0.6, 1.1, 0.2]], np.float32),
        "s": np.array([11, 22, 33, 44], np.float32).reshape(1, 1, 2, 2),
        "c": np.array([-1, -2, -3.7, -1, 0, 0, 3.5, 1.2], np.float32).reshape(1, 2, 2, 2),
        "a": np.array([[-1, -2, -3.7, -1, 3.5, 1.2]], np.float32), "p": np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)},
       [published(lambda x, g, m, s, c, a, p: mb.resample(x=s, coordinates=c, **SMALL), [8.585, 6.17, 27.5, 6.17], 1, 1, 2, 2),
        published(lambda x, g, m, s, c, a, p: mb.resample(x=s, coordinates=c, **{**SMALL, "sampling_mode": "nearest", "padding_mode": "border", "coordinates_mode": "unnormalized", "align_corners": False}), [11, 11, 11, 44], 1, 1, 2, 2),
        published(lambda x, g, m, s, c, a, p: mb.resample(x=s, coordinates=c, **{**SMALL, "padding_mode": "reflection", "coordinates_mode": "normalized_zero_to_one"}), [22, 36.3, 11, 34.1], 1, 1, 2, 2),
        published(lambda x, g, m, s, c, a, p: mb.resample(x=s, coordinates=c, **{**SMALL, "sampling_mode": "nearest", "padding_mode": "symmetric", "coordinates_mode": "normalized_zero_to_one", "align_corners": False}), [22, 33, 11, 33], 1, 1, 2, 2),
        resampled("bilinear", "constant", "normalized_minus_one_to_one", False), resampled("bilinear", "border", "normalized_minus_one_to_one", True),
        resampled("bilinear", "reflection", "normalized_minus_one_to_one", True), resampled("bilinear", "symmetric", "normalized_minus_one_to_one", False),
        resampled("nearest", "constant", "normalized_zero_to_one", True, unit), resampled("nearest", "reflection", "normalized_zero_to_one", True, unit),
        resampled("bilinear", "symmetric", "normalized_zero_to_one", False, unit), resampled("bilinear", "constant", "unnormalized", True, pixel),
        published(lambda x, g, m, s, c, a, p: mb.affine(x=s, transform_matrix=a, output_height=3, output_width=3, **AFFINE), [10.752501, 2.5025, 0, 1.98, 0, 0, 0, 0, 0], 1, 1, 3, 3),
        published(lambda x, g, m, s, c, a, p: mb.affine(x=s, transform_matrix=a, output_height=2, output_width=5, **AFFINE), [10.752501, 5.94, 2.5025, 0.44, 0, 0, 0, 0, 0, 0], 1, 1, 2, 5),
        numpy(lambda x, g, m, s, c, a, p: mb.affine(x=x, transform_matrix=m, output_height=7, output_width=3, **AFFINE), lambda x, g, m, s, c, a, p: affine(x, m, 7, 3)),
        published(lambda x, g, m, s, c, a, p: mb.crop_resize(x=p, boxes=np.array([[1, 1, 2, 2]], np.float32), normalized_coordinates=False, **CROP), [6, 7, 10, 11], 1, 1, 2, 2),
        published(lambda x, g, m, s, c, a, p: mb.crop_resize(x=p, boxes=BOXES, box_indices=np.zeros(3, np.int32), normalized_coordinates=True, **CROP),
                  [3.1, 5.2, 10, 10, 10, 7.9, 10, 13.9, 2.2, 3.1, 9.4, 10.3], 3, 1, 2, 2),
        published(lambda x, g, m, s, c, a, p: mb.resize(x=np.array([-6.174, 9.371], np.float32).reshape(1, 1, 1, 2, 1), shape=[1, 1, 3, 2], resized_dims=np.uint32(2), interpolation_mode="NEAREST_NEIGHBOR", sampling_mode="DEFAULT"),
                  [-6.174, -6.174, 9.371, 9.371, 9.371, 9.371], 1, 1, 1, 3, 2),
        published(lambda x, g, m, s, c, a, p: mb.resize(x=ROW, shape=[1, 1, 5], resized_dims=np.uint32(2), interpolation_mode="LINEAR", sampling_mode="DEFAULT"), [0, 0.4, 0.8, 1, 1], 1, 1, 5),
        published(lambda x, g, m, s, c, a, p: mb.resize_bilinear(x=ROW, target_size_height=1, target_size_width=5, sampling_mode="UNALIGN_CORNERS"), [0, 0.1, 0.5, 0.9, 1], 1, 1, 5),
        published(lambda x, g, m, s, c, a, p: mb.resize_bilinear(x=ROW, target_size_height=1, target_size_width=5, sampling_mode="OFFSET_CORNERS"), [0.1, 0.3, 0.5, 0.7, 0.9], 1, 1, 5),
        numpy(lambda x, g, m, s, c, a, p: mb.resize_bilinear(x=x, target_size_height=7, target_size_width=3, sampling_mode="UNALIGN_CORNERS"),
              lambda x, g, m, s, c, a, p: interpolate(x, (7, 3), mode="bilinear", align_corners=False)),
        numpy(lambda x, g, m, s, c, a, p: mb.resize(x=x, shape=[4, 8, 2], resized_dims=np.uint32(3), sampling_mode="STRICT_ALIGN_CORNERS"),
              lambda x, g, m, s, c, a, p: interpolate(x[:, None], (4, 8, 2), mode="trilinear", align_corners=True)[:, 0]),
        numpy(lambda x, g, m, s, c, a, p: mb.resize_nearest_neighbor(x=x, target_size_height=7, target_size_width=3),
              lambda x, g, m, s, c, a, p: interpolate(x, (7, 3), mode="nearest")),
        published(lambda x, g, m, s, c, a, p: mb.upsample_nearest_neighbor(x=np.array([1.5, -2.5, 3.5], np.float32).reshape(1, 1, 1, 3), scale_factor_height=3.17, scale_factor_width=0.67), [1.5, -2.5] * 3, 1, 1, 3, 2),
        published(lambda x, g, m, s, c, a, p: mb.upsample_bilinear(x=ROW, scale_factor_height=1.0, scale_factor_width=2.5, align_corners=False, half_pixel_centers=False), [0, 0.4, 0.8, 1, 1], 1, 1, 5)])
ROI = np.array([1, 1, 2, 2], np.float32).reshape(1, 1, 4, 1, 1)
ALIGNED = dict(box_coordinate_mode="CORNERS_HEIGHT_FIRST", sampling_mode="ALIGN_CORNERS")
sized = lambda n, m: dict(target_height=n, target_width=m)
thirds = np.arange(4) / 3


def suppressed(boxes, scores, iou, score, count, each_class):
    """Core ML's formula as in the tests of coremltools: in the order of the best scores, a box that no better one
    (of the same class) covers by more than iou."""
    out = [np.zeros((len(boxes), count, 4)), np.zeros((len(boxes), count, scores.shape[2])), -np.ones((len(boxes), count)), np.zeros(len(boxes))]
    for b in range(len(boxes)):
        best, classes, kept = scores[b].max(-1), scores[b].argmax(-1), []
        for i in np.argsort(-best, kind="stable"):
            if best[i] <= score or len(kept) == count: continue
            def overlap(j):
                low = np.maximum(*(boxes[b, k, :2] - boxes[b, k, 2:] / 2 for k in (i, j)))
                high = np.minimum(*(boxes[b, k, :2] + boxes[b, k, 2:] / 2 for k in (i, j)))
                common = np.maximum(0, high - low).prod()
                return common / (boxes[b, i, 2:].prod() + boxes[b, j, 2:].prod() - common)
            if all(overlap(j) <= iou or each_class and classes[i] != classes[j] for j in kept): kept.append(i)
        n = len(kept)
        out[0][b, :n], out[1][b, :n], out[2][b, :n], out[3][b] = boxes[b, kept], scores[b, kept], kept, n
    return out


NMS = dict(iou_threshold=0.3, score_threshold=0.2, max_boxes=6)
family("boxes", ct.target.iOS15,
       {"x": np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4), "b": np.concatenate([r(2, 9, 2), positive(2, 9, 2)], -1), "s": positive(2, 9, 3) - 0.9}, [
    published(lambda x, b, s: mb.crop_resize(x=x, roi=ROI, **sized(2, 2), **ALIGNED), [6, 7, 10, 11], 1, 1, 1, 2, 2),
    numpy(lambda x, b, s: mb.crop_resize(x=x, roi=ROI, **sized(4, 4), **ALIGNED), lambda x, b, s: (6 + thirds + 4 * thirds[:, None]).reshape(1, 1, 1, 4, 4)),
    published(lambda x, b, s: mb.crop_resize(x=x, roi=ROI, **sized(1, 1), **ALIGNED), [8.5], 1, 1, 1, 1, 1),
    published(lambda x, b, s: mb.crop_resize(x=x, roi=np.array([0, 0, 0, 1 / 3, 1 / 3], np.float32).reshape(1, 1, 5, 1, 1), normalized_coordinates=True, **sized(2, 2), **ALIGNED), [1, 2, 5, 6], 1, 1, 1, 2, 2),
    published(lambda x, b, s: mb.crop_resize(x=x, roi=np.array([2, 2, 1, 1], np.float32).reshape(1, 1, 4, 1, 1), **sized(2, 2), **ALIGNED), [11, 10, 7, 6], 1, 1, 1, 2, 2),
    # Of the box from 0 to 3, UNALIGN_CORNERS takes 0.5 and 2.5.
    published(lambda x, b, s: mb.crop_resize(x=x, roi=np.array([0, 0, 3, 3], np.float32).reshape(1, 1, 4, 1, 1), sampling_mode="UNALIGN_CORNERS", **sized(2, 2)), [3.5, 5.5, 11.5, 13.5], 1, 1, 1, 2, 2)]
    + [numpy(lambda x, b, s, i=i, e=e: mb.non_maximum_suppression(boxes=b, scores=s, per_class_suppression=e, **NMS)[i],
             lambda x, b, s, i=i, e=e: suppressed(b, s, 0.3, 0.2, 6, e)[i]) for e in (False, True) for i in range(4)])
family("boxes17", ct.target.iOS17, {"b": np.concatenate([r(2, 9, 2), positive(2, 9, 2)], -1).transpose(0, 2, 1), "s": r(2, 3, 9)}, [
    numpy(lambda b, s, i=i: mb.non_maximum_suppression(boxes=b, scores=s, iou_threshold=0.3, max_boxes=5)[i],
          lambda b, s, i=i: (lambda v: v.transpose(0, 2, 1) if v.ndim == 3 else v)(suppressed(b.transpose(0, 2, 1), s.transpose(0, 2, 1), 0.3, -1e9, 5, False)[i]))
    for i in range(3)])


# Recurrent layers: PyTorch's, and for a gate before the product the formula in the tests of coremltools.
def state(kind, reset_after=False, reverse=False, sequence=True, part=0, activation="tanh"):
    gates = {"gru": 3, "rnn": 1}[kind]
    w, u, b, c = r(gates * 3, 4), r(gates * 3, 3), r(gates * 3), r(gates * 3)
    settings = dict(reset_after=reset_after, input_bias=c) if kind == "gru" else {}

    def build(x, h):
        return getattr(mb, kind)(x=x, initial_h=h, weight_ih=w, weight_hh=u, bias=b, direction="reverse" if reverse else "forward",
                                 output_sequence=sequence, activation=activation, **settings)[part]

    def expected(x, h):
        f = {"tanh": np.tanh, "relu": lambda v: np.maximum(v, 0)}[activation]
        sigmoid, steps = (lambda v: 1 / (1 + np.exp(-v))), []
        for v in x[::-1] if reverse else x:
            if kind == "rnn":
                h = f(v @ w.T + h @ u.T + b)
            else:
                W, U, B, C = (np.split(m, 3) for m in (w, u, b, c))     # reset, output, update
                reset, update = (sigmoid(v @ W[i].T + C[i] + h @ U[i].T + B[i]) for i in (0, 2))
                o = f(v @ W[1].T + C[1] + (reset * (h @ U[1].T + B[1]) if reset_after else (reset * h) @ U[1].T + B[1]))
                h = (1 - update) * o + update * h
            steps.append(h)
        return (np.stack(steps) if sequence else h[None]) if part == 0 else h
    return numpy(build, expected)


family("recurrent", ct.target.iOS18, {"x": r(5, 2, 4), "h": r(2, 3)},
       [state("gru"), state("gru", reverse=True, sequence=False), state("gru", part=1, activation="relu"), state("gru", reset_after=True),
        state("gru", reset_after=True, reverse=True, part=1), state("gru", reset_after=True, sequence=False),
        state("rnn"), state("rnn", reverse=True, part=1), state("rnn", sequence=False, activation="relu")])


def listed(x, i):
    ls = mb.make_list(init_length=3, dynamic_length=False, elem_shape=(2, 4), dtype="fp32")
    return mb.list_write(ls=mb.list_write(ls=ls, index=2, value=x), index=0, value=mb.mul(x=x, y=np.float32(2)))


def counted(x, i):
    ls = mb.make_list(init_length=4, dynamic_length=False, elem_shape=(4,), dtype="fp32")
    def body(n, total, ls):
        row = mb.gather(x=x, indices=mb.mod(x=n, y=2), axis=0)
        total = mb.add(x=total, y=row)
        return mb.add(x=n, y=1), total, mb.list_write(ls=ls, index=n, value=total)
    end = mb.while_loop(_cond=lambda n, total, ls: mb.less(x=n, y=4), _body=body, loop_vars=(0, np.zeros(4, np.float32), ls))
    return mb.list_gather(ls=end[2], indices=[0, 1, 2, 3])


family("lists", ct.target.iOS15, {"x": r(2, 4), "i": np.array([2, 0], np.int32)}, [
    numpy(lambda x, i: mb.list_read(ls=listed(x, i), index=2), lambda x, i: x), numpy(lambda x, i: mb.list_read(ls=listed(x, i), index=1), lambda x, i: 0 * x),
    numpy(lambda x, i: mb.list_gather(ls=listed(x, i), indices=i), lambda x, i: np.stack([x, 2 * x])),
    numpy(lambda x, i: mb.list_gather(ls=mb.list_scatter(ls=listed(x, i), indices=i, value=mb.stack(values=[mb.exp(x=x), x], axis=0)), indices=[0, 1, 2]),
          lambda x, i: np.stack([x, 0 * x, np.exp(x)])),
    numpy(lambda x, i: mb.cast(x=mb.list_length(ls=listed(x, i)), dtype="fp32"), lambda x, i: np.array(3.0)),
    numpy(counted, lambda x, i: np.cumsum(x[[0, 1, 0, 1]], 0))])


def to_batch(x, block, pads):
    n, c, h, w = np.pad(x, ((0, 0), (0, 0), *pads)).shape
    y = np.pad(x, ((0, 0), (0, 0), *pads)).reshape(n, c, h // block[0], block[0], w // block[1], block[1])
    return y.transpose(3, 5, 0, 1, 2, 4).reshape(-1, c, h // block[0], w // block[1])


def reversed_sequence(x, lengths, sequence, batch):
    y = np.moveaxis(x, (batch, sequence), (0, 1)).copy()
    for row, n in zip(y, lengths): row[:n] = row[:n][::-1].copy()
    return np.moveaxis(y, (0, 1), (batch, sequence))


five = lambda build, expected: numpy(lambda x, y, v, n, z: build(x, y, v, n, z), lambda x, y, v, n, z: expected(x, y, v, n, z))
ALPHA, BETA = r(3), positive(3)
family("rearranged", ct.target.iOS17,
       {"x": r(2, 3, 4, 6), "y": r(2, 6, 4, 5), "v": r(6), "n": np.array([[[1, 0], [2, 1]], [[0, -1], [1, 1]]], np.int32), "z": r(3, 4)},
       [five(lambda x, y, v, n, z: mb.space_to_batch(x=x, block_shape=[2, 3], paddings=[[1, 1], [0, 3]]), lambda x, y, v, n, z: to_batch(x, (2, 3), ((1, 1), (0, 3)))),
        five(lambda x, y, v, n, z: mb.batch_to_space(x=mb.space_to_batch(x=x, block_shape=[2, 3], paddings=[[1, 1], [0, 3]]), block_shape=[2, 3], crops=[[1, 1], [0, 3]]), lambda x, y, v, n, z: x),
        five(lambda x, y, v, n, z: mb.pixel_unshuffle(x=x, downscale_factor=np.uint32(2)), lambda x, y, v, n, z: x.reshape(2, 3, 2, 2, 3, 2).transpose(0, 1, 3, 5, 2, 4).reshape(2, 12, 2, 3)),
        five(lambda x, y, v, n, z: mb.crop(x=x, crop_height=[0, 1], crop_width=[2, 1]), lambda x, y, v, n, z: x[:, :, :3, 2:5]),
        five(lambda x, y, v, n, z: mb.reverse_sequence(x=x, lengths=np.array([3, 2], np.int32), seq_axis=3, batch_axis=0), lambda x, y, v, n, z: reversed_sequence(x, [3, 2], 3, 0)),
        five(lambda x, y, v, n, z: mb.reverse_sequence(x=x, lengths=np.array([3, 1, 0, 2], np.int32), seq_axis=1, batch_axis=2), lambda x, y, v, n, z: reversed_sequence(x, [3, 1, 0, 2], 1, 2)),
        five(lambda x, y, v, n, z: mb.reshape_like(x=x, ref_tensors=(x, mb.reshape(x=x, shape=[6, 24])), begins=(0, 1), ends=(2, 0), end_masks=(False, True)),
             lambda x, y, v, n, z: x.reshape(2, 3, 24)),
        five(lambda x, y, v, n, z: mb.fill_like(ref_tensor=z, value=np.float32(1.5)), lambda x, y, v, n, z: np.full_like(z, 1.5)),
        five(lambda x, y, v, n, z: mb.cast(x=mb.non_zero(x=np.array([[0, 2, 0], [1, 0, 3]], np.float32)), dtype="fp32"), lambda x, y, v, n, z: np.array([[0, 1], [1, 0], [1, 2]])),
        five(lambda x, y, v, n, z: mb.l2_norm(x=x, epsilon=1e-3), lambda x, y, v, n, z: x / np.sqrt((x * x).sum((1, 2, 3), keepdims=True) + 1e-3)),
        five(lambda x, y, v, n, z: mb.einsum(values=(x, y), equation="nchw,nwhu->nchu"), lambda x, y, v, n, z: np.einsum("nchw,nwhu->nchu", x, y)),
        five(lambda x, y, v, n, z: mb.einsum(values=(mb.squeeze(x=mb.slice_by_size(x=x, begin=[1, 0, 0, 0], size=[1, 3, 4, 6]), axes=[0]), mb.squeeze(x=mb.slice_by_size(x=y, begin=[0, 0, 0, 0], size=[1, 6, 4, 5]), axes=[0])), equation="chw,whr->chr"),
             lambda x, y, v, n, z: np.einsum("chw,whr->chr", x[1], y[0])),
        five(lambda x, y, v, n, z: mb.softplus_parametric(x=x, alpha=ALPHA, beta=BETA), lambda x, y, v, n, z: per(ALPHA, x) * np.log1p(np.exp(x * per(BETA, x)))),
        five(lambda x, y, v, n, z: mb.gather(x=x, indices=n, axis=2, batch_dims=1, validate_indices=False),
             lambda x, y, v, n, z: np.stack([np.take(x[b], n[b], axis=1) for b in range(2)])),
        five(lambda x, y, v, n, z: mb.gather_nd(x=x, indices=np.array([[[1, 0], [2, 1]], [[0, 3], [1, 1]]], np.int32), batch_dims=1),
             lambda x, y, v, n, z: np.stack([[x[0, 1, 0], x[0, 2, 1]], [x[1, 0, 3], x[1, 1, 1]]])),
        five(lambda x, y, v, n, z: mb.pad(x=z, pad=[2, 1, 1, 3], mode="reflect"), lambda x, y, v, n, z: np.pad(z, ((2, 1), (1, 3)), "reflect")),
        five(lambda x, y, v, n, z: mb.pad(x=x, pad=[0, 0, 2, 1, 1, 3, 0, 2], mode="replicate"), lambda x, y, v, n, z: np.pad(x, ((0, 0), (2, 1), (1, 3), (0, 2)), "edge"))])
SCALE, ZERO = np.array([0.02, 0.015, 0.03], np.float32), np.array([3, -5, 0], np.int8)
CODES = G.integers(0, 256, (4, 3, 2, 2)).astype(np.uint8)


def convolved(x, w):
    h, k = x.shape[2] - w.shape[2] + 1, x.shape[3] - w.shape[3] + 1
    return sum(np.einsum("nchw,oc->nohw", x[:, :, i:i + h, j:j + k], w[:, :, i, j]) for i in range(w.shape[2]) for j in range(w.shape[3]))


bits = lambda values, kind: np.array(values).astype(types.nptype_from_builtin(types.string_to_builtin(kind)))
family("quantized", ct.target.iOS18, {"x": r(2, 3, 4, 5)}, [
    numpy(lambda x: mb.cast(x=mb.quantize(input=x, scale=SCALE, zero_point=ZERO, axis=1, output_dtype="int8"), dtype="fp32"),
          lambda x: np.clip(np.around(x / per(SCALE, x)) + per(ZERO.astype(np.float32), x), -128, 127)),
    numpy(lambda x: mb.cast(x=mb.quantize(input=x, scale=np.float32(0.013), output_dtype="uint8"), dtype="fp32"), lambda x: np.clip(np.around(x / np.float32(0.013)), 0, 255)),
    numpy(lambda x: mb.dequantize(input=mb.quantize(input=x, scale=SCALE, zero_point=ZERO, axis=1, output_dtype="int8"), scale=2 * SCALE, zero_point=ZERO, axis=1),
          lambda x: (np.clip(np.around(x / per(SCALE, x)) + per(ZERO.astype(np.float32), x), -128, 127) - per(ZERO.astype(np.float32), x)) * 2 * per(SCALE, x)),
    numpy(lambda x: mb.conv_quantized(x=x, weight=CODES, quantization_type="linear", nbits=8, quant_scale=np.array([0.01, 0.02, 0.005, 0.015], np.float32), quant_bias=np.float32([-1, 0.5, 0, 1]), pad_type="valid"),
          lambda x: convolved(x, CODES * np.float32([0.01, 0.02, 0.005, 0.015])[:, None, None, None] + np.float32([-1, 0.5, 0, 1])[:, None, None, None])),
])
MASK8 = [[1, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 1], [0, 1, 1, 0, 1, 0], [0, 0, 0, 1, 0, 0]]
TWO = np.array([[2, 3, 0, 0, 0, 0], [3, 2, 0, 0, 0, 3], [0, 3, 2, 0, 2, 0], [0, 0, 0, 3, 0, 0]], np.float32)


def sparse_table(lut, **settings):
    mask, values = mb.constexpr_lut_to_sparse(indices_mask=bits(MASK8, "uint1"), indices_nonzero_data=bits([0, 1, 1, 0, 1, 1, 0, 0, 1], "uint1"), lut=lut, **settings)
    return mb.constexpr_sparse_to_dense(nonzero_data=values, mask=mask)


def sparse_scaled():
    mask, values = mb.constexpr_sparse_blockwise_shift_scale(
        data_mask=bits([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0]], "uint1"), nonzero_data=np.array([10, 11, 3, 4, 5, 6, 7, 8, 9], np.int8),
        scale=np.float32([[0.1, 0.2, 0.3, 0.4]]), offset=np.array([[1, 2, 3, 4]], np.int8))
    return mb.constexpr_sparse_to_dense(nonzero_data=values, mask=mask)


# The examples in the documentation of coremltools.
family("sparse", ct.target.iOS18, {"x": np.ones((1, 1), np.float32)}, [numpy(build, expected) for build, expected in (
    (lambda x: mb.mul(x=x, y=sparse_table(np.float32([2, 3]).reshape(1, 1, 2, 1))), lambda x: TWO),
    (lambda x: mb.mul(x=x, y=sparse_table(np.float32([[2, 2], [3, 3]]).reshape(1, 1, 2, 2), vector_axis=np.int32(0))), lambda x: np.repeat(TWO, 2, 0)),
    (lambda x: mb.mul(x=x, y=sparse_table(np.float32([[2, 4], [3, 5]]).reshape(1, 1, 2, 2), vector_axis=np.int32(1))),
     lambda x: np.stack([TWO, TWO + 2 * (TWO != 0)], -1).reshape(4, 12)),
    (lambda x: mb.mul(x=x, y=sparse_scaled()), lambda x: np.array([[0.9, 1.8, 0, 0], [0.2, 0.4, 0.6, 0], [0, 0, 0.9, 1.2], [0.7, 1.4, 0, 0]])),
    (lambda x: mb.mul(x=x, y=mb.constexpr_lut_to_dense(indices=bits([[0, 1, 1], [1, 0, 0]], "uint1"), lut=np.float32([[1, 5], [2, 6]]).reshape(1, 1, 2, 2), vector_axis=np.int32(0))),
     lambda x: np.array([[1, 2, 2], [5, 6, 6], [2, 1, 1], [6, 5, 5]])),
)])


def transposed_convolution(x, w, **settings):
    import torch
    return torch.nn.functional.conv_transpose2d(torch.from_numpy(x).double(), torch.from_numpy(w).double(), **settings).numpy()


def local_response(x, size, alpha, beta, k):
    padded = np.pad(x * x, ((0, 0), (size // 2, (size - 1) // 2)) + ((0, 0),) * (x.ndim - 2))
    return x / (k + alpha / size * sum(padded[:, i:i + x.shape[1]] for i in range(size))) ** beta


APART = r(3, 4, 3, 2)
family("dilated", ct.target.iOS15, {"x": r(2, 3, 4, 5), "v": r(2, 6, 2, 3, 2)}, [
    numpy(lambda x, v: mb.conv_transpose(x=x, weight=APART, dilations=[2, 3], pad_type="valid"), lambda x, v: transposed_convolution(x, APART, dilation=(2, 3))),
    numpy(lambda x, v: mb.conv_transpose(x=x, weight=APART, dilations=[1, 2], strides=[2, 1], pad_type="custom", pad=[1, 1, 2, 2]),
          lambda x, v: transposed_convolution(x, APART, dilation=(1, 2), stride=(2, 1), padding=(1, 2))),
    numpy(lambda x, v: mb.local_response_norm(x=v, size=3, alpha=0.5, beta=0.75, k=1.5), lambda x, v: local_response(v, 3, 0.5, 0.75, 1.5))])

# Operands of two types, vectors, whole numbers, and an epsilon that half precision rounds to 0; the generator of
# other families stays as it is.
H = np.random.default_rng(8)
COUNTS, VECTOR, MATRIX = H.integers(-9, 10, (5, 4)).astype(np.int32), H.uniform(-2, 2, 4).astype(np.float32), H.uniform(-2, 2, (3, 4)).astype(np.float32)
family("mixed", ct.target.iOS17, {"x": H.uniform(-2, 2, (3, 5)).astype(np.float32), "i": H.integers(-20, 20, (2, 5)).astype(np.int32), "v": H.uniform(-2, 2, 3).astype(np.float32),
                                  "image": H.uniform(-2, 2, (2, 3, 2, 2)).astype(np.float32)}, [
    numpy(lambda x, i, v, image: mb.matmul(x=x, y=COUNTS), lambda x, i, v, image: x @ COUNTS),
    numpy(lambda x, i, v, image: mb.matmul(x=i, y=COUNTS.astype(np.float32)), lambda x, i, v, image: i @ COUNTS),
    numpy(lambda x, i, v, image: mb.matmul(x=v, y=x), lambda x, i, v, image: v @ x),
    numpy(lambda x, i, v, image: mb.matmul(x=v, y=MATRIX.T.copy(), transpose_y=True), lambda x, i, v, image: v @ MATRIX),
    numpy(lambda x, i, v, image: mb.real_div(x=i, y=np.int32([3, -3, 7, 1, -4])), lambda x, i, v, image: np.trunc(i / np.int32([3, -3, 7, 1, -4]))),
    numpy(lambda x, i, v, image: mb.instance_norm(x=image, gamma=VECTOR[:3], beta=VECTOR[1:], epsilon=np.float32(0)),
          lambda x, i, v, image: (image - image.mean((2, 3), keepdims=True)) / image.std((2, 3), keepdims=True) * per(VECTOR[:3], image) + per(VECTOR[1:], image)),
])
# More rows and columns than there are; coremltools' values are NumPy's.
family("reflected", ct.target.iOS15, {"x": H.uniform(-2, 2, (2, 3)).astype(np.float32), "z": H.uniform(-2, 2, (2, 2, 1)).astype(np.float32)},
       [of("pad", "x", pad=[5, 2, 1, 7], mode="reflect"), of("pad", "x", pad=[0, 1], mode="reflect"), of("pad", "z", pad=[2, 0, 3, 1], mode="reflect")])


def enlarged(image, size):
    import torch
    return torch.nn.functional.interpolate(torch.from_numpy(image).double(), size, mode="bilinear").numpy()


def torch_sampled(image, padding, aligns):
    import torch
    return torch.nn.functional.grid_sample(torch.from_numpy(image).double(), torch.from_numpy(POINTS).double(), padding_mode=padding, align_corners=aligns).numpy()


def replaced(x, at, by):
    x = x.copy()
    x[at[0]:at[0] + by.shape[0], at[1]:at[1] + by.shape[1]] = by
    return x


def powers(x):
    """Twice as much until one is 8 or larger; 1 less if the sum is negative."""
    body = lambda y: mb.cond(pred=mb.less(x=mb.reduce_sum(x=x), y=np.float32(0)), _true_fn=lambda: mb.sub(x=mb.mul(x=y, y=np.float32(2)), y=np.float32(1)),
                             _false_fn=lambda: mb.mul(x=y, y=np.float32(2)))
    return mb.while_loop(_cond=lambda y: mb.less(x=mb.reduce_max(x=y), y=np.float32(8)), _body=body, loop_vars=(x,))


def doubled(x):
    y = x
    while y.max() < 8: y = 2 * y - (x.sum() < 0)
    return y


# Places that depend on an input, tables of codes, factors that are no ratio, windows larger than their image, loops, half
# precision, in which the numbers and their sums are exact, and points between pixels as in PyTorch's grid_sample.
TABLE, KEYS, ROWS, BLOCK = np.float32([-1, 0.5, 2, 3]).reshape(1, 1, 4, 1), H.integers(0, 4, (3, 5)), np.float32([[0.5], [2], [3]]), np.float32([[7, 8], [9, 10]])
table = lambda: mb.constexpr_lut_to_dense(indices=bits(KEYS, "uint2"), lut=TABLE)
POINTS = np.random.default_rng(9).uniform(-1.4, 1.4, (1, 2, 3, 2)).astype(np.float32)
half = lambda x: mb.cast(x=x, dtype="fp16")
family("places", ct.target.iOS18, {"x": (H.integers(-128, 129, (3, 5)) / 64).astype(np.float32), "at": np.array([1, 2], np.int32), "image": H.uniform(-2, 2, (1, 2, 2, 5)).astype(np.float32)}, [
    numpy(lambda x, at, image: mb.slice_update(x=x, update=BLOCK, begin=at, end=mb.add(x=at, y=np.int32([2, 2]))), lambda x, at, image: replaced(x, at, BLOCK)),
    numpy(lambda x, at, image: mb.slice_by_size(x=x, begin=at, size=np.int32([2, -1])), lambda x, at, image: x[1:3, 2:]),
    numpy(lambda x, at, image: mb.mul(x=x, y=table()), lambda x, at, image: x * TABLE.ravel()[KEYS]),
    numpy(lambda x, at, image: mb.mul(x=x, y=mb.constexpr_blockwise_shift_scale(data=table(), scale=ROWS)), lambda x, at, image: x * TABLE.ravel()[KEYS] * ROWS),
    numpy(lambda x, at, image: mb.upsample_bilinear(x=image, scale_factor_height=(3 + 1e-4) / 2, scale_factor_width=(7 + 1e-4) / 5, align_corners=False), lambda x, at, image: enlarged(image, (3, 7))),
    numpy(lambda x, at, image: mb.avg_pool(x=image, kernel_sizes=[3, 3], strides=[2, 2], pad_type="custom", pad=[0, 0, 0, 0], ceil_mode=True), lambda x, at, image: pooled(image, [3, 3], [2, 2], [0] * 4, "mean")),
    numpy(lambda x, at, image: powers(x), lambda x, at, image: doubled(x)),
    numpy(lambda x, at, image: mb.cast(x=mb.cumsum(x=half(x), axis=1), dtype="fp32"), lambda x, at, image: np.cumsum(x, 1)),
    numpy(lambda x, at, image: mb.cast(x=mb.scatter(data=half(x), indices=at, updates=BLOCK.repeat(3, 1)[:, :5].astype(np.float16), mode="add", axis=0), dtype="fp32"),
          lambda x, at, image: x + np.concatenate([np.zeros((1, 5)), BLOCK.repeat(3, 1)[:, :5]]))] + [
    numpy(lambda x, at, image, p=p, a=a: mb.resample(x=image, coordinates=POINTS, sampling_mode="bilinear", padding_mode=p, padding_value=np.float32(0), coordinates_mode="normalized_minus_one_to_one", align_corners=a),
          lambda x, at, image, t=t, a=a: torch_sampled(image, t, a))
    for p, t, a in (("constant", "zeros", False), ("symmetric", "reflection", False), ("reflection", "reflection", True), ("border", "border", True))])


def make(name):
    target, inputs, operations = FAMILIES[name]
    kinds = {np.dtype(np.float32): types.fp32, np.dtype(np.int32): types.int32}

    def results(values):
        out = []
        for o in operations:
            uses = getattr(o, "uses", None)
            out.append(o(*(values[u] for u in uses)) if uses else o(*values.values()))
        return out

    specs = [mb.TensorSpec(shape=v.shape, dtype=kinds[v.dtype]) for v in inputs.values()]

    def build(*variables):
        made = results(dict(zip(inputs, variables)))
        cast = lambda v: mb.cast(x=v, dtype="fp32") if v.dtype == types.bool else v
        outputs = tuple(mb.identity(x=cast(v), name=f"y{i}") for i, v in enumerate(made))
        # coremltools describes the last one twice, too.
        return outputs + outputs[-1:] * (name == "reflected")

    # The builder names the inputs after the function's parameters.
    source = f"lambda {', '.join(inputs)}: build({', '.join(inputs)})"
    program = mb.program(input_specs=specs, opset_version=target)(eval(source, {"build": build}))
    save(converted(program, target), name)
    expected = {}

    @mb.program(input_specs=[mb.TensorSpec(shape=(1,))], opset_version=target)
    def constants(unused):
        for i, o in enumerate(operations):
            if getattr(o, "expected", None):
                expected[f"y{i}"] = np.asarray(o.expected(*inputs.values()), np.float32)
                continue
            uses = getattr(o, "uses", None)
            # Some operations change their input in place.
            variables = {k: mb.const(val=v.copy()) for k, v in inputs.items()}
            v = o(*(variables[u] for u in uses)) if uses else o(*variables.values())
            if v.val is None: raise ValueError(f"{name} y{i}: {v.op.op_type} has no value")
            expected[f"y{i}"] = np.asarray(v.val).astype(np.float32)
        return mb.identity(x=unused)

    np.savez(os.path.join(HERE, f"{name}.inputs.npz"), **inputs)
    np.savez(os.path.join(HERE, f"{name}.expected.npz"), **expected)
    print(name, len(expected))


def converted(program, target):
    return ct.convert(program, convert_to="mlprogram", minimum_deployment_target=target, compute_precision=ct.precision.FLOAT32,
                      skip_model_load=True, pass_pipeline=ct.PassPipeline.EMPTY)


def save(model, name):
    path = os.path.join(HERE, f"{name}.mlpackage")
    shutil.rmtree(path, ignore_errors=True)
    model.save(path)


def make_functions():
    """Two functions, of which square is the default: x² of four numbers, and three times six."""
    @mb.program(input_specs=[mb.TensorSpec(shape=(4,))], opset_version=ct.target.iOS18)
    def square(x):
        return mb.mul(x=x, y=x, name="y")

    @mb.program(input_specs=[mb.TensorSpec(shape=(2, 3))], opset_version=ct.target.iOS18)
    def triple(x):
        return mb.mul(x=x, y=np.float32(3), name="z")

    descriptor = ct.utils.MultiFunctionDescriptor()
    for name, program in (("square", square), ("triple", triple)):
        path = os.path.join(tempfile.mkdtemp(), name + ".mlpackage")
        converted(program, ct.target.iOS18).save(path)
        descriptor.add_function(path, src_function_name="main", target_function_name=name)
    descriptor.default_function_name = "square"
    path = os.path.join(HERE, "functions.mlpackage")
    shutil.rmtree(path, ignore_errors=True)
    ct.utils.save_multifunction(descriptor, path)


def make_states():
    """A state that counts: s ← s + x, y = 2 s."""
    @mb.program(input_specs=[mb.TensorSpec(shape=(3,)), mb.StateTensorSpec((3,), dtype=types.fp16)], opset_version=ct.target.iOS18)
    def program(x, s):
        total = mb.add(x=mb.read_state(input=s), y=mb.cast(x=x, dtype="fp16"))
        total = mb.coreml_update_state(state=s, value=total)
        return mb.mul(x=mb.cast(x=total, dtype="fp32"), y=np.float32(2), name="y")

    save(converted(program, ct.target.iOS18), "states")


def make_values():
    """Sizes that depend on the values of the inputs: the places of what is not 0 and the elements there, the first n
    elements, and the n largest."""
    @mb.program(input_specs=[mb.TensorSpec(shape=(3, 4)), mb.TensorSpec(shape=(1,), dtype=types.int32)], opset_version=ct.target.iOS17)
    def program(x, n):
        places = mb.non_zero(x=x)
        rows = mb.slice_by_index(x=x, begin=[0, 0], end=mb.concat(values=[n, np.array([4], np.int32)], axis=0), name="rows")
        return mb.identity(x=places, name="places"), mb.gather_nd(x=x, indices=places, name="elements"), rows

    save(converted(program, ct.target.iOS17), "values")
    x = np.array([[0, 1.5, 0, -2], [0, 0, 0.5, 0], [3, 0, 0, 4]], np.float32)
    np.savez(os.path.join(HERE, "values.inputs.npz"), x=x, n=np.array([2], np.int32))
    np.savez(os.path.join(HERE, "values.expected.npz"), places=np.argwhere(x).astype(np.float32), elements=x[x != 0], rows=x[:2])


def make_random():
    """Means of random numbers: of 10000 each, and what they tend to."""
    n = dict(shape=[100, 100], seed=3)
    mean = lambda v, name: mb.reduce_mean(x=v, axes=[0, 1], keep_dims=False, name=name)

    @mb.program(input_specs=[mb.TensorSpec(shape=(1,))], opset_version=ct.target.iOS15)
    def program(x):
        normal = mb.random_normal(mean=np.float32(3), stddev=np.float32(2), **n)
        uniform = mb.random_uniform(low=np.float32(-1), high=np.float32(3), **n)
        classes = mb.random_categorical(x=np.broadcast_to(np.float32([0.1, 0.3, 0.6]), (100, 3)).copy(), mode="probs", size=100, seed=3)
        logits = mb.random_categorical(x=np.broadcast_to(np.log(np.float32([2, 6, 12])), (100, 3)).copy(), mode="logits", size=100, seed=4)
        flips = mb.random_bernoulli(prob=np.float32(0.25), **n)
        return (mean(normal, "normal"), mean(mb.abs(x=mb.sub(x=normal, y=np.float32(3))), "spread"), mean(uniform, "uniform"),
                mean(mb.square(x=uniform), "squares"), mean(flips, "flips"), mean(classes, "classes"), mean(logits, "logits"),
                mb.reduce_max(x=uniform, name="largest"), mb.reduce_min(x=uniform, name="least"), mb.identity(x=x, name="x_again"))

    save(converted(program, ct.target.iOS15), "random")
    values = dict(normal=3, spread=2 * np.sqrt(2 / np.pi), uniform=1, squares=7 / 3, flips=0.25, classes=1.5, logits=1.5, largest=3, least=-1, x_again=0)
    np.savez(os.path.join(HERE, "random.inputs.npz"), x=np.zeros(1, np.float32))
    np.savez(os.path.join(HERE, "random.expected.npz"), **{k: np.float32(v).reshape(1) if k == "x_again" else np.float32(v) for k, v in values.items()})


def make_half():
    """Single operations whose result NumPy rounds to a half as an engine does that adds in single precision."""
    x, y, w = r(3, 40), positive(3, 40), r(40)
    h = lambda v: v.astype(np.float16).astype(np.float32)

    @mb.program(input_specs=[mb.TensorSpec(shape=x.shape), mb.TensorSpec(shape=y.shape)], opset_version=ct.target.iOS15)
    def program(x, y):
        s = mb.add(x=x, y=y, name="sum")
        return (s, mb.mul(x=x, y=y, name="product"), mb.real_div(x=x, y=y, name="quotient"), mb.mul(x=s, y=w, name="scaled"),
                mb.sqrt(x=y, name="root"), mb.relu(x=x, name="positive"), mb.mul(x=mb.square(x=x), y=np.float32(40000), name="large"))

    save(converted(program, ct.target.iOS15), "half")
    a, b, c = h(x), h(y), h(w)
    s = h(a + b)
    values = dict(sum=s, product=h(a * b), quotient=h(a / b), scaled=h(s * c), root=h(np.sqrt(b)), positive=np.maximum(a, 0), large=h(h(a * a) * 40000))
    np.savez(os.path.join(HERE, "half.inputs.npz"), x=x, y=y)
    np.savez(os.path.join(HERE, "half.expected.npz"), **values)


def make_growing():
    """A list that a loop makes longer: it starts with one element and has k · x at each place k < n."""
    @mb.program(input_specs=[mb.TensorSpec(shape=(2,)), mb.TensorSpec(shape=(1,))], opset_version=ct.target.iOS15)
    def program(x, n):
        def body(i, n, ls, x):
            return mb.add(x=i, y=1), n, mb.list_write(ls=ls, index=i, value=mb.mul(x=x, y=mb.cast(x=i, dtype="fp32"))), x

        def cond(i, n, ls, x):
            return mb.less(x=mb.cast(x=i, dtype="fp32"), y=n)

        _, _, ls, _ = mb.while_loop(_cond=cond, _body=body, loop_vars=(0, n, mb.make_list(init_length=1, elem_shape=(2,)), x))
        return mb.list_gather(ls=ls, indices=mb.range_1d(start=0, end=mb.list_length(ls=ls), step=1), name="multiples")

    save(converted(program, ct.target.iOS15), "growing")
    x = np.float32([1.5, -2])
    np.savez(os.path.join(HERE, "growing.inputs.npz"), x=x, n=np.float32([4]))
    np.savez(os.path.join(HERE, "growing.expected.npz"), multiples=np.outer(np.arange(4, dtype=np.float32), x))


def make_validated():
    """Operations that check their indices: at `places` 1 is added to a row of x, and the rows of x are taken."""
    @mb.program(input_specs=[mb.TensorSpec(shape=(3, 2)), mb.TensorSpec(shape=(2,), dtype=types.int32)], opset_version=ct.target.iOS17)
    def program(x, places):
        added = mb.scatter(data=x, indices=places, updates=np.ones((2, 2), np.float32), mode="add", validate_indices=True, name="added")
        return added, mb.gather(x=x, indices=places, axis=0, validate_indices=True, name="rows")

    save(converted(program, ct.target.iOS17), "validated")
    x, places = np.arange(6, dtype=np.float32).reshape(3, 2), np.array([2, 0], np.int32)
    np.savez(os.path.join(HERE, "validated.inputs.npz"), x=x, places=places)
    np.savez(os.path.join(HERE, "validated.expected.npz"), added=x + np.float32([[1], [0], [1]]), rows=x[places])


def make_inside():
    """A state that a loop and a branch change: s ← s + n · x, then s ← −s if n > 2; y = 2 s."""
    @mb.program(input_specs=[mb.TensorSpec(shape=(3,)), mb.TensorSpec(shape=(1,), dtype=types.int32), mb.StateTensorSpec((3,), dtype=types.fp16)],
                opset_version=ct.target.iOS18)
    def program(x, n, s):
        x, n = mb.cast(x=x, dtype="fp16"), mb.squeeze(x=n, axes=[0])

        def body(i):
            mb.coreml_update_state(state=s, value=mb.add(x=mb.read_state(input=s), y=x))
            return mb.add(x=i, y=1)

        def negated():
            return mb.coreml_update_state(state=s, value=mb.mul(x=mb.read_state(input=s), y=np.float16(-1)))

        mb.while_loop(_cond=lambda i: mb.less(x=i, y=n), _body=body, loop_vars=(0,))
        value = mb.cond(pred=mb.greater(x=n, y=2), _true_fn=negated, _false_fn=lambda: mb.read_state(input=s))
        return mb.mul(x=mb.cast(x=value, dtype="fp32"), y=np.float32(2), name="y")

    save(converted(program, ct.target.iOS18), "inside")


def pooled(x, kernel, strides, pad, kind):
    """The pooling of images by its definition in coremltools' documentation: with ceil_mode the last window may leave
    the image, but must not start after it; as in PyTorch, the divisor of a mean counts the padding but nothing past it."""
    before, after, sizes = pad[::2], pad[1::2], x.shape[2:]
    counts = [-(-(n + b + a - k) // s) + 1 for n, k, s, b, a in zip(sizes, kernel, strides, before, after)]
    counts = [c - (b + a > 0 and (c - 1) * s >= n + b) for c, n, s, b, a in zip(counts, sizes, strides, before, after)]
    y = np.zeros(x.shape[:2] + tuple(counts), np.float32)
    for place in np.ndindex(*counts):
        starts = [p * s - b for p, s, b in zip(place, strides, before)]
        real = x[(...,) + tuple(slice(max(0, t), max(0, t + k)) for t, k in zip(starts, kernel))]
        divisor = np.prod([min(t + k, n + a) - t for t, k, n, a in zip(starts, kernel, sizes, after)])
        axes = tuple(range(2, x.ndim))
        y[(...,) + place] = {"max": lambda: real.max(axes), "l2": lambda: np.sqrt((real ** 2).sum(axes)), "real": lambda: real.mean(axes),
                             "mean": lambda: real.sum(axes) / divisor}[kind]()
    return y


def make_pooled():
    """Poolings with ceil_mode and different padding before and after. coremltools' type inference refuses them."""
    from coremltools.converters.mil.mil.ops.defs.iOS15.pool import Pooling
    inference = Pooling.type_inference

    def shaped(self):
        x, kind = np.zeros(self.x.shape, np.float32), {"max_pool": "max", "l2_pool": "l2", "avg_pool": "mean"}[self.op_type]
        return types.tensor(self.x.dtype, pooled(x, self.kernel_sizes.val, self.strides.val, self.pad.val, kind).shape)

    Pooling.type_inference = shaped
    inputs = {"x": r(2, 3, 7, 6), "s": r(2, 3, 8)}
    planes, rows = ([3, 2], [2, 3], [1, 0, 1, 2]), ([3], [2], [0, 2])
    kinds = [("max", "max_pool", {}), ("l2", "l2_pool", {}), ("mean", "avg_pool", {}), ("real", "avg_pool", {"exclude_padding_from_average": True})]
    expected = {}

    @mb.program(input_specs=[mb.TensorSpec(shape=v.shape) for v in inputs.values()], opset_version=ct.target.iOS15)
    def program(x, s):
        results = []
        for name, value, windows in (("x", x, planes), ("s", s, rows)):
            for kind, operation, settings in kinds:
                if (name, kind) == ("s", "l2"): continue
                kernel, strides, pad = windows
                results.append(getattr(mb, operation)(x=value, kernel_sizes=kernel, strides=strides, pad_type="custom", pad=pad, ceil_mode=True,
                                                      name=f"{name}_{kind}", **settings))
                expected[f"{name}_{kind}"] = pooled(inputs[name], *windows, kind)
        return tuple(results)

    save(converted(program, ct.target.iOS15), "pooled")
    Pooling.type_inference = inference
    np.savez(os.path.join(HERE, "pooled.inputs.npz"), **inputs)
    np.savez(os.path.join(HERE, "pooled.expected.npz"), **expected)


def make_condition():
    """A loop whose variable grows while the number of steps depends on what it computes: y doubles in length until its
    sum exceeds a limit, and each half is the other one plus 1."""
    @mb.program(input_specs=[mb.TensorSpec(shape=(2,)), mb.TensorSpec(shape=(1,))], opset_version=ct.target.iOS15)
    def program(x, limit):
        limit = mb.squeeze(x=limit, axes=[0])
        cond = lambda y: mb.less(x=mb.reduce_sum(x=y, axes=[0], keep_dims=False), y=limit)
        body = lambda y: mb.concat(values=[y, mb.add(x=y, y=np.float32(1))], axis=0)
        y = mb.while_loop(_cond=cond, _body=body, loop_vars=(mb.mul(x=x, y=np.float32(1)),))
        return mb.identity(x=y[0] if isinstance(y, (list, tuple)) else y, name="y")

    save(converted(program, ct.target.iOS15), "condition")
    y, limit = np.float32([0.5, 1]), np.float32([20])
    np.savez(os.path.join(HERE, "condition.inputs.npz"), x=y, limit=limit)
    while y.sum() < limit[0]: y = np.concatenate([y, y + 1])
    np.savez(os.path.join(HERE, "condition.expected.npz"), y=y)


SPECIAL = {"inside": make_inside, "pooled": make_pooled, "condition": make_condition, "growing": make_growing, "validated": make_validated, "functions": make_functions, "states": make_states, "values": make_values, "random": make_random, "half": make_half}


if __name__ == "__main__":
    for name in sys.argv[1:] or [*FAMILIES, *SPECIAL]: SPECIAL[name]() if name in SPECIAL else make(name)
