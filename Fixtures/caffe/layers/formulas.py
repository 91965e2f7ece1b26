"""Caffe's layers in double precision, plainly: what the fixtures' expected values come from.

Each function is written from the source that it names, of BVLC/caffe at master
(`src/caffe/layers/`) unless it says otherwise, and shares nothing with the converter.
"""
import itertools
import math

import numpy as np


def sizes(value, count):
    return list(value) if isinstance(value, (list, tuple)) else [value] * count


def convolution(x, w, b=None, stride=1, pad=0, dilation=1, group=1, axis=1):
    """base_conv_layer.cpp, im2col.cpp: correlation of each group, zeros around."""
    outer, channels, extents = x.shape[:axis], x.shape[axis], x.shape[axis + 1:]
    n = len(extents)
    stride, pad, dilation = sizes(stride, n), sizes(pad, n), sizes(dilation, n)
    kernel, outputs = w.shape[2:], w.shape[0]
    size = [(e + 2 * p - (d * (k - 1) + 1)) // s + 1
            for e, p, d, k, s in zip(extents, pad, dilation, kernel, stride)]
    flat = x.reshape((-1, channels) + extents)
    flat = np.pad(flat, [(0, 0), (0, 0)] + [(p, p) for p in pad])
    y = np.zeros((flat.shape[0], outputs) + tuple(size))
    own, seen = outputs // group, channels // group
    for place in itertools.product(*map(range, kernel)):
        window = (slice(None), slice(None)) + tuple(
            slice(k * d, k * d + s * (o - 1) + 1, s)
            for k, d, s, o in zip(place, dilation, stride, size))
        for g in range(group):
            part = flat[window][:, g * seen:(g + 1) * seen]
            factor = w[(slice(g * own, (g + 1) * own), slice(None)) + place]
            y[:, g * own:(g + 1) * own] += np.einsum("oc,nc...->no...", factor, part)
    if b is not None:
        y += b.reshape((1, -1) + (1,) * n)
    return y.reshape(outer + y.shape[1:])


def deconvolution(x, w, b=None, stride=1, pad=0, dilation=1, group=1):
    """deconv_layer.cpp, col2im: every element spreads the kernel; weights [in, out / group, …]."""
    n = x.ndim - 2
    stride, pad, dilation = sizes(stride, n), sizes(pad, n), sizes(dilation, n)
    kernel, own = w.shape[2:], w.shape[1]
    extent = [d * (k - 1) + 1 for d, k in zip(dilation, kernel)]
    whole = [s * (e - 1) + k for s, e, k in zip(stride, x.shape[2:], extent)]
    y = np.zeros((x.shape[0], own * group) + tuple(whole))
    seen = x.shape[1] // group
    for place in itertools.product(*map(range, kernel)):
        window = (slice(None), slice(None)) + tuple(
            slice(k * d, k * d + s * (e - 1) + 1, s)
            for k, d, s, e in zip(place, dilation, stride, x.shape[2:]))
        for g in range(group):
            factor = w[(slice(g * seen, (g + 1) * seen), slice(None)) + place]
            y[window][:, g * own:(g + 1) * own] += np.einsum(
                "co,nc...->no...", factor, x[:, g * seen:(g + 1) * seen])
    y = y[(slice(None), slice(None)) + tuple(slice(p, w - p) for p, w in zip(pad, whole))]
    return y if b is None else y + b.reshape((1, -1) + (1,) * n)


def im2col(x, kernel, stride=1, pad=0, dilation=1):
    """im2col_layer.cpp: channel (c · kh + y) · kw + x of the columns."""
    channels = x.shape[1]
    area = int(np.prod(kernel))
    w = np.zeros((channels * area, 1) + tuple(kernel))
    for out in range(channels * area):
        w[(out, 0) + np.unravel_index(out % area, kernel)] = 1
    return convolution(x, w, None, stride, pad, dilation, group=channels)


def pooled_size(extent, kernel, stride, pad, padded, floor=False):
    """pooling_layer.cpp, Reshape."""
    rest = (extent + 2 * pad - kernel) / stride
    count = int(math.floor(rest) if floor else math.ceil(rest)) + 1
    if padded and (count - 1) * stride >= extent + pad:
        count -= 1
    return count


