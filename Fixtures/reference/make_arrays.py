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
     weights=w.T, bias=bias, weighted=a @ w + bias, vector=a[0, 0, 0], row=a[0, 0, 0] @ b, column=b.swapaxes(-1, -2) @ a[0, 0, 0])

np.savez_compressed("arrays.npz", **{name.replace("/", "__SLASH__"): v.astype(np.float32) for name, v in arrays.items()})
print(len(arrays), "arrays")
