#!/usr/bin/env python3
"""Makes goldens.npz: inputs, weights and expected outputs of the reference layers, in numpy and
scipy only (numpy 2, scipy 1.17). Arrays are named CASE/ARRAY; tensors are [Seq, Batch, C, H, W].

The formulas here are put together from other operations than those of the Swift twins: correlation
by scipy, a deconvolution as the transpose of a convolution's matrix, interpolation by scipy's map,
recurrent cells on whole gate blocks.
"""
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import ndimage, signal, special

rng = np.random.default_rng(20)
arrays = {}


def normal(*shape):
    """Random single-precision values, as doubles."""
    return rng.standard_normal(shape).astype(np.float32).astype(np.float64)


def case(name, **values):
    for key, value in values.items():
        arrays[f"{name}/{key}"] = np.asarray(value)


def items(function, x, *more):
    """`function` of each [C, H, W]."""
    return np.stack([np.stack([function(x[s, b], *(m[s, b] for m in more)) for b in range(x.shape[1])])
                     for s in range(x.shape[0])])


# --- convolution -------------------------------------------------------------------------------

def correlate(x, w, stride, pads, dilation, groups):
    """[C, H, W] with weights [O, C/groups, kh, kw], pads ((top, bottom), (left, right))."""
    x = np.pad(x, ((0, 0), *pads))
    outputs, inputs = w.shape[:2]
    spread = np.zeros((outputs, inputs, (w.shape[2] - 1) * dilation[0] + 1, (w.shape[3] - 1) * dilation[1] + 1))
    spread[:, :, ::dilation[0], ::dilation[1]] = w
    planes = []
    for o in range(outputs):
        first = o // (outputs // groups) * inputs
        planes.append(sum(signal.correlate2d(x[first + i], spread[o, i], "valid") for i in range(inputs)))
    return np.stack(planes)[:, ::stride[0], ::stride[1]]