def pooling(x, kernel, method="MAX", stride=1, pad=0, floor=False, mask=False):
    """pooling_layer.cpp and, for STOCHASTIC, the test's kernel in pooling_layer.cu."""
    kernel, stride, pad = sizes(kernel, 2), sizes(stride, 2), sizes(pad, 2)
    n, c, h, w = x.shape
    ph, pw = (pooled_size(e, k, s, p, any(pad), floor)
              for e, k, s, p in zip((h, w), kernel, stride, pad))
    y = np.zeros((n, c, ph, pw))
    places = np.zeros((n, c, ph, pw))
    for i, j in itertools.product(range(ph), range(pw)):
        top, left = i * stride[0] - pad[0], j * stride[1] - pad[1]
        bottom, right = min(top + kernel[0], h + pad[0]), min(left + kernel[1], w + pad[1])
        area = (bottom - top) * (right - left)
        t, l, b, r = max(top, 0), max(left, 0), min(bottom, h), min(right, w)
        window = x[:, :, t:b, l:r]
        if method == "MAX":
            flat = window.reshape(n, c, -1)
            first = flat.argmax(-1)
            y[:, :, i, j] = flat.max(-1)
            places[:, :, i, j] = (t + first // (r - l)) * w + l + first % (r - l)
        elif method == "AVE":
            y[:, :, i, j] = window.sum((2, 3)) / area
        else:
            total = window.sum((2, 3))
            squares = (window ** 2).sum((2, 3))
            y[:, :, i, j] = np.where(total > 0, squares / np.where(total > 0, total, 1), 0)
    return (y, places) if mask else y


def spp(x, height, method="MAX"):
    """spp_layer.cpp, GetPoolingParam."""
    parts = []
    for level in range(height):
        bins = 2 ** level
        kernel = [math.ceil(e / bins) for e in x.shape[2:]]
        pad = [(k * bins - e + 1) // 2 for k, e in zip(kernel, x.shape[2:])]
        parts.append(pooling(x, kernel, method, kernel, pad).reshape(x.shape[0], -1))
    return np.concatenate(parts, 1)


def unpooling(x, places, h, w):
    """upsample_layer.cpp of alexgkendall/caffe-segnet."""
    y = np.zeros(x.shape[:2] + (h * w,))
    for n, c in itertools.product(range(x.shape[0]), range(x.shape[1])):
        y[n, c, places[n, c].astype(int).ravel()] = x[n, c].ravel()
    return y.reshape(x.shape[:2] + (h, w))


def inner_product(x, w, b=None, axis=1, transpose=False):
    """inner_product_layer.cpp."""
    axis %= x.ndim
    flat = x.reshape(int(np.prod(x.shape[:axis])), -1)
    y = flat @ (w if transpose else w.T)
    if b is not None:
        y = y + b
    return y.reshape(x.shape[:axis] + (-1,))


def embed(x, w, b=None):
    """embed_layer.cpp."""
    y = w[x.astype(int)]
    return y if b is None else y + b


def lrn(x, size=5, alpha=1.0, beta=0.75, k=1.0, within=False):
    """lrn_layer.cpp: CrossChannelForward_cpu, WithinChannelForward (which has no k)."""
    half = (size - 1) // 2
    if within:
        means = pooling(x * x, size, "AVE", 1, half)
        return x * (1 + alpha * means) ** -beta
    squares = np.pad(x * x, [(0, 0), (half, half), (0, 0), (0, 0)])
    sums = sum(squares[:, i:i + x.shape[1]] for i in range(size))
    return x * (k + alpha / size * sums) ** -beta


def mvn(x, variance=True, across=False, eps=1e-9):
    """mvn_layer.cpp: divides by the deviation plus eps."""
    axes = tuple(range(1 if across else 2, x.ndim))
    y = x - x.mean(axes, keepdims=True)
    return y / (np.sqrt((y * y).mean(axes, keepdims=True)) + eps) if variance else y


def stretch(values, x, axis):
    return values.reshape(values.shape + (1,) * (x.ndim - axis - values.ndim))


def batch_norm(x, mean=None, variance=None, factor=None, eps=1e-5):
    """batch_norm_layer.cpp."""
    if mean is None:
        axes = (0,) + tuple(range(2, x.ndim))
        mean = x.mean(axes)
        variance = (x * x).mean(axes) - mean ** 2
    else:
        scale = 0 if factor == 0 else 1 / factor
        mean, variance = mean * scale, variance * scale
    return (x - stretch(mean, x, 1)) / np.sqrt(stretch(variance, x, 1) + eps)


def scale(x, factors, bias=None, axis=1):
    """scale_layer.cpp, bias_layer.cpp."""
    axis = axis % x.ndim if factors.ndim else 0
    y = x * (stretch(factors, x, axis) if factors.ndim else factors)
    return y if bias is None else y + (stretch(bias, x, axis) if bias.ndim else bias)


def softmax(x, axis=1):
    """softmax_layer.cpp."""
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def reduction(x, operation="SUM", axis=0, coeff=1.0):
    """reduction_layer.cpp."""
    axes = tuple(range(axis % x.ndim, x.ndim))
    value = {"SUM": lambda: x.sum(axes), "ASUM": lambda: np.abs(x).sum(axes),
             "SUMSQ": lambda: (x * x).sum(axes), "MEAN": lambda: x.mean(axes)}[operation]()
    return np.asarray(coeff * value)


def argmax(x, axis=None, top=1, values=False):
    """argmax_layer.cpp."""
    if axis is not None:
        order = np.argsort(-x, axis, kind="stable").take(range(top), axis)
        return np.take_along_axis(x, order, axis) if values else order.astype(float)
    flat = x.reshape(x.shape[0], -1)
    order = np.argsort(-flat, 1, kind="stable")[:, :top]
    shape = [x.shape[0], 1, top] + [1] * (max(3, x.ndim) - 3)
    if not values:
        return order.reshape(shape).astype(float)
    shape[1] = 2
    return np.stack([order.astype(float), np.take_along_axis(flat, order, 1)], 1).reshape(shape)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_unit(c, x, cont):
    """lstm_unit_layer.cpp: i, f, o, g."""
    i, f, o, g = np.split(x, 4, -1)
    c = cont[..., None] * sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return c, sigmoid(o) * np.tanh(c)


def lstm(x, cont, wx, b, wh, wstatic=None, static=None, h=None, c=None):
    """lstm_layer.cpp, FillUnrolledNet."""
    units = wh.shape[1]
    n = x.shape[1]
    h = np.zeros((n, units)) if h is None else h[0]
    c = np.zeros((n, units)) if c is None else c[0]
    outputs = []
    for t in range(x.shape[0]):
        gates = x[t].reshape(n, -1) @ wx.T + b + (h * cont[t][:, None]) @ wh.T
        if static is not None:
            gates = gates + static.reshape(n, -1) @ wstatic.T
        c, h = lstm_unit(c, gates, cont[t])
        outputs.append(h)
    return np.stack(outputs), h[None], c[None]


def rnn(x, cont, wx, b, wh, wo, bo, h=None):
    """rnn_layer.cpp, FillUnrolledNet."""
    n = x.shape[1]
    h = np.zeros((n, wh.shape[0])) if h is None else h[0]
    outputs = []
    for t in range(x.shape[0]):
        h = np.tanh(x[t].reshape(n, -1) @ wx.T + b + (h * cont[t][:, None]) @ wh.T)
        outputs.append(np.tanh(h @ wo.T + bo))
    return np.stack(outputs), h[None]


def normalize(x, factors, across=True, eps=1e-10):
    """normalize_layer.cpp of weiliu89/caffe, branch ssd."""
    axes = (1, 2, 3) if across else 1
    return x / np.sqrt((x * x).sum(axes, keepdims=True) + eps) * factors.reshape(1, -1, 1, 1)


def prior_box(h, w, picture, least, most=(), ratios=(), flip=True, clip=False, variance=(0.1,),
              step=None, offset=0.5):
    """prior_box_layer.cpp of weiliu89/caffe, branch ssd; `step` and `picture` are (h, w)."""
    all_ratios = [1.0]
    for ratio in ratios:
        if any(abs(ratio - r) < 1e-6 for r in all_ratios):
            continue
        all_ratios += [ratio, 1 / ratio] if flip else [ratio]
    step = step or (picture[0] / h, picture[1] / w)
    boxes = []
    for i, j in itertools.product(range(h), range(w)):
        x, y = (j + offset) * step[1], (i + offset) * step[0]
        extents = []
        for s, size in enumerate(least):
            size = int(size)
            extents.append((size, size))
            if most:
                both = math.sqrt(size * int(most[s]))
                extents.append((both, both))
            extents += [(size * math.sqrt(r), size / math.sqrt(r))
                        for r in all_ratios if abs(r - 1) >= 1e-6]
        for bw, bh in extents:
            boxes += [(x - bw / 2) / picture[1], (y - bh / 2) / picture[0],
                      (x + bw / 2) / picture[1], (y + bh / 2) / picture[0]]
    boxes = np.array(boxes)
    if clip:
        boxes = boxes.clip(0, 1)
    variances = np.tile(variance if len(variance) == 4 else list(variance) * 4, len(boxes) // 4)
    return np.stack([boxes, variances])[None]


def decode(loc, prior, variance, code, in_target):
    """bbox_util.cpp of weiliu89/caffe, DecodeBBox."""
    v = np.ones(4) if in_target else variance
    size = np.array([prior[2] - prior[0], prior[3] - prior[1]])
    if code == "CORNER":
        return prior + v * loc
    if code == "CORNER_SIZE":
        return prior + v * loc * np.tile(size, 2)
    center = v[:2] * loc[:2] * size + (prior[:2] + prior[2:]) / 2
    extent = np.exp(v[2:] * loc[2:]) * size
    return np.concatenate([center - extent / 2, center + extent / 2])


def overlap(a, b):
    w = min(a[2], b[2]) - max(a[0], b[0])
    h = min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0.0
    area = lambda box: (box[2] - box[0]) * (box[3] - box[1])
    return w * h / (area(a) + area(b) - w * h)


def detection_output(loc, conf, priors, classes, share=True, background=0, code="CORNER",
                     in_target=False, keep=-1, threshold=-math.inf, nms=0.3, top=-1):
    """detection_output_layer.cpp of weiliu89/caffe, for one picture."""
    count = priors.shape[2] // 4
    prior, variance = priors[0, 0].reshape(-1, 4), priors[0, 1].reshape(-1, 4)
    loc = loc.reshape(count, 1 if share else classes, 4)
    conf = conf.reshape(count, classes)
    found = []
    for c in range(classes):
        if c == background:
            continue
        boxes = [decode(loc[p, 0 if share else c], prior[p], variance[p], code, in_target)
                 for p in range(count)]
        order = sorted((p for p in range(count) if conf[p, c] > threshold),
                       key=lambda p: -conf[p, c])
        kept = []
        for p in order[:top] if top > 0 else order:
            if all(overlap(boxes[p], boxes[q]) <= nms for q in kept):
                kept.append(p)
        found += [(c, conf[p, c], boxes[p]) for p in kept]
    if keep > 0 and len(found) > keep:
        best = sorted(range(len(found)), key=lambda i: -found[i][1])[:keep]
        found = [found[i] for i in sorted(best)]
    return np.array([[0, c, s] + list(box) for c, s, box in found])


def interp(x, h, w):
    """interp.cpp of DeepLab's caffe: corners on corners."""
    def weights(source, target):
        m = np.zeros((target, source))
        for i in range(target):
            place = i * (source - 1) / (target - 1) if target > 1 else 0
            low = min(int(place), source - 1)
            m[i, low] += 1 - (place - low)
            m[i, min(low + 1, source - 1)] += place - low
        return m
    return np.einsum("ih,nchw,jw->ncij", weights(x.shape[2], h), x, weights(x.shape[3], w))


def reorg(x, stride, reverse=False):
    """reorg_cpu of Darknet's blas.c, which the forks have copied."""
    n, c, h, w = x.shape
    out = c // stride ** 2
    source = x.reshape(n, -1)
    y = np.zeros_like(source)
    for k, j, i in itertools.product(range(c), range(h), range(w)):
        inner = i + w * (j + h * k)
        column = i * stride + (k // out) % stride
        row = j * stride + (k // out) // stride
        outer = column + w * stride * (row + h * stride * (k % out))
        if reverse:
            y[:, outer] = source[:, inner]
        else:
            y[:, inner] = source[:, outer]
    if reverse:
        return y.reshape(n, out, h * stride, w * stride)
    return y.reshape(n, c * stride ** 2, h // stride, w // stride)


def shuffle(x, group):
    """shuffle_channel_layer.cpp of farmingyard/ShuffleNet."""
    n, c, h, w = x.shape
    return x.reshape(n, group, c // group, h, w).swapaxes(1, 2).reshape(x.shape)
