#!/usr/bin/env python3
"""Makes ML Programs of few operations each, and what coremltools and NumPy say that they give.

    python3 -m venv v && v/bin/pip install coremltools==9.0
    v/bin/python make.py [NAME…]

Each NAME.mlpackage takes the arrays of NAME.inputs.npz and gives those of NAME.expected.npz. The expected values are
coremltools' own value inference of the same operation on constants, or the NumPy function beside it where
coremltools has none.
"""
import os, shutil, sys
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
        return tuple(mb.identity(x=cast(v), name=f"y{i}") for i, v in enumerate(made))

    # The builder names the inputs after the function's parameters.
    source = f"lambda {', '.join(inputs)}: build({', '.join(inputs)})"
    program = mb.program(input_specs=specs, opset_version=target)(eval(source, {"build": build}))
    model = ct.convert(program, convert_to="mlprogram", minimum_deployment_target=target, compute_precision=ct.precision.FLOAT32,
                       skip_model_load=True, pass_pipeline=ct.PassPipeline.EMPTY)
    path = os.path.join(HERE, f"{name}.mlpackage")
    shutil.rmtree(path, ignore_errors=True)
    model.save(path)
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


if __name__ == "__main__":
    for name in sys.argv[1:] or FAMILIES: make(name)