def same(size, kernel, stride, top_left=False):
    out = -(-size // stride)
    total = max(0, (out - 1) * stride + kernel - size)
    small, large = total // 2, total - total // 2
    return (large, small) if top_left else (small, large)


def deconvolve(x, w, stride, pads, groups, size):
    """The transpose of the convolution of [O, *size] to x's size; w is [C, O/groups, kh, kw]."""
    channels, group_outputs = w.shape[:2]
    shape = (group_outputs * groups, *size)
    result = np.zeros(int(np.prod(shape)))
    # Channels of x are the outputs of the forward convolution, whose weights are w itself.
    for place in range(result.size):
        basis = np.zeros(result.size)
        basis[place] = 1
        forward = correlate(basis.reshape(shape), w, stride, pads, (1, 1), groups)
        result[place] = np.sum(forward[:, :x.shape[1], :x.shape[2]] * x)
    return result.reshape(shape)


x, w, b = normal(1, 2, 3, 6, 7), normal(4, 3, 3, 2), normal(4)
case("convolution_valid", input=x, weights=w, bias=b,
     output=items(lambda v: correlate(v, w, (1, 1), ((0, 0), (0, 0)), (1, 1), 1) + b[:, None, None], x))
x, w = normal(2, 2, 4, 9, 11), normal(6, 2, 3, 2)
case("convolution_groups", input=x, weights=w,
     output=items(lambda v: correlate(v, w, (2, 3), ((1, 2), (0, 3)), (2, 3), 2), x))
x, w = normal(1, 1, 2, 7, 8), normal(3, 2, 4, 3)
for name, heavy in (("bottom", False), ("top", True)):
    case(f"convolution_same_{name}", input=x, weights=w,
         output=items(lambda v: correlate(v, w, (2, 3), (same(7, 4, 2, heavy), same(8, 3, 3, heavy)), (1, 1), 1), x))
x, w = normal(1, 1, 3, 6, 5), normal(6, 1, 3, 3)
case("convolution_depthwise_same_dilated", input=x, weights=w,
     output=items(lambda v: correlate(v, w, (1, 1), (same(6, 5, 1), same(5, 5, 1)), (2, 2), 3), x))

x, w, b = normal(1, 2, 4, 3, 4), normal(4, 3, 3, 2), normal(6)
size = ((3 - 1) * 2 + 3 - 1 - 0, (4 - 1) * 3 + 2 - 0 - 1)
case("deconvolution_valid", input=x, weights=w, bias=b,
     output=items(lambda v: deconvolve(v, w, (2, 3), ((1, 0), (0, 1)), 2, size) + b[:, None, None], x))
x, w = normal(1, 1, 2, 3, 3), normal(2, 2, 4, 5)
for name, heavy in (("bottom", False), ("top", True)):
    case(f"deconvolution_same_{name}", input=x, weights=w,
         output=items(lambda v: deconvolve(v, w, (1, 2), (same(3, 4, 1, heavy), same(6, 5, 2, heavy)), 1, (3, 6)), x))
# A kernel smaller than the stride: the output of SAME is longer than the kernels reach.
x, w = normal(1, 1, 1, 3, 3), normal(1, 2, 1, 1)
case("deconvolution_small_kernel", input=x, weights=w,
     output=items(lambda v: deconvolve(v, w, (3, 2), ((0, 0), (0, 0)), 1, (9, 6)), x))
x, w = normal(1, 1, 2, 3, 4), normal(2, 1, 3, 3)
case("deconvolution_output_shape", input=x, weights=w,
     output=items(lambda v: deconvolve(v, w, (2, 2), (same(5, 3, 2), same(8, 3, 2)), 1, (5, 8)), x))

# --- pooling -----------------------------------------------------------------------------------

def pool(x, kernel, stride, pads, kind, exclude=False):
    def windows(fill):
        padded = np.pad(x, ((0, 0), *pads), constant_values=fill)
        return sliding_window_view(padded, kernel, axis=(1, 2))[:, ::stride[0], ::stride[1]]
    if kind == "max":
        return windows(-np.inf).max((-1, -2))
    if kind == "l2":
        return np.sqrt((windows(0) ** 2).sum((-1, -2)))
    if exclude:
        return np.nanmean(windows(np.nan), (-1, -2))
    return windows(0).mean((-1, -2))


x = normal(1, 2, 3, 8, 7) - 3
for kind in ("max", "average", "l2"):
    case(f"pooling_{kind}", input=x,
         output=items(lambda v: pool(v, (3, 2), (2, 3), ((1, 2), (1, 0)), kind), x))
case("pooling_average_exclude", input=x,
     output=items(lambda v: pool(v, (3, 2), (2, 3), ((1, 2), (1, 0)), "average", True), x))
for name, heavy in (("bottom", False), ("top", True)):
    pads = (same(8, 2, 1, heavy), same(7, 4, 2, heavy))
    case(f"pooling_same_{name}", input=x, output=items(lambda v: pool(v, (2, 4), (1, 2), pads, "max"), x))
# Caffe's rule: 8 + 2 · 1 − 3 = 7, ⌈7/2⌉ + 1 = 5, whose window begins at 7 < 9, so it stays;
# 7 + 2 · 1 − 2 = 7, ⌈7/3⌉ + 1 = 4, whose window begins at 8, which is not below 7 + 1: 3.
case("pooling_complete", input=x,
     max=items(lambda v: pool(v, (3, 2), (2, 3), ((1, 2), (1, 1)), "max")[:, :5, :3], x),
     exclude=items(lambda v: pool(v, (3, 2), (2, 3), ((1, 2), (1, 1)), "average", True)[:, :5, :3], x))


def caffe_average(x, kernel, stride, pad, shape):
    """Caffe's own loop: the divisor counts padding up to `pad`, not what lies beyond."""
    out = np.zeros((x.shape[0], *shape))
    for y in range(shape[0]):
        for z in range(shape[1]):
            top, left = y * stride[0] - pad[0], z * stride[1] - pad[1]
            bottom = min(top + kernel[0], x.shape[1] + pad[0])
            right = min(left + kernel[1], x.shape[2] + pad[1])
            area = (bottom - top) * (right - left)
            out[:, y, z] = x[:, max(top, 0):bottom, max(left, 0):right].sum((1, 2)) / area
    return out


case("pooling_complete_average", input=x,
     output=items(lambda v: caffe_average(v, (3, 2), (2, 3), (1, 1), (5, 3)), x))
# No padding: ⌈5/2⌉ + 1 = 4 rows and ⌈5/2⌉ + 1 = 4 columns, the last window cut by the border.
case("pooling_complete_unpadded", input=x,
     output=items(lambda v: caffe_average(v, (3, 2), (2, 2), (0, 0), (4, 4)), x))
case("pooling_global", input=x, max=x.max((3, 4), keepdims=True), average=x.mean((3, 4), keepdims=True))

# --- activation, unary, element by element -------------------------------------------------------

x = np.concatenate([normal(1, 2, 3, 2, 5) * 3, [[[[[0, 100, -100, 710, -0.0]] * 2] * 3] * 2]], 4)
alpha, beta = normal(3), normal(3)
per_channel = lambda v: v[:, None, None]
case("activation", input=x, alpha=alpha, beta=beta,
     linear=0.5 * x - 2, relu=np.where(x > 0, x, 0), leakyReLU=np.where(x > 0, x, 0.25 * x),
     thresholdedReLU=np.where(x >= 0.75, x, 0), tanh=np.tanh(x), scaledTanh=1.5 * np.tanh(0.75 * x),
     sigmoid=special.expit(x), sigmoidHard=np.clip(0.25 * x + 0.5, 0, 1),
     elu=np.where(x > 0, x, 1.5 * special.expm1(np.minimum(x, 0))), softsign=x / (1 + np.abs(x)),
     softplus=np.logaddexp(0, x), prelu=np.where(x > 0, x, per_channel(alpha) * x),
     prelu_shared=np.where(x > 0, x, alpha[0] * x),
     parametricSoftplus=per_channel(alpha) * np.logaddexp(0, per_channel(beta) * x))
x = np.abs(normal(1, 1, 2, 3, 4)) + 0.125
z = 2 * x + 0.25
case("unary", input=x, sqrt=np.sqrt(z), rsqrt=1 / np.sqrt(z + 0.5), inverse=1 / (z + 0.5), power=z ** 1.5,
     exp=np.exp(z), log=np.log(z), abs=np.abs(-2 * x + 0.25), threshold=np.maximum(1.5, z),
     inverse_defaults=1 / (x + 1e-6))
a, b, c = normal(2, 2, 3, 2, 4), normal(2, 2, 3, 1, 1), normal(1, 1, 1, 2, 4)
case("elementwise", a=a, b=b, c=c, add=a + b + c, multiply=a * b * c, average=(a + b + c) / 3,
     max=np.maximum(np.maximum(a, b), c), min=np.minimum(np.minimum(a, b), c))
a, b = normal(2, 2, 5, 1, 1), normal(2, 2, 5, 1, 1)
dot = np.einsum("sbcyx,sbcyx->sbyx", a, b)[:, :, None]
case("dot", a=a, b=b, dot=dot,
     cosine=dot / np.linalg.norm(a, axis=2, keepdims=True) / np.linalg.norm(b, axis=2, keepdims=True))
x, s, b = normal(2, 2, 3, 2, 4), normal(3), normal(1, 2, 4)
full = normal(3, 2, 4)
case("scale", input=x, scale=s, bias=b, full=full, output=x * per_channel(s) + b, scaled=x * full,
     biased=x + full, single=x * s[0] + s[1])

# --- dense, embedding, normalisation ---------------------------------------------------------------

x, w, b = normal(2, 3, 2, 3, 2), normal(5, 12), normal(5)
case("innerProduct", input=x, weights=w, bias=b, output=(x.reshape(2, 3, 12) @ w.T + b)[..., None, None])
x, w, b = np.array([[0, 3], [6, 2], [2, 5]], float).reshape(3, 2, 1, 1, 1), normal(4, 7), normal(4)
case("embedding", input=x, weights=w, bias=b, output=(w[:, x[..., 0, 0, 0].astype(int)].transpose(1, 2, 0) + b)[..., None, None])
x = normal(2, 2, 3, 4, 5) * 2 + 1
gamma, beta, mean, variance = normal(3), normal(3), normal(3), np.abs(normal(3))
norm = lambda m, v, e: per_channel(gamma) * (x - m) / np.sqrt(v + e) + per_channel(beta)
moments = lambda axes: (x.mean(axes, keepdims=True), x.var(axes, keepdims=True))
case("batchnorm", input=x, gamma=gamma, beta=beta, mean=mean, variance=variance,
     stored=norm(per_channel(mean), per_channel(variance), 0.001),
     instance=norm(*moments((3, 4)), 1e-5), batch=norm(*moments((0, 1, 3, 4)), 1e-5))
m, v = moments((3, 4))
mc, vc = moments((2, 3, 4))
case("mvn", input=x, mean=x - m, channel=(x - m) / (np.sqrt(v) + 0.25), across=(x - mc) / (np.sqrt(vc) + 1e-6))
case("l2normalize", input=x, output=x / np.sqrt((x ** 2).sum((2, 3, 4), keepdims=True) + 0.5))
case("softmax", input=x * 200, output=special.softmax(x * 200, axis=2))
x = normal(1, 2, 7, 2, 3)
for size in (5, 4):
    before = (size - 1) // 2
    sums = sliding_window_view(np.pad(x ** 2, ((0, 0), (0, 0), (before, size - 1 - before), (0, 0), (0, 0))), size, axis=2).sum(-1)
    case(f"lrn_{size}", input=x, output=x / (2 + 0.5 / size * sums) ** 0.75)

# --- shapes ----------------------------------------------------------------------------------------

x, like = normal(2, 2, 2, 6, 7), np.zeros((2, 2, 2, 3, 2))
case("crop", input=x, like=like, amounts=x[..., 1:6 - 2, 3:7 - 0], offset=x[..., 2:5, 4:6])
pads = ((0, 0),) * 3 + ((2, 1), (0, 3))
case("padding", input=x, constant=np.pad(x, pads, constant_values=1.5), reflection=np.pad(x, pads, mode="reflect"),
     replication=np.pad(x, pads, mode="edge"))
x = normal(3, 2, 4, 2, 3)
transposed = x.transpose(1, 0, 3, 4, 2)  # B, Seq, H, W, C
case("reshape", input=x, first=x.reshape(3, 2, 6, 4, 1),
     last=transposed.reshape(2, 3, 4, 1, 6).transpose(1, 0, 4, 2, 3),
     sequence_first=x.transpose(1, 0, 2, 3, 4).reshape(2, 6, 2, 2, 3).transpose(1, 0, 2, 3, 4),
     sequence_last=transposed.reshape(2, 6, 2, 3, 2).transpose(1, 0, 4, 2, 3),
     flatten_first=x.reshape(3, 2, 24, 1, 1), flatten_last=x.transpose(0, 1, 3, 4, 2).reshape(3, 2, 24, 1, 1))
case("permute", input=x, p0312=x.transpose(0, 1, 4, 2, 3), p3120=x.transpose(4, 1, 2, 3, 0),
     p2103=x.transpose(3, 1, 2, 0, 4))
a, b = normal(3, 2, 1, 2, 3), normal(2, 2, 4, 2, 3)
case("concat", input=x, a=a, b=b, channels=np.concatenate([x, a, x], 2), sequence=np.concatenate([x, b], 0),
     first=x[:, :, :2], second=x[:, :, 2:], repeated=np.concatenate([x, x, x]))
case("slice", input=x, channel=x[:, :, 1:4:2], height=x[:, :, :, -2:-1], width=x[..., 0:3:2])
x = normal(2, 1, 8, 4, 6)
blocks = x.reshape(2, 1, 2, 2, 2, 4, 6)
case("reorganize", input=x, depth_to_space=blocks.transpose(0, 1, 4, 5, 2, 6, 3).reshape(2, 1, 2, 8, 12),
     pixel_shuffle=blocks.transpose(0, 1, 2, 5, 3, 6, 4).reshape(2, 1, 2, 8, 12),
     space_to_depth=x.reshape(2, 1, 8, 2, 2, 3, 2).transpose(0, 1, 4, 6, 2, 3, 5).reshape(2, 1, 32, 2, 3))
x = normal(2, 2, 3, 4, 5)
positive = np.abs(x) + 0.125
reductions = dict(sum=np.sum, avg=np.mean, prod=np.prod, max=np.max, min=np.min,
                  logsum=lambda v, axis, keepdims: np.log(positive + 0.5).sum(axis, keepdims=keepdims),
                  sumsquare=lambda v, axis, keepdims: (v ** 2).sum(axis, keepdims=keepdims),
                  l1=lambda v, axis, keepdims: np.abs(v).sum(axis, keepdims=keepdims),
                  l2=lambda v, axis, keepdims: np.sqrt((v ** 2).sum(axis, keepdims=keepdims)))
case("reduce", input=x, positive=positive, **{f"{name}_{axis}": f(x, axis=where, keepdims=True) for name, f in reductions.items()
                           for axis, where in dict(chw=(2, 3, 4), hw=(3, 4), c=2, h=3, w=4).items()},
     **{f"argmax_{axis}": np.argmax(x, axis=where, keepdims=True).astype(float) for axis, where in dict(c=2, h=3, w=4).items()})

# --- resampling ------------------------------------------------------------------------------------

def sample(plane, rows, columns):
    return ndimage.map_coordinates(plane, np.meshgrid(rows, columns, indexing="ij"), order=1, mode="nearest")


def resample(x, rows, columns):
    """[C, H, W] at the points of two grids, held inside of the plane."""
    rows, columns = np.clip(rows, 0, x.shape[1] - 1), np.clip(columns, 0, x.shape[2] - 1)
    return np.stack([sample(plane, rows, columns) for plane in x])


x = normal(1, 2, 2, 3, 4)
centres = lambda size, factor: (np.arange(size * factor) + 0.5) / factor - 0.5
case("upsample", input=x, nearest=x.repeat(2, 3).repeat(3, 4),
     default=items(lambda v: resample(v, np.arange(6) / 2, np.arange(12) / 3), x),
     align_true=items(lambda v: resample(v, np.linspace(0, 2, 6), np.linspace(0, 3, 12)), x),
     align_false=items(lambda v: resample(v, centres(3, 2), centres(4, 3)), x))


def grid(start, end, count, mode):
    """The specification's SamplingMode on the interval [0, X − 1], moved to `start`."""
    X = end - start + 1
    if mode == "strict":
        points = np.linspace(0, X - 1, count)
    elif mode == "align":
        points = np.linspace(*((X - 1) / 2,) * 2, 1) if count == 1 else np.linspace(0, X - 1, count)
    elif mode == "upsample":
        points = np.linspace(0, X - X / count, count)
    else:
        spacing = max(1, X - 1) / count
        points = np.linspace(0.5 * spacing, 0.5 * spacing + (count - 1) * spacing, count)
    return start + np.minimum(X - 1, points)


for mode in ("strict", "align", "upsample", "roi"):
    case(f"resizeBilinear_{mode}", input=x,
         output=items(lambda v: resample(v, grid(0, 2, 5, mode), grid(0, 3, 3, mode)), x),
         single=items(lambda v: resample(v, grid(0, 2, 1, mode), grid(0, 3, 1, mode)), x))
x = normal(1, 2, 3, 6, 8)
boxes = np.array([[0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1], [0.5, 0.25, 0.5, 0.25]])  # top, left, bottom, right
for mode in ("strict", "align", "upsample", "roi"):
    each = lambda v, box: resample(v, grid(box[0] * 5, box[2] * 5, 3, mode), grid(box[1] * 7, box[3] * 7, 4, mode))
    case(f"cropResize_{mode}", input=x, boxes=boxes.reshape(3, 1, 4, 1, 1),
         output=np.stack([np.stack([each(x[0, b], box) for b in range(2)]) for box in boxes]))
indices = np.array([1, 0, 1])
scaled = boxes * [5, 7, 5, 7]
centred = np.stack([indices, (scaled[:, 1] + scaled[:, 3]) / 2, (scaled[:, 0] + scaled[:, 2]) / 2,
                    scaled[:, 3] - scaled[:, 1], scaled[:, 2] - scaled[:, 0]], 1) * [1, 2, 2, 2, 2]
each = lambda v, box: resample(v, grid(box[0] * 5, box[2] * 5, 3, "align"), grid(box[1] * 7, box[3] * 7, 4, "align"))
case("cropResize_centred", input=x, boxes=centred.reshape(3, 1, 5, 1, 1),
     output=np.stack([each(x[0, i], box)[None] for i, box in zip(indices, boxes)]))

# --- recurrent layers --------------------------------------------------------------------------------

def lstm(x, W, R, b, p, h, c, coupled=False, limit=50.0, forget=0.0):
    """Gates i, f, z, o in blocks; x is [T, N, I]. Returns the steps, h and c."""
    steps = []
    for step in x:
        i, f, z, o = np.split(step @ W.T + h @ R.T + b, 4, axis=1)
        gate = lambda v: special.expit(np.clip(v, -50, 50))
        i = gate(i + p[0] * c)
        f = 1 - i if coupled else gate(f + p[1] * c + forget)
        c = np.clip(f * c + i * np.tanh(np.clip(z, -50, 50)), -limit, limit)
        h = np.tanh(c) * gate(o + p[2] * c)
        steps.append(h)
    return np.stack(steps), h, c


def tensor(v):
    """[T, N, C] or [N, C] as [Seq, Batch, C, 1, 1]."""
    return (v if v.ndim == 3 else v[None])[..., None, None]


T, N, I, O = 5, 2, 3, 4
x, h, c = normal(T, N, I), normal(N, O), normal(N, O)
W, R, b, p = normal(4 * O, I), normal(4 * O, O), normal(4 * O), normal(3, O)
Wb, Rb, bb, pb = normal(4 * O, I), normal(4 * O, O), normal(4 * O), normal(3, O)
none, zero, far = np.zeros((3, O)), np.zeros((N, O)), x * 400
weights = dict(input=tensor(x), h=tensor(h), c=tensor(c), W=W, R=R, b=b, p=p, Wb=Wb, Rb=Rb, bb=bb, pb=pb)
plain = lstm(x, W, R, b, none, zero, zero)
full = lstm(x, W, R, b, p, h, c, limit=0.25)
coupled = lstm(x[::-1], W, R, 0 * b, p, h, c, coupled=True)
back = lstm(x[::-1], Wb, Rb, bb, pb, c, h)
forward = lstm(x, W, R, b, p, h, c)
case("lstm", **weights, plain=tensor(plain[0]), full=tensor(full[0]), full_h=tensor(full[1]), full_c=tensor(full[2]),
     coupled=tensor(coupled[0]), last=tensor(plain[1]), forget=tensor(lstm(x, W, R, b, none, zero, zero, forget=1.0)[0]),
     far=tensor(far), clipped=tensor(lstm(far, W, R, b, none, zero, zero)[0]),
     both=tensor(np.concatenate([forward[0], back[0][::-1]], 2)), both_last=tensor(np.concatenate([forward[1], back[1]], 1)),
     both_h=tensor(forward[1]), both_c=tensor(forward[2]), both_hr=tensor(back[1]), both_cr=tensor(back[2]))

W, R, b = normal(3 * O, I), normal(3 * O, O), normal(3 * O)
state, steps = h, []
for step in x:
    zr = np.clip(0.2 * np.clip(step @ W[:2 * O].T + state @ R[:2 * O].T + b[:2 * O], -50, 50) + 0.5, 0, 1)
    z, r = zr[:, :O], zr[:, O:]
    o = np.tanh(step @ W[2 * O:].T + (r * state) @ R[2 * O:].T + b[2 * O:])
    state = z * state + (1 - z) * o
    steps.append(state)
case("gru", input=tensor(x), h=tensor(h), W=W, R=R, b=b, output=tensor(np.stack(steps)), last=tensor(state))
W, R, b = normal(O, I), normal(O, O), normal(O)
state, steps = np.zeros((N, O)), []
for step in x[::-1]:
    state = np.maximum(np.clip(step @ W.T + state @ R.T + b, -50, 50), 0)
    steps.append(state)
case("simpleRecurrent", input=tensor(x), W=W, R=R, b=b, reversed=tensor(np.stack(steps)), last=tensor(state))

np.savez_compressed("goldens.npz", **{name.replace("/", "__SLASH__"): v.astype(np.float32) if v.dtype == np.float64 else v
                                      for name, v in arrays.items()})
print(len(arrays), "arrays")
