#!/usr/bin/env python3
"""Writes one small network for each family of Caffe's layers: NAME.prototxt, NAME.caffemodel where
it has weights, NAME.inputs.npz and NAME.expected.npz. Needs numpy only.

The expected values are those of formulas.py, in double precision, rounded to single. Every layer's
top is an output, so that one network holds all options of a type.
"""
import os
import struct
import zlib

import numpy as np

import formulas as f
import regions as r

FOLDER = os.path.dirname(os.path.abspath(__file__))


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


class Net:
    def __init__(self, name, **inputs):
        self.name, self.inputs, self.expected = name, inputs, {}
        self.text, self.weights, self.values = "", b"", {}
        self.random = np.random.RandomState(sum(map(ord, name)))
        for blob, shape in inputs.items():
            if isinstance(shape, np.ndarray):
                self.values[blob] = shape.astype("f4").astype("f8")
            else:
                self.values[blob] = self.draw(*shape)
            dims = " ".join(f"dim: {d}" for d in self.values[blob].shape)
            self.text += (f'layer {{ name: "{blob}" type: "Input" top: "{blob}" '
                          f"input_param {{ shape {{ {dims} }} }} }}\n")

    def draw(self, *shape, low=-1.0, high=1.0):
        return self.random.uniform(low, high, shape).astype("f4").astype("f8")

    def __getitem__(self, blob):
        return self.values[blob]

    def add(self, name, kind, bottoms, text="", blobs=(), expected=None, tops=None):
        """`expected`: an array a top; None of a top that is no output."""
        bottoms = bottoms.split()
        tops = tops.split() if tops is not None else [name]
        self.text += f'layer {{ name: "{name}" type: "{kind}" '
        self.text += "".join(f'bottom: "{b}" ' for b in bottoms)
        self.text += "".join(f'top: "{t}" ' for t in tops) + text + " }\n"
        layer = field(1, name.encode()) + field(2, kind.encode())
        for blob in blobs:
            shape = field(1, b"".join(varint(d) for d in blob.shape))
            layer += field(7, field(7, shape) + field(5, blob.astype("<f4").tobytes()))
        if blobs:
            self.weights += field(100, layer)
        if expected is not None:
            values = expected if isinstance(expected, (list, tuple)) else [expected]
            for top, value in zip(tops, values):
                if value is not None:
                    self.values[top] = np.asarray(value)

    def write(self, outputs=None):
        """All that no layer takes is an output, unless `outputs` names others."""
        save = np.savez_compressed if outputs else np.savez
        path = os.path.join(FOLDER, self.name)
        with open(path + ".prototxt", "w") as file:
            file.write(self.text)
        if self.weights:
            with open(path + ".caffemodel", "wb") as file:
                file.write(self.weights)
        single = lambda arrays: {k: np.asarray(v, "f4") for k, v in arrays.items()}
        save(path + ".inputs.npz", **single({k: self.values[k] for k in self.inputs}))
        taken = {b for line in self.text.splitlines() for b in _quoted(line, "bottom")}
        wanted = {k: v for k, v in self.values.items()
                  if (k in outputs if outputs else k not in self.inputs and k not in taken)}
        save(path + ".expected.npz", **single(wanted))


def _quoted(line, word):
    parts = line.split(f'{word}: "')[1:]
    return [part.split('"')[0] for part in parts]


def activations():
    n = Net("activations", x=(1, 3, 4, 5), p=(1, 3, 4, 5), v=(1, 6))
    n.values["p"] = n.draw(1, 3, 4, 5, low=0.1, high=2)
    x, p, v = n["x"], n["p"], n["v"]
    n.add("relu", "ReLU", "x", expected=x.clip(0))
    n.add("leaky", "ReLU", "x", "relu_param { negative_slope: 0.1 }",
          expected=np.where(x > 0, x, 0.1 * x))
    n.add("sigmoid", "Sigmoid", "x", expected=f.sigmoid(x))
    n.add("tanh", "TanH", "x", expected=np.tanh(x))
    n.add("bnll", "BNLL", "x", expected=np.log1p(np.exp(x)))
    n.add("elu", "ELU", "x", "elu_param { alpha: 0.7 }",
          expected=np.where(x > 0, x, 0.7 * (np.exp(x) - 1)))
    n.add("abs", "AbsVal", "x", expected=abs(x))
    n.add("power", "Power", "p", "power_param { power: 1.5 scale: 2 shift: 0.5 }",
          expected=(0.5 + 2 * p) ** 1.5)
    n.add("square", "Power", "x", "power_param { power: 2 }", expected=x ** 2)
    n.add("shifted", "Power", "x", "power_param { scale: 0.5 shift: -1 }", expected=0.5 * x - 1)
    n.add("power_scale_0", "Power", "p", "power_param { power: 2 scale: 0 shift: 3 }",
          expected=np.full_like(p, 9))
    n.add("power_0", "Power", "p", "power_param { power: 0 }", expected=np.ones_like(p))
    n.add("exp", "Exp", "x", expected=np.exp(x))
    n.add("exp_all", "Exp", "x", "exp_param { base: 2 scale: 0.5 shift: 1 }",
          expected=2 ** (1 + 0.5 * x))
    n.add("exp_scale_0", "Exp", "x", "exp_param { base: 3 scale: 0 shift: 2 }",
          expected=np.full_like(x, 9))
    n.add("exp_base_1", "Exp", "x", "exp_param { base: 1 }", expected=np.ones_like(x))
    n.add("log", "Log", "p", expected=np.log(p))
    n.add("log_all", "Log", "p", "log_param { base: 2 scale: 3 shift: 0.5 }",
          expected=np.log2(0.5 + 3 * p))
    n.add("log_scale_0", "Log", "p", "log_param { base: 10 scale: 0 shift: 2 }",
          expected=np.full_like(p, np.log10(2)))
    n.add("threshold", "Threshold", "x", expected=(x > 0) * 1.0)
    n.add("threshold_t", "Threshold", "x", "threshold_param { threshold: 0.25 }",
          expected=(x > 0.25) * 1.0)
    n.add("clip", "Clip", "x", "clip_param { min: -0.5 max: 0.3 }", expected=x.clip(-0.5, 0.3))
    n.add("clip_0", "Clip", "x", "clip_param { min: 0 max: 0.3 }", expected=x.clip(0, 0.3))
    n.add("swish", "Swish", "x", expected=x * f.sigmoid(x))
    n.add("swish_beta", "Swish", "x", "swish_param { beta: 2 }", expected=x * f.sigmoid(2 * x))
    n.add("mish", "Mish", "x", expected=x * np.tanh(np.log1p(np.exp(x))))
    n.add("times9", "Power", "x", "power_param { scale: 9 }", expected=9 * x)
    n.add("relu6", "ReLU6", "times9", expected=(9 * x).clip(0, 6))
    a, s = n.draw(3), n.draw(1)
    n.add("prelu", "PReLU", "x", blobs=[a],
          expected=x.clip(0) + a.reshape(1, 3, 1, 1) * x.clip(None, 0))
    n.add("prelu_shared", "PReLU", "x", "prelu_param { channel_shared: true }", blobs=[s],
          expected=x.clip(0) + s * x.clip(None, 0))
    # selu_layer.cpp and caffe.proto of commit 3866af4 of BVLC/caffe.
    n.add("selu", "SeLu", "x",
          expected=1.050700987 * np.where(x > 0, x, 1.67326324 * (np.exp(x) - 1)))
    n.add("selu_all", "SeLu", "x", "selu_param { lambda: 2 alpha: 0.5 }",
          expected=2 * np.where(x > 0, x, 0.5 * (np.exp(x) - 1)))
    n.add("selu_dropout", "SeLuDropout", "selu_all", "selu_dropout_param { dropout_ratio: 0.2 }",
          expected=n["selu_all"])
    # dropout_layer.cpp of synopsys-caffe, after caffe-fast-rcnn: in the test phase, x / scale with
    # scale = 1 / (1 - dropout_ratio).
    n.add("dropout_scaled", "Dropout", "x", "dropout_param { dropout_ratio: 0.3 scale_train: false }",
          expected=0.7 * x)
    a = n.draw(6)
    n.add("prelu_vector", "PReLU", "v", blobs=[a], expected=v.clip(0) + a * v.clip(None, 0))
    n.write()


