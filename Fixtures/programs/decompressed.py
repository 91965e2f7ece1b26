#!/usr/bin/env python3
"""Computes in double precision what the compressed networks of the corpus answer with their decompressed weights.

    python3 -m venv v && v/bin/pip install coremltools==9.0 torch==2.13.0
    v/bin/python decompressed.py FOLDER      # corpus/programs

coremltools decompresses the weights, and PyTorch runs the operations. decompressed.npz gets an answer for each
package, by its name.
"""
import glob, os, sys
import numpy as np
import torch
import coremltools as ct
from coremltools.converters.mil.frontend.milproto.load import load

HERE = os.path.dirname(os.path.abspath(__file__))
F = torch.nn.functional


def convolution(x, weight, bias=None, strides=(1, 1), pad_type="valid", pad=None, dilations=(1, 1), groups=1):
    k, s, d, groups = weight.shape[2:], [int(n) for n in strides], [int(n) for n in dilations], int(groups)
    if pad_type == "same":
        total = [max(0, (-(-n // t) - 1) * t + (m - 1) * e + 1 - n) for n, m, t, e in zip(x.shape[2:], k, s, d)]
        pad = [v for n in total for v in (n // 2, n - n // 2)]
    if pad_type in ("same", "custom"): x = F.pad(x, [int(n) for n in (*pad[2:], *pad[:2])])
    return F.conv2d(x, weight, bias, s, 0, d, groups)


def sliced(x, begin, end, begin_mask=None, end_mask=None, squeeze_mask=None, stride=None):
    off = [False] * x.ndim
    masks = [off if m is None else m for m in (begin_mask, end_mask, squeeze_mask)]
    return x[tuple(int(b) if q else slice(None if u else int(b), None if v else int(e))
                   for b, e, u, v, q in zip(begin, end, *masks))]


OPERATIONS = {
    "conv": convolution, "linear": lambda x, weight, bias=None: F.linear(x, weight, bias),
    "relu6": lambda x: x.clamp(0, 6), "thresholded_relu": lambda x, alpha: torch.where(x < alpha, 0 * x, x),
    "sigmoid_hard": lambda x, alpha, beta: (alpha * x + beta).clamp(0, 1), "mul": lambda x, y: x * y, "add": lambda x, y: x + y,
    "gelu": lambda x, mode="EXACT": {"EXACT": F.gelu, "TANH_APPROXIMATION": lambda v: F.gelu(v, approximate="tanh"),
                                     "SIGMOID_APPROXIMATION": lambda v: v * torch.sigmoid(1.702 * v)}[mode](x),
    "max_pool": lambda x, kernel_sizes, strides, pad_type="valid", pad=None, ceil_mode=False: F.max_pool2d(
        F.pad(x, [int(n) for n in (*pad[2:], *pad[:2])], value=-np.inf) if pad_type == "custom" else x,
        [int(n) for n in kernel_sizes], [int(n) for n in strides], ceil_mode=bool(ceil_mode)),
    "reduce_mean": lambda x, axes, keep_dims=False: x.mean([int(a) for a in axes], keepdim=bool(keep_dims)),
    "softmax": lambda x, axis=-1: x.softmax(int(axis)), "reshape": lambda x, shape: x.reshape([int(n) for n in shape]),
    "transpose": lambda x, perm: x.permute([int(a) for a in perm]), "squeeze": lambda x, axes: x.squeeze(tuple(int(a) for a in axes)),
    "layer_norm": lambda x, axes, gamma, beta, epsilon: F.layer_norm(x, gamma.shape, gamma, beta, float(epsilon)),
    "concat": lambda values, axis, interleave=False: torch.cat(values, int(axis)), "slice_by_index": sliced,
    "split": lambda x, axis, num_splits=None, split_sizes=None: x.split([int(n) for n in split_sizes] if split_sizes is not None else x.shape[int(axis)] // int(num_splits), int(axis)),
    "scaled_dot_product_attention": lambda query, key, value: F.scaled_dot_product_attention(query, key, value),
    "cast": lambda x, dtype: x, "expand_dims": lambda x, axes: x[tuple(None if i in [int(a) for a in axes] else slice(None) for i in range(x.ndim + len(axes)))],
}


def answer(folder):
    model = ct.models.MLModel(folder + "/model.mlpackage", skip_model_load=True)
    spec = model.get_spec()
    main = load(spec, specification_version=spec.specificationVersion, file_weights_dir=model.weights_dir).functions["main"]
    values = {name: torch.from_numpy(array).double() for name, array in np.load(folder + "/inputs.npz").items()}

    def value(var):
        if isinstance(var, (list, tuple)): return [value(v) for v in var]
        if var.name in values: return values[var.name]
        found = var.val
        return torch.from_numpy(found.astype(np.float64)) if isinstance(found, np.ndarray) and found.dtype.kind == "f" and found.ndim else found

    for op in main.operations:
        if op.op_type == "const": continue
        if op.op_type.startswith("constexpr_"):
            weight = op.materialized_val_inference()
            values[op.outputs[0].name] = torch.from_numpy(np.asarray(weight).astype(np.float64))
            continue
        results = OPERATIONS[op.op_type](**{name: value(var) for name, var in op.inputs.items() if var is not None})
        for var, result in zip(op.outputs, results if isinstance(results, (list, tuple)) else [results]): values[var.name] = result
    return values[main.outputs[0].name].numpy()


if __name__ == "__main__":
    torch.set_grad_enabled(False)
    kinds = ("linear", "palette", "sparse")
    folders = [f for f in sorted(glob.glob(sys.argv[1] + "/*")) if os.path.basename(f).startswith(kinds)]
    np.savez(os.path.join(HERE, "decompressed.npz"), **{os.path.basename(f): answer(f).astype(np.float32) for f in folders})
