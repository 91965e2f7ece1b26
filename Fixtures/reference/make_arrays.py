#!/usr/bin/env python3
"""Makes arrays.npz: inputs, weights and expected outputs of the layers on arrays of any rank, in
numpy only (numpy 2). Arrays are named CASE/ARRAY and have their exact shapes.

Core ML's layers are defined by numpy's functions of the same name; those are called here.
"""
import math

import numpy as np

rng = np.random.default_rng(21)
arrays = {}


def normal(*shape):
    """Random single-precision values, as doubles."""
    return rng.standard_normal(shape).astype(np.float32).astype(np.float64)


def case(name, **values):
    for key, value in values.items():
        value = np.asarray(value, np.float64)
        arrays[f"{name}/{key}"] = value[None] if value.ndim == 0 else value


erf = np.vectorize(math.erf)

# --- element by element ----------------------------------------------------------------------------
a, b = normal(2, 1, 3, 5), normal(4, 3, 1)
whole_a, whole_b = np.round(a * 2), np.where(np.round(b * 2) == 0, 1, np.round(b * 2))
case("broadcast", a=a, b=b, add=a + b, subtract=a - b, multiply=a * b, divide=a / b,
     maximum=np.maximum(a, b), minimum=np.minimum(a, b), floor_divide=np.floor_divide(a, b),
     modulo=np.mod(a, b), positive=np.abs(a), power=np.power(np.abs(a), b))
case("compare", a=whole_a, b=whole_b, equal=whole_a == whole_b, not_equal=whole_a != whole_b,
     less=whole_a < whole_b, less_equal=whole_a <= whole_b, greater=whole_a > whole_b,
     greater_equal=whole_a >= whole_b, above_one=whole_a > 1, logical_and=np.logical_and(whole_a, whole_b),
     logical_or=np.logical_or(whole_a, whole_b), logical_xor=np.logical_xor(whole_a, whole_b),
     logical_not=np.logical_not(whole_a), where=np.where(whole_a, a, b), x=a, y=b)
x = np.concatenate([normal(20), [0.5, 1.5, -0.5, -2.5, 0, 2]]).reshape(2, 13)
inside = np.clip(x / 3, -0.95, 0.95)
case("element", x=x, ceil=np.ceil(x), floor=np.floor(x), sign=np.sign(x), round=np.rint(x), exp2=np.exp2(x),
     sin=np.sin(x), cos=np.cos(x), tan=np.tan(x), sinh=np.sinh(x), cosh=np.cosh(x), tanh=np.tanh(x),
     atan=np.arctan(x), asinh=np.arcsinh(x), erf=erf(x), inside=inside, asin=np.arcsin(inside),
     acos=np.arccos(inside), atanh=np.arctanh(inside), above=1 + np.abs(x), acosh=np.arccosh(1 + np.abs(x)),
     clip=np.clip(x, -0.5, 1.25), clamped=np.where(x >= 0, np.minimum(1, x), np.minimum(1, 0.25 * x)),
     gelu=x / 2 * (1 + erf(x / np.sqrt(2))), sigmoid_gelu=x / (1 + np.exp(-1.702 * x)),
     tanh_gelu=x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3))))

# --- order of elements -----------------------------------------------------------------------------
x = normal(2, 3, 4, 5)
case("order", x=x, transpose=x.transpose(2, 0, 3, 1), reshape=x.reshape(4, 30), two=x.reshape(6, 20),
     expanded=x[None, :, :, None], concat=np.concatenate([x, x[:, :, 1:3]], 2), part=x[:, :, 1:3],
     interleaved=np.stack([x, -x], 2).reshape(2, 6, 4, 5), negative=-x, stack=np.stack([x, -x, x], -1),
     split_0=np.split(x, [2], 3)[0], split_1=np.split(x, [2], 3)[1], single=x[:1, :, :1, :1],
     squeezed=x[0, :, 0, :1])

# --- reductions ------------------------------------------------------------------------------------
x = normal(3, 4, 2, 5)
axes = (1, 3)
case("reduce", x=x, positive=np.abs(x), sum=x.sum(axes), mean=x.mean(axes), prod=x.prod(axes), max=x.max(axes),
     min=x.min(axes), l1=np.abs(x).sum(axes), l2=np.linalg.norm(np.moveaxis(x, 1, 2).reshape(3, 2, 20), axis=2),
     sum_square=(x ** 2).sum(axes), log_sum=np.log(np.abs(x).sum(axes)),
     log_sum_exp=np.logaddexp.reduce(np.logaddexp.reduce(x, 3), 1), kept=x.mean(axes, keepdims=True), all=x.sum())
e = np.exp(x)
case("softmax", x=x, axis_1=e / e.sum(1, keepdims=True), axis_last=e / e.sum(-1, keepdims=True))
gamma, beta = normal(2, 5), normal(2, 5)
mean, variance = x.mean((2, 3), keepdims=True), x.var((2, 3), keepdims=True)
case("layer_norm", x=x, gamma=gamma, beta=beta, output=gamma * (x - mean) / np.sqrt(variance + 1e-3) + beta)