def concatenated_relu():
    n = Net("crelu", x=(1, 3, 4, 5), v=(1, 6))
    x, v = n["x"], n["v"]
    leaky = lambda x: np.where(x > 0, x, 0.1 * x)
    n.add("crelu", "CReLU", "x", expected=np.concatenate([x.clip(0), (-x).clip(0)], 1))
    n.add("rows", "CReLU", "x", "crelu_param { axis: 2 }",
          expected=np.concatenate([x.clip(0), (-x).clip(0)], 2))
    n.add("columns", "CReLU", "x", "crelu_param { concat_axis: -1 negative_slope: 0.1 }",
          expected=np.concatenate([leaky(x), leaky(-x)], 3))
    n.add("vector", "CReLU", "v", expected=np.concatenate([v.clip(0), (-v).clip(0)], 1))
    n.write()


def convolutions():
    n = Net("convolutions", x=(1, 4, 7, 8), d=(1, 6, 5))
    x, d = n["x"], n["d"]

    def conv(name, text, kernel, outputs=4, group=1, bias=True, kind="Convolution", source="x",
             channels=4, **options):
        w = n.draw(outputs, channels // group, *kernel)
        b = n.draw(outputs) if bias else None
        text = f"num_output: {outputs} " + text + ("" if bias else " bias_term: false")
        n.add(name, kind, source, f"convolution_param {{ {text} }}", [w] + ([b] if bias else []),
              f.convolution(n[source], w, b, group=group, **options))

    conv("plain", "kernel_size: 3", (3, 3))
    conv("no_bias", "kernel_size: 3 pad: 1 stride: 2", (3, 3), bias=False, pad=1, stride=2)
    conv("hw", "kernel_h: 3 kernel_w: 2 pad_h: 1 pad_w: 2 stride_h: 2 stride_w: 1", (3, 2),
         pad=[1, 2], stride=[2, 1])
    conv("two_numbers", "kernel_size: 2 kernel_size: 3 stride: 1 stride: 2", (2, 3), stride=[1, 2])
    conv("dilated", "kernel_size: 3 dilation: 2 pad: 2", (3, 3), dilation=2, pad=2)
    conv("grouped", "kernel_size: 3 group: 2", (3, 3), outputs=6, group=2)
    conv("depthwise", "kernel_size: 3 group: 4 pad: 1", (3, 3), group=4, pad=1)
    conv("fork", "kernel_size: 3 pad: 1", (3, 3), group=4, kind="ConvolutionDepthwise", pad=1)
    conv("fork_group", "kernel_size: 3 group: 4", (3, 3), group=4, kind="DepthwiseConvolution")
    w, b = n.draw(3, 7, 2), n.draw(3)
    n.add("axis2", "Convolution", "x", "convolution_param { num_output: 3 kernel_size: 2 axis: 2 }",
          [w, b], f.convolution(x, w, b, axis=2))
    conv("line", "kernel_size: 3 pad: 1 stride: 2", (3,), source="d", channels=6, pad=1, stride=2)
    n.add("line_relu", "ReLU", "line", expected=n["line"].clip(0))
    n.add("columns", "Im2col", "x", "convolution_param { kernel_size: 2 stride: 2 pad: 1 }",
          expected=f.im2col(x, (2, 2), 2, 1))
    n.add("columns_hw", "Im2col", "x", "convolution_param { kernel_h: 3 kernel_w: 2 dilation: 2 }",
          expected=f.im2col(x, (3, 2), dilation=2))
    n.write()


def deconvolutions():
    n = Net("deconvolutions", x=(1, 4, 5, 6), d=(1, 4, 5))
    x, d = n["x"], n["d"]

    def deconv(name, text, kernel, outputs=6, group=1, bias=True, source="x", **options):
        w = n.draw(4, outputs // group, *kernel)
        b = n.draw(outputs) if bias else None
        text = f"num_output: {outputs} " + text + ("" if bias else " bias_term: false")
        n.add(name, "Deconvolution", source, f"convolution_param {{ {text} }}",
              [w] + ([b] if bias else []), f.deconvolution(n[source], w, b, group=group, **options))

    deconv("plain", "kernel_size: 3", (3, 3))
    deconv("stride", "kernel_size: 4 stride: 2 pad: 1", (4, 4), bias=False, stride=2, pad=1)
    deconv("hw", "kernel_h: 2 kernel_w: 3 stride_h: 1 stride_w: 2 pad_h: 0 pad_w: 1", (2, 3),
           stride=[1, 2], pad=[0, 1])
    deconv("grouped", "kernel_size: 3 group: 2 stride: 2", (3, 3), group=2, stride=2)
    deconv("depthwise", "kernel_size: 4 group: 4 stride: 2 pad: 1", (4, 4), outputs=4, group=4,
           bias=False, stride=2, pad=1)
    deconv("dilated", "kernel_size: 3 dilation: 2 pad: 1", (3, 3), dilation=2, pad=1)
    deconv("line", "kernel_size: 3 stride: 2", (3,), source="d", stride=2)
    n.write()


def volumes():
    n = Net("volumes", x=(1, 2, 4, 5, 6))
    x = n["x"]
    w, b = n.draw(3, 2, 3, 3, 3), n.draw(3)
    n.add("plain", "Convolution", "x", "convolution_param { num_output: 3 kernel_size: 3 }",
          [w, b], f.convolution(x, w, b))
    w = n.draw(4, 1, 2, 3, 2)
    n.add("all", "Convolution", "x",
          "convolution_param { num_output: 4 bias_term: false group: 2 kernel_size: 2 "
          "kernel_size: 3 kernel_size: 2 stride: 1 stride: 2 stride: 1 pad: 1 pad: 0 pad: 1 "
          "dilation: 2 dilation: 1 dilation: 1 }", [w],
          f.convolution(x, w, None, [1, 2, 1], [1, 0, 1], [2, 1, 1], 2))
    n.add("relu", "ReLU", "plain", expected=n["plain"].clip(0))
    w, b = n.draw(2, 3, 1, 1, 1), n.draw(2)
    n.add("next", "Convolution", "relu", "convolution_param { num_output: 2 kernel_size: 1 }",
          [w, b], f.convolution(n["relu"], w, b))
    n.write()


def volume_deconvolution():
    n = Net("volume_deconvolution", x=(1, 2, 3, 4, 3))
    w, b = n.draw(2, 3, 2, 3, 2), n.draw(3)
    n.add("y", "Deconvolution", "x",
          "convolution_param { num_output: 3 kernel_size: 2 kernel_size: 3 kernel_size: 2 "
          "stride: 2 pad: 0 pad: 1 pad: 0 }", [w, b],
          f.deconvolution(n["x"], w, b, 2, [0, 1, 0]))
    n.write()


def products():
    n = Net("products", x=(1, 3, 4, 5), v=(1, 7), s=(4, 3, 2), i=(5, 1))
    n.values["i"] = np.array([[3], [0], [8], [8], [2]], "f8")
    x = n["x"]

    def ip(name, source, text, outputs=5, count=60, axis=1, bias=True, transpose=False):
        w = n.draw(*((count, outputs) if transpose else (outputs, count)))
        b = n.draw(outputs) if bias else None
        n.add(name, "InnerProduct", source,
              f"inner_product_param {{ num_output: {outputs} {text} }}",
              [w] + ([b] if bias else []),
              f.inner_product(n[source], w, b, axis, transpose))

    ip("plain", "x", "")
    ip("no_bias", "x", "bias_term: false", bias=False)
    ip("transposed", "x", "transpose: true", transpose=True)
    ip("axis2", "x", "axis: 2", count=20, axis=2)
    ip("axis3", "x", "axis: -1", count=5, axis=3)
    ip("vector", "v", "", count=7)
    ip("chain", "plain", "", outputs=3, count=5)
    n.values.pop("plain")
    ip("steps", "s", "axis: 2", count=2, axis=2)
    ip("steps_all", "s", "axis: 1", count=6, axis=1)
    w, b = n.draw(9, 4), n.draw(4)
    n.add("embed", "Embed", "i", "embed_param { num_output: 4 input_dim: 9 }", [w, b],
          f.embed(n["i"], w, b))
    n.add("embed_no_bias", "Embed", "i",
          "embed_param { num_output: 4 input_dim: 9 bias_term: false }", [w], f.embed(n["i"], w))
    n.write()


def poolings():
    n = Net("poolings", x=(1, 3, 9, 11))
    x = n["x"]

    def pool(name, text, kernel, method="MAX", **options):
        n.add(name, "Pooling", "x", f"pooling_param {{ pool: {method} {text} }}",
              expected=f.pooling(x, kernel, method, **options))

    for method in ("MAX", "AVE"):
        m = method.lower()
        pool(m, "kernel_size: 3 stride: 2", 3, method, stride=2)
        pool(m + "_pad", "kernel_size: 3 stride: 2 pad: 1", 3, method, stride=2, pad=1)
        pool(m + "_pad_even", "kernel_size: 2 stride: 2 pad: 1", 2, method, stride=2, pad=1)
        pool(m + "_hw", "kernel_h: 4 kernel_w: 2 stride_h: 3 stride_w: 2 pad_h: 1 pad_w: 0",
             (4, 2), method, stride=(3, 2), pad=(1, 0))
        pool(m + "_one", "kernel_size: 3", 3, method)
        pool(m + "_floor", "kernel_size: 3 stride: 3 round_mode: FLOOR pad: 1", 3, method,
             stride=3, pad=1, floor=True)
        pool(m + "_global", "global_pooling: true", x.shape[2:], method)
    n.add("relu", "ReLU", "x", expected=x.clip(0))
    n.add("stochastic", "Pooling", "relu",
          "pooling_param { pool: STOCHASTIC kernel_size: 2 stride: 2 }",
          expected=f.pooling(x.clip(0), 2, "STOCHASTIC", 2))
    n.add("abs", "AbsVal", "x", expected=abs(x))
    n.add("stochastic_positive", "Pooling", "abs",
          "pooling_param { pool: STOCHASTIC kernel_size: 3 stride: 3 }",
          expected=f.pooling(abs(x), 3, "STOCHASTIC", 3))
    n.add("spp", "SPP", "x", "spp_param { pyramid_height: 3 }", expected=f.spp(x, 3))
    n.add("spp_ave", "SPP", "x", "spp_param { pyramid_height: 2 pool: AVE }",
          expected=f.spp(x, 2, "AVE"))
    n.add("spp_one", "SPP", "x", "spp_param { pyramid_height: 1 }", expected=f.spp(x, 1))
    n.write()


def unpoolings():
    n = Net("unpoolings", x=(1, 3, 6, 8), o=(1, 2, 5, 7), m=(1, 2, 5, 6))
    # zeros after a ReLU are equal maxima, of which the first counts
    relu = n["x"].clip(0)
    n.add("relu", "ReLU", "x", expected=relu)
    y, places = f.pooling(relu, 2, "MAX", 2, mask=True)
    n.add("pool", "Pooling", "relu", "pooling_param { pool: MAX kernel_size: 2 stride: 2 }",
          tops="pool mask", expected=[y, places])
    n.add("shifted", "Power", "pool", "power_param { shift: 3 }", expected=y + 3)
    n.add("up", "Upsample", "shifted mask", "upsample_param { scale: 2 }",
          expected=f.unpooling(y + 3, places, 6, 8))
    y, places = f.pooling(n["o"], 2, "MAX", 2, mask=True)
    n.add("odd", "Pooling", "o", "pooling_param { pool: MAX kernel_size: 2 stride: 2 }",
          tops="odd odd_mask", expected=[y, places])
    n.add("odd_up", "Upsample", "odd odd_mask", "upsample_param { upsample_h: 5 upsample_w: 7 }",
          expected=f.unpooling(y, places, 5, 7))
    y, places = f.pooling(n["m"], (2, 3), "MAX", (2, 3), mask=True)
    n.add("seen", "Pooling", "m",
          "pooling_param { pool: MAX kernel_h: 2 kernel_w: 3 stride_h: 2 stride_w: 3 }",
          tops="seen seen_mask", expected=[y, places])
    n.add("twice", "Upsample", "m", "upsample_param { scale: 2 }",
          expected=n["m"].repeat(2, 2).repeat(2, 3))
    n.add("twice_hw", "Upsample", "m", "upsample_param { scale_h: 2 scale_w: 3 }",
          expected=n["m"].repeat(2, 2).repeat(3, 3))
    n.write()


def normalizations():
    n = Net("normalizations", x=(1, 6, 5, 7), v=(1, 6), b=(1, 6, 5, 7))
    x, v = n["x"], n["v"]
    n.add("lrn", "LRN", "x", "lrn_param { local_size: 3 alpha: 0.5 beta: 0.6 k: 2 }",
          expected=f.lrn(x, 3, 0.5, 0.6, 2))
    n.add("lrn_default", "LRN", "x", expected=f.lrn(x))
    n.add("lrn_within", "LRN", "x",
          "lrn_param { local_size: 3 alpha: 2 beta: 0.7 norm_region: WITHIN_CHANNEL }",
          expected=f.lrn(x, 3, 2, 0.7, within=True))
    n.add("mvn", "MVN", "x", expected=f.mvn(x))
    n.add("mvn_across", "MVN", "x", "mvn_param { across_channels: true eps: 0.5 }",
          expected=f.mvn(x, across=True, eps=0.5))
    n.add("mvn_mean", "MVN", "x", "mvn_param { normalize_variance: false }",
          expected=f.mvn(x, variance=False))
    for name, across, shared, eps in (("normalize", True, True, None), ("normalize_all", True, False, 0.1),
                                      ("normalize_place", False, False, None),
                                      ("normalize_place_eps", False, True, 0.1)):
        s = n.draw(1 if shared else 6)
        text = f"across_spatial: {str(across).lower()} channel_shared: {str(shared).lower()}"
        text += f" eps: {eps}" if eps else ""
        n.add(name, "Normalize", "x", f"norm_param {{ {text} }}", [s],
              f.normalize(x, s * np.ones(6), across, eps or 1e-10))

    mean, variance = n.draw(6), n.draw(6, low=0.5, high=2)
    factor = np.array([4.0])
    stats = [mean, variance, factor]
    n.add("bn", "BatchNorm", "x", blobs=stats, expected=f.batch_norm(x, mean, variance, 4))
    n.add("bn_eps", "BatchNorm", "x", "batch_norm_param { eps: 0.1 use_global_stats: true }", stats,
          f.batch_norm(x, mean, variance, 4, 0.1))
    n.add("bn_zero", "BatchNorm", "x", "batch_norm_param { eps: 0.5 }",
          [mean, variance, np.zeros(1)], f.batch_norm(x, mean, variance, 0, 0.5))
    n.add("bn_picture", "BatchNorm", "x", "batch_norm_param { use_global_stats: false }", stats,
          f.batch_norm(x))
    n.add("bn_vector", "BatchNorm", "v", blobs=stats, expected=f.batch_norm(v, mean, variance, 4))
    s, b = n.draw(6), n.draw(6)
    n.add("joined_bn", "BatchNorm", "x", blobs=stats, expected=f.batch_norm(x, mean, variance, 4))
    n.add("joined", "Scale", "joined_bn", "scale_param { bias_term: true }", [s, b],
          f.scale(n["joined_bn"], s, b))
    n.add("shared_bn", "BatchNorm", "b", blobs=stats,
          expected=f.batch_norm(n["b"], mean, variance, 4))
    n.add("shared_scale", "Scale", "shared_bn", blobs=[s], expected=f.scale(n["shared_bn"], s))
    n.add("shared_sum", "Eltwise", "shared_bn b", expected=n["shared_bn"] + n["b"])
    four = lambda a: a.reshape(1, 6, 1, 1)
    n.add("segnet", "BN", "x", "bn_param { bn_mode: INFERENCE }", [four(s), four(b)],
          f.scale(x, s, b))
    n.add("segnet_learn", "BN", "x", blobs=[four(s), four(b)],
          expected=f.scale(f.batch_norm(x, eps=1e-9), s, b))
    n.add("pspnet", "BN", "x", "bn_param { frozen: true }",
          [four(s), four(b), four(mean), four(variance)],
          f.scale(f.batch_norm(x, mean, variance, 1), s, b))
    n.write()


def scales():
    n = Net("scales", x=(1, 3, 4, 5), c=(3,), hw=(4, 5), nc=(1, 3), w=(5,))
    x = n["x"]

    def scale(name, text, shape, axis=1, bias=False):
        s, b = n.draw(*shape), n.draw(*shape)
        text += " bias_term: true" if bias else ""
        n.add(name, "Scale", "x", f"scale_param {{ {text} }}", [s] + ([b] if bias else []),
              f.scale(x, s, b if bias else None, axis))

    scale("channel", "", (3,))
    scale("channel_bias", "", (3,), bias=True)
    scale("rows", "axis: 2", (4,), 2, True)
    scale("columns", "axis: -1", (5,), 3)
    scale("planes", "axis: 2 num_axes: 2", (4, 5), 2, True)
    scale("channel_rows", "num_axes: 2", (3, 4), 1, True)
    scale("all", "num_axes: -1", (3, 4, 5))
    scale("from_batch", "axis: 0 num_axes: 2", (1, 3), 0)
    scale("scalar", "num_axes: 0", (), 1, True)
    b = n.draw(3)
    n.add("bias", "Bias", "x", blobs=[b], expected=f.scale(x, np.ones(3), b))
    b = n.draw(4, 5)
    n.add("bias_planes", "Bias", "x", "bias_param { axis: 2 num_axes: 2 }", [b],
          f.scale(x, np.ones((4, 5)), b, 2))
    b = n.draw()
    n.add("bias_scalar", "Bias", "x", "bias_param { num_axes: 0 }", [b], x + b)
    n.add("two_c", "Scale", "x c", expected=f.scale(x, n["c"]))
    n.add("two_hw", "Scale", "x hw", "scale_param { axis: 2 }", expected=f.scale(x, n["hw"], axis=2))
    n.add("two_nc", "Scale", "x nc", "scale_param { axis: 0 }", expected=f.scale(x, n["nc"], axis=0))
    b = n.draw(5)
    n.add("two_w", "Scale", "x w", "scale_param { axis: 3 bias_term: true }", [b],
          f.scale(x, n["w"], b, 3))
    n.add("bias_two", "Bias", "x hw", "bias_param { axis: 2 }",
          expected=x + n["hw"].reshape(1, 1, 4, 5))
    n.write()


def combinations():
    n = Net("combinations", a=(1, 3, 4, 5), b=(1, 3, 4, 5), c=(1, 3, 4, 5), g=(1, 3, 1, 1),
            k=(1, 2, 4, 5), h=(1, 3, 2, 5), w=(1, 3, 4, 1))
    a, b, c = n["a"], n["b"], n["c"]
    n.add("sum", "Eltwise", "a b c", expected=a + b + c)
    n.add("coeff", "Eltwise", "a b c",
          "eltwise_param { operation: SUM coeff: 1 coeff: -1 coeff: 0.5 }",
          expected=a - b + 0.5 * c)
    n.add("prod", "Eltwise", "a b c", "eltwise_param { operation: PROD stable_prod_grad: false }",
          expected=a * b * c)
    n.add("max", "Eltwise", "a b c", "eltwise_param { operation: MAX }",
          expected=np.maximum(np.maximum(a, b), c))
    n.add("axpy", "Axpy", "g a b", expected=n["g"] * a + b)
    n.add("concat", "Concat", "a k", expected=np.concatenate([a, n["k"]], 1))
    n.add("concat_dim", "Concat", "a b", "concat_param { concat_dim: 1 }",
          expected=np.concatenate([a, b], 1))
    n.add("concat_2", "Concat", "a h", "concat_param { axis: 2 }",
          expected=np.concatenate([a, n["h"]], 2))
    n.add("concat_3", "Concat", "a w b", "concat_param { axis: -1 }",
          expected=np.concatenate([a, n["w"], b], 3))
    n.add("concat_0", "Concat", "a b c", "concat_param { axis: 0 }",
          expected=np.concatenate([a, b, c], 0))
    n.add("after_0", "ReLU", "concat_0", expected=n["concat_0"].clip(0))
    n.add("tile", "Tile", "a", "tile_param { tiles: 3 }", expected=np.tile(a, (1, 3, 1, 1)))
    n.add("tile_2", "Tile", "a", "tile_param { axis: 2 tiles: 2 }",
          expected=np.tile(a, (1, 1, 2, 1)))
    n.add("tile_0", "Tile", "a", "tile_param { axis: 0 tiles: 2 }",
          expected=np.tile(a, (2, 1, 1, 1)))
    n.write()


def partings():
    n = Net("partings", x=(1, 6, 5, 8), like=(1, 6, 3, 4), small=(1, 4, 3, 4))
    x = n["x"]
    third = np.split(x, 3, 1)
    n.add("thirds", "Slice", "x", tops="third0 third1 third2", expected=third)
    n.add("points", "Slice", "x", "slice_param { axis: 1 slice_point: 1 slice_point: 4 }",
          tops="p0 p1 p2", expected=[x[:, :1], x[:, 1:4], x[:, 4:]])
    n.add("halves", "Slice", "x", "slice_param { slice_dim: 3 }", tops="w0 w1",
          expected=np.split(x, 2, 3))
    n.add("rows", "Slice", "x", "slice_param { axis: -2 slice_point: 2 }", tops="h0 h1",
          expected=[x[:, :, :2], x[:, :, 2:]])
    n.add("crop", "Crop", "x like", "crop_param { offset: 1 offset: 3 }",
          expected=x[:, :, 1:4, 3:7])
    n.add("crop_one", "Crop", "x like", "crop_param { axis: 2 offset: 2 }",
          expected=x[:, :, 2:5, 2:6])
    n.add("crop_none", "Crop", "x like", expected=x[:, :, :3, :4])
    n.add("crop_1", "Crop", "x small", "crop_param { axis: 1 offset: 1 offset: 2 offset: 3 }",
          expected=x[:, 1:5, 2:5, 3:7])
    n.add("crop_3", "Crop", "x like", "crop_param { axis: 3 offset: 4 }", expected=x[..., 4:8])
    n.add("center", "CropCenter", "x",
          "crop_center_param { crop_size: 0 crop_size: 0 crop_size: 1 crop_size: 2 }",
          expected=x[:, :, 1:-1, 2:-2])
    n.add("center_c", "CropCenter", "x",
          "crop_center_param { crop_size: 0 crop_size: 1 crop_size: 1 crop_size: 0 }",
          expected=x[:, 1:-1, 1:-1])
    n.write()


def shapes():
    n = Net("shapes", x=(1, 6, 4, 5), v=(1, 12), r=(3, 4, 5))
    x = n["x"]

    def reshape(name, text, shape, source="x"):
        n.add(name, "Reshape", source, f"reshape_param {{ {text} }}",
              expected=n[source].reshape(shape))

    dims = lambda *d: "shape { " + " ".join(f"dim: {i}" for i in d) + " }"
    reshape("image", dims(1, 3, 8, 5), (1, 3, 8, 5))
    reshape("zero", dims(0, 2, -1, 5), (1, 2, 12, 5))
    reshape("vector", dims(0, -1), (1, 120))
    reshape("rows", dims(-1, 5), (24, 5))
    reshape("all", dims(-1), (120,))
    reshape("five", dims(0, 2, 3, 4, 5), (1, 2, 3, 4, 5))
    reshape("axis", dims(2, 3) + " axis: 1 num_axes: 1", (1, 2, 3, 4, 5))
    reshape("axis_end", dims(1) + " axis: -1", (1, 6, 4, 5, 1))
    reshape("insert", dims(1) + " axis: 1 num_axes: 0", (1, 1, 6, 4, 5))
    reshape("tail", dims(-1) + " axis: -2", (1, 6, 4, 5))
    reshape("last", dims(20) + " axis: 2", (1, 6, 20))
    reshape("to_image", dims(1, 3, 2, 2), (1, 3, 2, 2), "v")
    n.add("items", "InnerProduct", "rows", "inner_product_param { num_output: 2 }",
          [w := n.draw(2, 5)] + [b := n.draw(2)], f.inner_product(n["rows"], w, b))
    n.add("flat", "Flatten", "x", expected=x.reshape(1, -1))
    n.add("flat_2", "Flatten", "x", "flatten_param { axis: 2 }", expected=x.reshape(1, 6, 20))
    n.add("flat_12", "Flatten", "x", "flatten_param { axis: 1 end_axis: 2 }",
          expected=x.reshape(1, 24, 5))
    n.add("flat_0", "Flatten", "x", "flatten_param { axis: 0 }", expected=x.ravel())
    n.add("flat_3", "Flatten", "r", "flatten_param { axis: -2 }", expected=n["r"].reshape(3, 20))
    for order in ((0, 2, 3, 1), (0, 3, 1, 2), (0, 1, 3, 2), (1, 0, 2, 3), (2, 3, 0, 1)):
        n.add("permute" + "".join(map(str, order)), "Permute", "x",
              "permute_param { " + " ".join(f"order: {o}" for o in order) + " }",
              expected=x.transpose(order))
    n.add("permute_some", "Permute", "x", "permute_param { order: 0 order: 3 }",
          expected=x.transpose(0, 3, 1, 2))
    n.add("permute_3", "Permute", "r", "permute_param { order: 2 order: 0 order: 1 }",
          expected=n["r"].transpose(2, 0, 1))
    n.add("nhwc", "Permute", "x",
          "permute_param { order: 0 order: 2 order: 3 order: 1 }", expected=x.transpose(0, 2, 3, 1))
    n.add("nhwc_flat", "Flatten", "nhwc", expected=x.transpose(0, 2, 3, 1).reshape(1, -1))
    n.add("shuffled", "Reshape", "x", "reshape_param { shape { dim: 0 dim: 2 dim: 3 dim: 4 dim: 5 } }",
          expected=x.reshape(1, 2, 3, 4, 5))
    n.add("turned", "Permute", "shuffled",
          "permute_param { order: 0 order: 2 order: 1 order: 3 order: 4 }",
          expected=n["shuffled"].transpose(0, 2, 1, 3, 4))
    n.add("shuffle_back", "Reshape", "turned",
          "reshape_param { shape { dim: 0 dim: -1 dim: 4 dim: 5 } }",
          expected=n["turned"].reshape(1, 6, 4, 5))
    n.add("shuffle", "ShuffleChannel", "x", "shuffle_channel_param { group: 3 }",
          expected=f.shuffle(x, 3))
    n.write()


def axes():
    n = Net("axes", x=(1, 4, 5, 6), v=(1, 8))
    x, v = n["x"], n["v"]
    for axis in range(4):
        n.add(f"softmax_{axis}", "Softmax", "x", f"softmax_param {{ axis: {axis} }}",
              expected=f.softmax(x, axis))
    n.add("softmax_last", "Softmax", "x", "softmax_param { axis: -1 }", expected=f.softmax(x, 3))
    n.add("softmax_v", "Softmax", "v", expected=f.softmax(v))
    for operation in ("SUM", "ASUM", "SUMSQ", "MEAN"):
        for axis in range(4):
            n.add(f"{operation.lower()}_{axis}", "Reduction", "x",
                  f"reduction_param {{ operation: {operation} axis: {axis} }}",
                  expected=f.reduction(x, operation, axis))
    n.add("mean_coeff", "Reduction", "x",
          "reduction_param { operation: MEAN axis: -2 coeff: 2.5 }",
          expected=f.reduction(x, "MEAN", 2, 2.5))
    n.add("sum_coeff", "Reduction", "x", "reduction_param { coeff: -0.5 }",
          expected=f.reduction(x, "SUM", 0, -0.5))
    n.add("sum_v", "Reduction", "v", "reduction_param { axis: 1 }",
          expected=f.reduction(v, "SUM", 1))
    n.add("argmax", "ArgMax", "x", expected=f.argmax(x))
    n.add("argmax_pair", "ArgMax", "x", "argmax_param { out_max_val: true }",
          expected=f.argmax(x, values=True))
    for axis in (1, 2, 3):
        n.add(f"argmax_{axis}", "ArgMax", "x", f"argmax_param {{ axis: {axis} }}",
              expected=f.argmax(x, axis))
    n.add("argmax_val", "ArgMax", "x", "argmax_param { axis: -2 out_max_val: true }",
          expected=f.argmax(x, 2, values=True))
    n.add("argmax_v", "ArgMax", "v", expected=f.argmax(v))
    n.write()


def largest():
    n = Net("largest", x=(1, 4, 5, 6), v=(1, 8))
    x, v = n["x"], n["v"]
    n.add("top3", "ArgMax", "x", "argmax_param { axis: 1 top_k: 3 }", expected=f.argmax(x, 1, 3))
    n.add("top2_values", "ArgMax", "x", "argmax_param { axis: 3 top_k: 2 out_max_val: true }",
          expected=f.argmax(x, 3, 2, True))
    n.add("top5", "ArgMax", "v", "argmax_param { top_k: 5 }", expected=f.argmax(v, None, 5))
    n.add("top4_pair", "ArgMax", "x", "argmax_param { top_k: 4 out_max_val: true }",
          expected=f.argmax(x, None, 4, True))
    n.add("permuted", "Permute", "x", "permute_param { order: 0 order: 2 order: 3 order: 1 }",
          expected=x.transpose(0, 2, 3, 1))
    n.write()


def parameters():
    n = Net("parameters", x=(1, 3, 4, 5))
    w = n.draw(1, 3, 4, 5)
    n.add("weight", "Parameter", "", "parameter_param { shape { dim: 1 dim: 3 dim: 4 dim: 5 } }",
          [w], w)
    n.add("sum", "Eltwise", "x weight", expected=n["x"] + w)
    w = n.draw(3)
    n.add("factors", "Parameter", "", "parameter_param { shape { dim: 3 } }", [w], w)
    n.add("scaled", "Scale", "x factors", expected=f.scale(n["x"], w))
    n.add("quiet", "AbsVal", "x", expected=abs(n["x"]))
    n.add("silence", "Silence", "quiet", tops="")
    n.add("split", "Split", "sum", tops="one two", expected=[n["sum"], n["sum"]])
    n.add("one_relu", "ReLU", "one", expected=n["sum"].clip(0))
    n.add("two_tanh", "TanH", "two", expected=np.tanh(n["sum"]))
    n.add("dropped", "Dropout", "x", expected=n["x"])
    n.add("kept", "Sigmoid", "dropped", expected=f.sigmoid(n["x"]))
    n.write()


def reindexing():
    n = Net("reindexing", x=(1, 3, 2, 2), i=(5,))
    items = n["x"].reshape(3, 4)
    n.values["i"] = np.array([2, 0, 2, 1, 1], "f8")
    n.add("items", "Reshape", "x", "reshape_param { shape { dim: 3 dim: 4 } }", expected=items)
    n.add("picked", "BatchReindex", "items i", expected=items[n["i"].astype(int)])
    n.write()


def batches():
    """Layers that work on the batch, each in a network of its own, because one such layer makes the
    model take the whole batch; `one_by_one` has layers that do not."""
    def network(name, kind, bottoms, text, expected, blobs=(), tops=None, **inputs):
        n = Net("batch_" + name, **(inputs or {"x": (3, 4, 2, 5)}))
        w, b = n.draw(4), n.draw(4)
        if "h" in bottoms.split():
            n.add("h", "Scale", "x", "scale_param { bias_term: true }", [w, b], f.scale(n["x"], w, b))
        blobs = [n.draw(*shape) for shape in blobs]
        n.add("y", kind, bottoms, text, blobs, expected(n, *blobs), tops)
        n.write()

    network("softmax", "Softmax", "h", "softmax_param { axis: 0 }", lambda n: f.softmax(n["h"], 0))
    network("softmax_negative", "Softmax", "h", "softmax_param { axis: -4 }",
            lambda n: f.softmax(n["h"], 0))
    network("argmax", "ArgMax", "h", "argmax_param { axis: 0 }", lambda n: f.argmax(n["h"], 0))
    network("concat", "Concat", "h x", "concat_param { axis: 0 }",
            lambda n: np.concatenate([n["h"], n["x"]]))
    network("slice", "Slice", "h", "slice_param { axis: 0 slice_point: 1 }",
            lambda n: [n["h"][:1], n["h"][1:]], tops="y z")
    network("tile", "Tile", "h", "tile_param { axis: 0 tiles: 2 }",
            lambda n: np.tile(n["h"], (2, 1, 1, 1)))
    network("sum", "Reduction", "h", "", lambda n: f.reduction(n["h"], "SUM", 0))
    network("sum_rows", "Reduction", "v", "reduction_param { coeff: 0.5 operation: SUMSQ }",
            lambda n: f.reduction(n["v"], "SUMSQ", 0, 0.5), v=(3, 4))
    network("flatten", "Flatten", "h", "flatten_param { axis: 0 end_axis: 1 }",
            lambda n: n["h"].reshape(12, 2, 5))
    network("flatten_all", "Flatten", "h", "flatten_param { axis: 0 }", lambda n: n["h"].ravel())
    network("product", "InnerProduct", "h", "inner_product_param { num_output: 2 axis: 0 }",
            lambda n, w, b: f.inner_product(n["h"], w, b, 0), [(2, 120), (2,)])
    network("reshape", "Reshape", "h", "reshape_param { shape { dim: 4 dim: 3 dim: 0 dim: -1 } }",
            lambda n: n["h"].reshape(4, 3, 2, 5))
    network("reshape_open", "Reshape", "h", "reshape_param { shape { dim: -1 dim: 20 } }",
            lambda n: n["h"].reshape(6, 20))
    network("reshape_axis", "Reshape", "h", "reshape_param { shape { dim: -1 } num_axes: 2 }",
            lambda n: n["h"].reshape(12, 2, 5))
    network("crop", "Crop", "h s", "crop_param { axis: 0 offset: 1 offset: 0 offset: 0 offset: 2 }",
            lambda n: n["h"][1:2, :, :, 2:], x=(3, 4, 2, 5), s=(1, 4, 2, 3))
    network("scale", "Scale", "h", "scale_param { axis: 0 num_axes: 2 }",
            lambda n, w: f.scale(n["h"], w, axis=0), [(3, 4)])
    network("bias", "Bias", "h", "bias_param { axis: 0 }", lambda n, b: n["h"] + b.reshape(3, 1, 1, 1),
            [(3,)])
    network("reindex", "BatchReindex", "h i", "", lambda n: n["h"][n["i"].astype(int)],
            x=(3, 4, 2, 5), i=np.array([2, 0, 2, 1, 1], "f8"))

    n = Net("batch_constant", x=(3, 4))
    w = n.draw(3, 4)
    n.add("w", "Parameter", "", "parameter_param { shape { dim: 3 dim: 4 } }", [w], w)
    n.add("y", "Eltwise", "x w", "eltwise_param { operation: PROD }", expected=n["x"] * w)
    n.write()
    # The batch moves, and a layer that works on each item follows.
    n = Net("batch_moved", x=(3, 4, 2, 5))
    n.add("moved", "Permute", "x", "permute_param { order: 1 order: 0 order: 2 order: 3 }",
          expected=n["x"].transpose(1, 0, 2, 3))
    n.add("y", "Softmax", "moved", "softmax_param { axis: 1 }", expected=f.softmax(n["moved"], 1))
    n.write()

    n = Net("batch_one_by_one", x=(3, 4, 5, 6))
    w, b = n.draw(2, 4, 3, 3), n.draw(2)
    n.add("conv", "Convolution", "x", "convolution_param { num_output: 2 kernel_size: 3 }", [w, b],
          f.convolution(n["x"], w, b))
    n.add("rows", "Reshape", "conv", "reshape_param { shape { dim: 0 dim: 6 dim: -1 } }",
          expected=n["conv"].reshape(3, 6, 4))
    n.add("sums", "Reduction", "rows", "reduction_param { axis: 2 }",
          expected=f.reduction(n["rows"], "SUM", 2))
    n.add("y", "Softmax", "sums", expected=f.softmax(n["sums"]))
    n.write()


def recurrences():
    cont = np.array([[0], [1], [1], [0], [1]], "f8")
    n = Net("recurrences", x=(5, 1, 3), cont=cont, fixed=(1, 2), h=(1, 1, 4), c=(1, 1, 4))
    x = n["x"]
    wx, b, wh, ws = n.draw(16, 3), n.draw(16), n.draw(16, 4), n.draw(16, 2)
    text = "recurrent_param { num_output: 4 }"
    shown = "recurrent_param { num_output: 4 expose_hidden: true }"
    n.add("lstm", "LSTM", "x cont", text, [wx, b, wh], f.lstm(x, cont, wx, b, wh)[0])
    n.add("lstm_fixed", "LSTM", "x cont fixed", text, [wx, b, ws, wh],
          f.lstm(x, cont, wx, b, wh, ws, n["fixed"])[0])
    h, c = n["h"], n["c"]
    n.add("lstm_states", "LSTM", "x cont h c", shown, [wx, b, wh],
          f.lstm(x, cont, wx, b, wh, h=h, c=c), tops="lstm_states lstm_h lstm_c")
    ux, ub, uh, uo, ob = n.draw(4, 3), n.draw(4), n.draw(4, 4), n.draw(4, 4), n.draw(4)
    n.add("rnn", "RNN", "x cont", text, [ux, ub, uh, uo, ob], f.rnn(x, cont, ux, ub, uh, uo, ob)[0])
    n.add("rnn_states", "RNN", "x cont h", shown, [ux, ub, uh, uo, ob],
          f.rnn(x, cont, ux, ub, uh, uo, ob, h), tops="rnn_states rnn_h")
    w, b = n.draw(2, 4), n.draw(2)
    n.add("after", "InnerProduct", "lstm", "inner_product_param { num_output: 2 axis: 2 }", [w, b],
          f.inner_product(n["lstm"], w, b, 2))
    n.add("after_softmax", "Softmax", "after", "softmax_param { axis: 2 }",
          expected=f.softmax(n["after"], 2))
    n.write()
    n = Net("caption", words=np.array([[4], [0], [7]], "f8"), cont=np.array([[0], [1], [1]], "f8"))
    w, b = n.draw(8, 3), n.draw(3)
    n.add("embed", "Embed", "words", "embed_param { num_output: 3 input_dim: 8 }", [w, b],
          f.embed(n["words"], w, b))
    wx, b, wh = n.draw(16, 3), n.draw(16), n.draw(16, 4)
    n.add("lstm", "LSTM", "embed cont", text, [wx, b, wh],
          f.lstm(n["embed"], n["cont"], wx, b, wh)[0])
    n.write()
    # As LRCN's deploy_lstm.prototxt: two videos of three images each, in one batch.
    n = Net("videos", data=(6, 2, 4, 4), marks=np.array([0, 0, 1, 1, 1, 0], "f8").reshape(6, 1, 1, 1))
    w, b = n.draw(3, 2, 3, 3), n.draw(3)
    n.add("conv", "Convolution", "data", "convolution_param { num_output: 3 kernel_size: 3 }", [w, b],
          f.convolution(n["data"], w, b))
    w, b = n.draw(5, 12), n.draw(5)
    n.add("fc", "InnerProduct", "conv", "inner_product_param { num_output: 5 }", [w, b],
          f.inner_product(n["conv"], w, b))
    n.add("frames", "Reshape", "fc", "reshape_param { shape { dim: 3 dim: 2 dim: 5 } }",
          expected=n["fc"].reshape(3, 2, 5))
    n.add("cont", "Reshape", "marks", "reshape_param { shape { dim: 3 dim: 2 } }",
          expected=n["marks"].reshape(3, 2))
    wx, b, wh = n.draw(16, 5), n.draw(16), n.draw(16, 4)
    n.add("lstm", "LSTM", "frames cont", text, [wx, b, wh],
          f.lstm(n["frames"], n["cont"], wx, b, wh)[0])
    w, b = n.draw(2, 4), n.draw(2)
    n.add("classes", "InnerProduct", "lstm", "inner_product_param { num_output: 2 axis: 2 }", [w, b],
          f.inner_product(n["lstm"], w, b, 2))
    n.add("prob", "Softmax", "classes", "softmax_param { axis: 2 }",
          expected=f.softmax(n["classes"], 2))
    n.write()
    n = Net("lstm_unit", c=(1, 1, 4), x=(1, 1, 16), cont=(1, 1))
    n.add("unit", "LSTMUnit", "c x cont", tops="c_next h_next",
          expected=f.lstm_unit(n["c"], n["x"], n["cont"]))
    n.write()


def resizings():
    n = Net("resizings", x=(1, 3, 5, 7), like=(1, 1, 8, 6), g=(1, 8, 4, 6))
    x = n["x"]
    n.add("size", "Interp", "x", "interp_param { height: 9 width: 10 }",
          expected=f.interp(x, 9, 10))
    n.add("zoom", "Interp", "x", "interp_param { zoom_factor: 3 }", expected=f.interp(x, 13, 19))
    n.add("shrink", "Interp", "x", "interp_param { shrink_factor: 2 }", expected=f.interp(x, 3, 4))
    n.add("both", "Interp", "x", "interp_param { shrink_factor: 2 zoom_factor: 3 }",
          expected=f.interp(x, 7, 10))
    n.add("cut", "Interp", "x", "interp_param { height: 6 width: 4 pad_beg: -1 pad_end: -1 }",
          expected=f.interp(x[:, :, 1:-1, 1:-1], 6, 4))
    n.add("second", "Interp", "x like", expected=f.interp(x, 8, 6))
    # soeaver/caffe-model: the size of the second bottom only if use_blob_size is true.
    n.add("blob_size", "Interp", "x like", "interp_param { use_blob_size: true }",
          expected=f.interp(x, 8, 6))
    n.add("own_size", "Interp", "x like", "interp_param { use_blob_size: false zoom_factor: 2 }",
          expected=f.interp(x, 9, 13))
    n.add("reorg", "Reorg", "g", "reorg_param { stride: 2 }", expected=f.reorg(n["g"], 2))
    n.add("reorg_back", "Reorg", "g", "reorg_param { stride: 2 reverse: true }",
          expected=f.reorg(n["g"], 2, True))
    n.write()


def detections():
    def priors(n, size=30):
        a = f.prior_box(3, 4, (60, 80), [20], [40], [2], variance=(0.1, 0.1, 0.2, 0.2))
        b = f.prior_box(2, 2, (60, 80), [size, 12], [], [2, 3], flip=False, clip=True, step=(30, 40),
                        offset=0.4)
        n.add("prior_a", "PriorBox", "a picture",
              "prior_box_param { min_size: 20 max_size: 40 aspect_ratio: 2 "
              "variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 }", expected=a)
        n.add("prior_b", "PriorBox", "b picture",
              f"prior_box_param {{ min_size: {size} min_size: 12 aspect_ratio: 2 aspect_ratio: 3 "
              "variance: 0.1 flip: false clip: true step_h: 30 step_w: 40 offset: 0.4 }}".replace("}}", "}"), expected=b)
        n.add("prior", "Concat", "prior_a prior_b", "concat_param { axis: 2 }",
              expected=np.concatenate([a, b], 2))
        return n["prior"]

    n = Net("priors", a=(1, 2, 3, 4), b=(1, 2, 2, 2), picture=(1, 3, 60, 80))
    priors(n, 30.5)
    n.add("prior_size", "PriorBox", "a",
          "prior_box_param { min_size: 8 img_size: 64 step: 16 variance: 0.3 }",
          expected=f.prior_box(3, 4, (64, 64), [8], variance=(0.3,), step=(16, 16)))
    n.write()

    count = 3 * 4 * 4 + 2 * 2 * 6
    for name, classes, text, options in (
            ("detection", 4,
             "share_location: true background_label_id: 0 "
             "nms_param { nms_threshold: 0.45 top_k: 30 } code_type: CENTER_SIZE keep_top_k: 12 "
             "confidence_threshold: 0.2",
             dict(code="CENTER_SIZE", nms=0.45, top=30, keep=12, threshold=0.2)),
            ("detection_corner", 3,
             "share_location: false background_label_id: -1 keep_top_k: 60 "
             "nms_param { nms_threshold: 0.3 top_k: 20 } confidence_threshold: 0.6",
             dict(share=False, background=-1, keep=60, nms=0.3, top=20, threshold=0.6)),
            ("detection_size", 3,
             "code_type: CORNER_SIZE variance_encoded_in_target: true background_label_id: 1 "
             "keep_top_k: 10 nms_param { nms_threshold: 0.5 } confidence_threshold: 0.5",
             dict(code="CORNER_SIZE", in_target=True, background=1, keep=10, nms=0.5,
                  threshold=0.5))):
        n = Net(name, a=(1, 2, 3, 4), b=(1, 2, 2, 2), picture=(1, 3, 60, 80),
                loc=(1, count * 4 * (classes if "corner" in name else 1)), conf=(1, count * classes))
        prior = priors(n)
        n.values["loc"] = n["loc"] * (0.1 if "target" in text else 0.5)
        n.values["loc"] = n.values["loc"].astype("f4").astype("f8")
        n.values["conf"] = n.draw(1, count * classes, low=0)
        rows = f.detection_output(n["loc"], n["conf"], prior, classes, **options)
        keep = options["keep"]
        padded = np.tile([0.0] + [-1.0] * 6, (keep, 1))
        padded[:len(rows)] = rows
        print(name, len(rows), "of", keep)
        n.add("found", "DetectionOutput", "loc conf prior",
              f"detection_output_param {{ num_classes: {classes} {text} }}",
              expected=padded[None, None])
        n.write()


def png(path, pixels):
    """Writes (H, W, 3) bytes, red first."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    height, width = pixels.shape[:2]
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n"
                   + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def two_stages():
    """Faster R-CNN and R-FCN, small. The image of NAME.png is their input `data`; NAME.boxes.npz has
    the boxes of it."""
    random = np.random.RandomState(4)
    blocks = random.randint(0, 256, (8, 10, 3)).astype(np.uint8)
    pixels = blocks.repeat(8, axis=0).repeat(8, axis=1)
    png(os.path.join(FOLDER, "regions.png"), pixels)
    data = pixels[:, :, ::-1].transpose(2, 0, 1)[None]
    sizes = r.anchors(scales=(1, 2, 4))

    for name, info in (("faster_rcnn", [[64, 80, 1.0]]), ("faster_rcnn_scaled", [[60, 77, 1.25]]),
                       ("rfcn", [[64, 80, 1.0]])):
        n = Net(name, data=data, im_info=np.array(info))
        n.random = np.random.RandomState(7)

        def conv(top, bottom, inputs, outputs, kernel=1, stride=1, spread=1.0, bias=0.1):
            w = n.draw(outputs, inputs, kernel, kernel) * spread
            w = w.astype("f4").astype("f8")
            b = n.draw(outputs, low=-bias, high=bias)
            pad = kernel // 2
            n.add(top, "Convolution", bottom,
                  f"convolution_param {{ num_output: {outputs} kernel_size: {kernel} stride: {stride} "
                  f"pad: {pad} }}", [w, b], f.convolution(n[bottom], w, b, stride, pad))

        def relu(blob):
            n.add(blob + "_relu", "ReLU", blob, tops=blob, expected=np.maximum(n[blob], 0))

        def product(top, bottom, inputs, outputs, spread):
            w = (n.draw(outputs, inputs) * spread).astype("f4").astype("f8")
            b = n.draw(outputs, low=-0.1, high=0.1)
            n.add(top, "InnerProduct", bottom, f"inner_product_param {{ num_output: {outputs} }}",
                  [w, b], f.inner_product(n[bottom], w, b))

        def reshape(top, bottom, sizes, shape):
            dims = " ".join(f"dim: {size}" for size in sizes)
            n.add(top, "Reshape", bottom, f"reshape_param {{ shape {{ {dims} }} }}",
                  expected=n[bottom].reshape(shape))

        conv("conv1", "data", 3, 6, 3, 2, 0.01)
        relu("conv1")
        n.add("pool1", "Pooling", "conv1", "pooling_param { pool: MAX kernel_size: 2 stride: 2 }",
              expected=f.pooling(n["conv1"], 2, stride=2))
        conv("conv2", "pool1", 6, 8, 3, 2, 0.3)
        relu("conv2")
        conv("rpn", "conv2", 8, 8, 3, 1, 0.3)
        relu("rpn")
        conv("rpn_cls_score", "rpn", 8, 18, spread=1.0, bias=1.0)
        conv("rpn_bbox_pred", "rpn", 8, 36, spread=0.2)
        reshape("rpn_cls_score_reshape", "rpn_cls_score", [0, 2, -1, 0], (1, 2, 72, 10))
        n.add("rpn_cls_prob", "Softmax", "rpn_cls_score_reshape",
              expected=f.softmax(n["rpn_cls_score_reshape"]))
        reshape("rpn_cls_prob_reshape", "rpn_cls_prob", [0, 18, -1, 0], (1, 18, 8, 10))
        maps = n["rpn_cls_prob_reshape"], n["rpn_bbox_pred"]
        bottoms = "rpn_cls_prob_reshape rpn_bbox_pred im_info"
        info = n["im_info"]
        if name == "rfcn":
            options = dict(candidates=200, count=20, limit=0.6, least=20, keeps_small=True)
            text = ("feat_stride: 8 base_size: 16 min_size: 20 ratio: 0.5 ratio: 1 ratio: 2 scale: 1 "
                    "scale: 2 scale: 4 pre_nms_topn: 200 post_nms_topn: 20 nms_thresh: 0.6")
            rows, scores = r.proposals(*maps, info, 8, sizes, **options)
            n.add("proposal", "Proposal", bottoms, f"proposal_param {{ {text} }}", tops="rois scores",
                  expected=[rows, scores])
            n.add("silence", "Silence", "scores", tops="")
            options.pop("keeps_small")
            conv("rfcn_cls", "conv2", 8, 36)
            conv("rfcn_bbox", "conv2", 8, 72, spread=0.2)
            for kind, outputs in (("cls", 4), ("bbox", 8)):
                n.add(f"ps_{kind}", "PSROIPooling", f"rfcn_{kind} rois",
                      f"psroi_pooling_param {{ spatial_scale: 0.125 output_dim: {outputs} group_size: 3 }}",
                      expected=r.group_means(n[f"rfcn_{kind}"], rows, 3, 0.125))
                n.add(f"mean_{kind}", "Pooling", f"ps_{kind}",
                      "pooling_param { pool: AVE kernel_size: 3 stride: 3 }",
                      expected=n[f"ps_{kind}"].mean(axis=(2, 3), keepdims=True))
            n.add("prob", "Softmax", "mean_cls", expected=f.softmax(n["mean_cls"]))
            reshape("cls_prob", "prob", [-1, 4], (20, 4))
            reshape("bbox_pred", "mean_bbox", [-1, 8], (20, 8))
        else:
            rows, _ = r.proposals(*maps, info, 8, sizes)
            text = "'feat_stride': 8 \\n'scales': !!python/tuple [1, 2, 4]"
            n.add("proposal", "Python", bottoms, "python_param { module: 'rpn.proposal_layer' "
                  f'layer: \'ProposalLayer\' param_str: "{text}" }}', tops="rois", expected=rows)
            n.add("roi_pool", "ROIPooling", "conv2 rois",
                  "roi_pooling_param { pooled_w: 3 pooled_h: 2 spatial_scale: 0.125 }",
                  expected=r.maxima(n["conv2"], rows, 2, 3, 0.125))
            product("fc6", "roi_pool", 48, 16, 0.3)
            relu("fc6")
            product("cls_score", "fc6", 16, 4, 1.5)
            product("bbox_pred", "fc6", 16, 16, 0.2)
            n.add("cls_prob", "Softmax", "cls_score", expected=f.softmax(n["cls_score"]))
        single = [blob.astype("f4") for blob in maps]
        again = r.proposals(*single, info.astype("f4"), 8, sizes,
                            **(dict(options, keeps_small=True) if name == "rfcn" else {}))[0]
        assert np.abs(again - rows).max() < 1e-3, "the choice of regions depends on rounding"
        boxes = r.found(rows, n["cls_prob"], n["bbox_pred"], info, 0.4)
        print(name, (rows[:, 0] == 0).sum(), "regions,", len(boxes), "boxes")
        np.savez_compressed(os.path.join(FOLDER, name + ".boxes.npz"), boxes=boxes)
        n.write(outputs={"rois", "cls_prob", "bbox_pred"})


if __name__ == "__main__":
    for family in (activations, concatenated_relu, convolutions, deconvolutions, volumes, volume_deconvolution, products,
                   poolings, unpoolings, normalizations, scales, combinations, partings, shapes, axes,
                   largest, parameters, reindexing, batches, recurrences, resizings, detections, two_stages):
        family()