# --- products --------------------------------------------------------------------------------------
a, b, w, bias = normal(2, 1, 3, 4), normal(5, 4, 6), normal(4, 7), normal(7)
case("matmul", a=a, b=b, product=a @ b, swapped_a=a.swapaxes(-1, -2), swapped_b=b.swapaxes(-1, -2),
     weights=w.T, bias=bias, weighted=a @ w + bias, vector=a[0, 0, 0], row=a[0, 0, :1] @ b,
     column=b.swapaxes(-1, -2) @ a[0, 0, 0, :, None])

# --- parts and repetitions -------------------------------------------------------------------------
x = normal(3, 4, 5)
case("parts", x=x, slice=x[1:, ::-2, -4:-1], squeezed=x[1, :, 2:], reverse=x[::-1, :, ::-1],
     windows=np.lib.stride_tricks.sliding_window_view(x, 3, 2)[:, :, ::2].transpose(0, 1, 2, 3),
     tile=np.tile(x, (2, 1, 3)), pad=np.pad(x, [(1, 0), (0, 2), (2, 1)], constant_values=1.5),
     to_size=np.pad(x, [(0, 0), (3, 0), (0, 4)]), small=x[:, :1], broadcast=np.broadcast_to(x[:, :1], (2, 3, 4, 5)),
     sizes=x.shape, range=np.arange(-1, 4, 0.75), fill=np.full((2, 3), 0.5), like=np.full_like(x, 0.5))
indices = np.array([[2, -1], [0, 1]])
places = np.array([[0, -1], [2, 1]])
along = rng.integers(-5, 5, (3, 4, 2))
table, bias = normal(7, 11), normal(7)
words = rng.integers(0, 11, (2, 3, 1))
labels = np.array([[0, 3], [5, -1]])
case("gather", x=x, indices=indices, axis_1=np.take(x, indices, 1), places=places, nd=x[places[:, 0], places[:, 1]],
     along=along, along_axis=np.take_along_axis(x, along, 2), table=table, bias=bias, words=words,
     embedding=table.T[words[..., 0]] + bias, labels=labels,
     one_hot=np.where(labels[:, None, :] == np.arange(4)[None, :, None], 2, -1))
order = np.argsort(-x, 1, kind="stable")
case("ordering", x=x, argmax=x.argmax(1), argmin=x.argmin(-1)[..., None], top=np.take_along_axis(x, order, 1)[:, :2],
     top_places=order[:, :2], bottom=np.sort(x, 2)[..., :3], argsort=np.argsort(x, 0, kind="stable"),
     descending=order, cumsum=np.cumsum(x, 1), exclusive=np.cumsum(x, 1) - x,
     reversed=np.cumsum(x[:, ::-1], 1)[:, ::-1])
case("band", x=x, lower=np.tril(x, 1), upper=np.triu(x, -1), band=np.triu(np.tril(x, 2), -1), all_lower=np.tril(x, 2))

# --- three dimensions ------------------------------------------------------------------------------


def windows(x, kernel, stride, dilation):
    extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    view = np.lib.stride_tricks.sliding_window_view(x, extent, (2, 3, 4))
    return view[:, :, ::stride[0], ::stride[1], ::stride[2], ::dilation[0], ::dilation[1], ::dilation[2]]


x, w, bias = normal(2, 4, 5, 6, 7), normal(6, 2, 2, 3, 2), normal(6)
padded = np.pad(x, [(0, 0), (0, 0), (1, 0), (0, 2), (1, 1)])
groups = [np.einsum("bcdhwxyz,ocxyz->bodhw", windows(padded[:, 2 * g:2 * g + 2], (2, 3, 2), (2, 1, 2), (1, 2, 1)),
                    w[3 * g:3 * g + 3]) for g in range(2)]
case("conv3d", x=x, weights=w, bias=bias, output=np.concatenate(groups, 1) + bias[:, None, None, None])
x, w = normal(1, 3, 2, 3, 4), normal(3, 2, 3, 2, 3)
full = np.zeros((1, 2, 5, 6, 6))
for place in np.ndindex(2, 3, 4):
    z, y, u = place[0] * 2, place[1] * 2, place[2]
    full[:, :, z:z + 3, y:y + 2, u:u + 3] += np.einsum("bc,coxyz->boxyz", x[:, :, place[0], place[1], place[2]], w)
case("deconv3d", x=x, weights=w, output=full, cropped=full[:, :, 1:, :-1, 1:-1])
x = normal(1, 2, 4, 5, 6)
case("pool3d", x=x, max=windows(x, (2, 3, 2), (2, 1, 3), (1, 1, 1)).max((5, 6, 7)),
     mean=windows(x, (2, 3, 2), (2, 1, 3), (1, 1, 1)).mean((5, 6, 7)),
     padded=windows(np.pad(x, [(0, 0), (0, 0), (1, 1), (0, 0), (1, 0)]), (2, 3, 2), (2, 1, 3), (1, 1, 1)).mean((5, 6, 7)),
     real=np.nanmean(windows(np.pad(x, [(0, 0), (0, 0), (1, 1), (0, 0), (1, 0)], constant_values=np.nan), (2, 3, 2), (2, 1, 3), (1, 1, 1)), (5, 6, 7)),
     global_max=x.max((2, 3, 4), keepdims=True), global_mean=x.mean((2, 3, 4), keepdims=True))

np.savez_compressed("arrays.npz", **{name.replace("/", "__SLASH__"): v.astype(np.float32) for name, v in arrays.items()})
print(len(arrays), "arrays")
