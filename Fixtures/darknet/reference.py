"""Darknet's forward pass in double precision, written from the formulas of its source code.

The files and functions that are cited are those of github.com/pjreddie/darknet (P) and
github.com/AlexeyAB/darknet (A). Nothing of Assay is used.
"""

import struct

import os

import numpy as np


def parse(text):
    """P src/parser.c read_cfg, src/option_list.c: [(section, {key: value})]."""
    sections = []
    for line in text.split("\n"):
        line = "".join(line.split())
        if not line or line[0] in "#;":
            continue
        line = line.split("#")[0].split(";")[0]
        if line[0] == "[":
            sections.append((line[1:-1].lower(), {}))
        else:
            key, value = line.split("=", 1)
            if value:
                sections[-1][1].setdefault(key.lower(), value)
    return sections


class Stored:
    """Weights of a file, in order."""

    def __init__(self, data):
        major, minor, _ = struct.unpack("<3i", data[:12])
        long = major * 10 + minor >= 2 and major < 1000 and minor < 1000
        self.transposed = major > 1000 or minor > 1000
        self.values = np.frombuffer(data, "<f4", offset=20 if long else 16)
        self.place = 0

    def take(self, kind, *shape):
        count = int(np.prod(shape))
        assert self.place + count <= len(self.values), "the weights end"
        part = self.values[self.place : self.place + count]
        self.place += count
        return part.reshape(shape).astype(np.float64)


class Made:
    """Random weights, kept in order for a file."""

    def __init__(self, seed, transposed=False):
        self.random = np.random.default_rng(seed)
        self.transposed = transposed
        self.parts = []

    def take(self, kind, *shape):
        r = self.random
        if kind == "scales":
            part = r.uniform(0.5, 1.5, shape)
        elif kind == "variances":
            part = r.uniform(0.2, 2.0, shape)
        elif kind in ("biases", "means"):
            part = r.normal(0, 0.2, shape)
        elif kind == "weights":
            part = r.normal(0, np.sqrt(2.0 / np.prod(shape[1:])), shape)
        else:
            part = r.normal(0, 1, shape)
        part = part.astype(np.float32)
        self.parts.append(part.ravel())
        return part.astype(np.float64)

    def data(self, version=(0, 2, 0), bits=64):
        header = struct.pack("<3i", *version) + struct.pack("<q" if bits == 64 else "<i", 640)
        return header + b"".join(part.astype("<f4").tobytes() for part in self.parts)


def logistic(x):
    return 1 / (1 + np.exp(-x))


def stair(x):  # P src/activations.h stair_activate
    n = np.floor(x)
    return np.where(n % 2 == 0, np.floor(x / 2), (x - n) + np.floor(x / 2))


def over_channels(x, largest):  # A src/activations.c activate_array_normalize_channels_softmax
    e = np.exp(x - (x.max(0, keepdims=True) if largest else 0))
    return e / (e.sum(0, keepdims=True) + 1e-4)


def normalized_channels(x):
    x = np.where(x > 0, x, 0)
    return x / (x.sum(0, keepdims=True) + 1e-4)


ACTIVATIONS = {  # P, A src/activations.h, src/activations.c
    "linear": lambda x: x,
    "logistic": logistic,
    "loggy": lambda x: 2 / (1 + np.exp(-x)) - 1,
    "relu": lambda x: x * (x > 0),
    "relu6": lambda x: np.minimum(np.maximum(x, 0), 6),
    "elu": lambda x: np.where(x >= 0, x, np.exp(x) - 1),
    "selu": lambda x: np.where(x >= 0, 1.0507 * x, 1.0507 * 1.6732 * (np.exp(x) - 1)),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(0.797885 * x + 0.035677 * x**3)),
    "relie": lambda x: np.where(x > 0, x, 0.01 * x),
    "ramp": lambda x: x * (x > 0) + 0.1 * x,
    "leaky": lambda x: np.where(x > 0, x, 0.1 * x),
    "revleaky": lambda x: np.where(x > 0, x, 0.1 * x),
    "tanh": np.tanh,
    "plse": lambda x: np.where(
        x < -4, 0.01 * (x + 4), np.where(x > 4, 0.01 * (x - 4) + 1, 0.125 * x + 0.5)
    ),
    "stair": stair,
    "hardtan": lambda x: np.clip(x, -1, 1),
    "lhtan": lambda x: np.where(x < 0, 0.001 * x, np.where(x > 1, 0.001 * (x - 1) + 1, x)),
    "swish": lambda x: x * logistic(x),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "hard_mish": lambda x: np.where(x > 0, x, np.where(x > -2, x * x / 2 + x, 0)),
    "normalize_channels": normalized_channels,
    "normalize_channels_softmax": lambda x: over_channels(x, False),
    "normalize_channels_softmax_maxval": lambda x: over_channels(x, True),
}


def reorg_cpu(x, w, h, c, stride, forward):
    """P src/blas.c reorg_cpu, index by index; x and the result are flat."""
    k, j, i = np.meshgrid(np.arange(c), np.arange(h), np.arange(w), indexing="ij")
    small = c // (stride * stride)
    near = i + w * (j + h * k)
    offset = k // small
    far = (i * stride + offset % stride) + w * stride * (
        j * stride + offset // stride + h * stride * (k % small)
    )
    out = np.zeros(x.size)
    if forward:
        out[far.ravel()] = x[near.ravel()]
    else:
        out[near.ravel()] = x[far.ravel()]
    return out


def binarized(kernel):  # A src/convolutional_kernels.cu binarize_weights_kernel
    mean = np.abs(kernel).mean(axis=(1, 2, 3), keepdims=True)
    return np.where(kernel > 0, mean, -mean)


def windows(x, size, stride_y, stride_x, top, left, height, width, fill, dilation=1):
    """[channels, size, size, height, width]; what lies outside is `fill`."""
    c, h, w = x.shape
    reach_y = (height - 1) * stride_y + (size - 1) * dilation + 1
    reach_x = (width - 1) * stride_x + (size - 1) * dilation + 1
    big = np.full((c, max(reach_y, top + h), max(reach_x, left + w)), fill, np.float64)
    big[:, top : top + h, left : left + w] = x
    out = np.empty((c, size, size, height, width))
    for r in range(size):
        for s in range(size):
            y, z = r * dilation, s * dilation
            out[:, r, s] = big[
                :,
                y : y + (height - 1) * stride_y + 1 : stride_y,
                z : z + (width - 1) * stride_x + 1 : stride_x,
            ]
    return out


class Network:
    """`outputs` of all layers after `run`; `heads` are indices of detection heads."""

    def __init__(self, text, weights, batchnorm_biases=True, folder=".", bochkovskiy=False):
        self.folder, self.bochkovskiy = folder, bochkovskiy
        # States before and after the image.
        self.states, self.next = {}, {}
        self.random = np.random.default_rng(len(text))
        self.sections = parse(text)
        self.weights = weights
        self.batchnorm_biases = batchnorm_biases
        net = self.sections[0][1]
        self.shape = tuple(int(net.get(key, 0)) for key in ("channels", "height", "width"))
        if not all(self.shape):
            self.shape = (int(net["inputs"]), 1, 1)

    def run(self, x):
        self.outputs, self.heads, self.kernels = [], [], {}
        self.vanished = set()
        x = np.asarray(x, np.float64)
        for index, (kind, options) in enumerate(self.sections[1:]):
            self.index = index
            self.options = options
            x = getattr(self, "layer_" + kind)(x)
            self.outputs.append(x)
        return self.results()

    def results(self):
        last = len(self.outputs) - 1
        while last in self.vanished:
            last -= 1
        chosen = self.heads if last in self.heads else self.heads + [last]
        return {f"{self.sections[i + 1][0]}_{i}": self.outputs[i] for i in chosen}

    def int(self, key, default):
        return int(float(self.options.get(key, default)))

    def float(self, key, default):
        return float(self.options.get(key, default))

    def activate(self, x, default):
        return ACTIVATIONS[self.options.get("activation", default)](x)

    def layers(self, key):
        indices = [int(part) for part in self.options[key].split(",")]
        return [self.outputs[i + self.index if i < 0 else i] for i in indices]

    def normalize(self, x, biases, numbers):
        """P src/blas_kernels.cu normalize_kernel, A src/blas.c normalize_cpu; scale_bias, add_bias."""
        scales, means, variances = numbers
        axes = (slice(None),) + (None,) * (x.ndim - 1)
        x = (x - means[axes]) / np.sqrt(variances[axes] + 0.00001)
        return x * scales[axes] + biases[axes]

    def numbers(self, count):
        return [self.weights.take(kind, count) for kind in ("scales", "means", "variances")]

    def layer_convolutional(self, x):  # A src/convolutional_layer.c, P load_convolutional_weights
        n, size, groups = self.int("filters", 1), self.int("size", 1), self.int("groups", 1)
        groups = 1 if self.int("xnor", 0) else groups
        stride = self.int("stride", 1)
        stride_x, stride_y = self.int("stride_x", stride), self.int("stride_y", stride)
        dilation = self.int("dilation", 1) if size > 1 else 1
        pad = size // 2 if self.int("pad", 0) else self.int("padding", 0)
        c, h, w = x.shape
        if "share_index" in self.options:
            share = self.int("share_index", 0)
            stored = self.kernels[share if share >= 0 else self.index + share]
        else:
            biases = self.weights.take("biases", n)
            numbers = self.numbers(n) if self.int("batch_normalize", 0) else None
            if self.int("flipped", 0):
                kernel = self.weights.take("matrix", c // groups * size * size, n).T
                kernel = kernel.reshape(n, c // groups, size, size)
            else:
                kernel = self.weights.take("weights", n, c // groups, size, size)
            stored = biases, numbers, kernel
        self.kernels[self.index] = stored
        biases, numbers, kernel = stored
        if self.int("binary", 0) or self.int("xnor", 0):
            kernel = binarized(kernel)
        if self.int("xnor", 0):  # binarize_cpu
            x = np.where(x > 0, 1.0, -1.0)
        height, width = (h + 2 * pad - size) // stride_y + 1, (w + 2 * pad - size) // stride_x + 1
        border = pad * dilation
        columns = windows(x, size, stride_y, stride_x, border, border, height, width, 0, dilation)
        columns = columns.reshape(groups, -1, height * width)
        out = np.matmul(kernel.reshape(groups, n // groups, -1), columns)
        out = out.reshape(n, height, width)
        if numbers:
            out = self.normalize(out, biases, numbers)
        else:
            out = out + biases[:, None, None]
        return self.activate(out, "logistic")

    layer_conv = layer_convolutional

    def layer_deconvolutional(self, x):  # P src/deconvolutional_layer.c
        n, size, stride = self.int("filters", 1), self.int("size", 1), self.int("stride", 1)
        pad = size // 2 if self.int("pad", 0) else self.int("padding", 0)
        c, h, w = x.shape
        biases = self.weights.take("biases", n)
        numbers = self.numbers(n) if self.int("batch_normalize", 0) else None
        kernel = self.weights.take("weights", c, n, size, size)
        big = np.zeros((n, (h - 1) * stride + size, (w - 1) * stride + size))
        for y in range(h):
            for z in range(w):
                big[:, y * stride : y * stride + size, z * stride : z * stride + size] += (
                    np.einsum("c,cnrs->nrs", x[:, y, z], kernel)
                )
        out = big[:, pad : big.shape[1] - pad, pad : big.shape[2] - pad]
        if numbers:
            out = self.normalize(out, biases, numbers)
        else:
            out = out + biases[:, None, None]
        return self.activate(out, "logistic")

    def layer_local(self, x):  # P src/local_layer.c
        n, size, stride = self.int("filters", 1), self.int("size", 1), self.int("stride", 1)
        pad = self.int("pad", 0)
        c, h, w = x.shape
        height = (h - (1 if pad else size)) // stride + 1
        width = (w - (1 if pad else size)) // stride + 1
        biases = self.weights.take("biases", n, height, width)
        kernel = self.weights.take("weights", height * width, n, c * size * size)
        columns = windows(x, size, stride, stride, pad, pad, height, width, 0)
        columns = columns.reshape(c * size * size, height * width)
        out = np.einsum("pnk,kp->np", kernel, columns).reshape(n, height, width)
        return self.activate(out + biases, "logistic")

    def layer_connected(self, x):  # P src/connected_layer.c, load_connected_weights
        n = self.int("output", 1)
        biases = self.weights.take("biases", n)
        if self.weights.transposed:
            matrix = self.weights.take("matrix", x.size, n).T
        else:
            matrix = self.weights.take("weights", n, x.size)
        out = matrix @ x.ravel()
        if self.int("batch_normalize", 0):
            out = self.normalize(out, biases, self.numbers(n))
        else:
            out = out + biases
        return self.activate(out.reshape(n, 1, 1), "logistic")

    def pool(self, x):
        stride = self.int("stride", 1)
        stride_x, stride_y = self.int("stride_x", stride), self.int("stride_y", stride)
        size = self.int("size", stride)
        padding = self.int("padding", size - 1)
        c, h, w = x.shape
        height, width = (h + padding - size) // stride_y + 1, (w + padding - size) // stride_x + 1
        start = padding // 2
        return windows(x, size, stride_y, stride_x, start, start, height, width, np.nan)

    def layer_maxpool(self, x):  # A src/maxpool_layer.c
        if self.int("maxpool_depth", 0):
            n = self.int("out_channels", 1)
            return np.stack([x[g::n].max(0) for g in range(n)])
        return np.nanmax(self.pool(x), axis=(1, 2))

    def layer_local_avgpool(self, x):
        return np.nanmean(self.pool(x), axis=(1, 2))

    def layer_avgpool(self, x):
        return x.mean(axis=(1, 2), keepdims=True)

    def layer_route(self, x):  # A src/route_layer.c
        groups, group = self.int("groups", 1), self.int("group_id", 0)
        parts = []
        sources = self.layers("layers")
        for source in sources:
            part = source.size // groups
            parts.append(source.ravel()[group * part : (group + 1) * part])
        out = np.concatenate(parts)
        first = sources[0]
        if all(source.shape[1:] == first.shape[1:] for source in sources):
            return out.reshape((-1,) + first.shape[1:])
        return out.reshape(-1, 1, 1)

    layer_route2 = layer_route3 = layer_route

    def layer_route_lhalf(self, x):  # WongKinYiu's PyTorch_YOLOv4, models.py FeatureConcat_l
        return np.concatenate([source[: len(source) // 2] for source in self.layers("layers")])

    def layer_shortcut(self, x):
        sources = self.layers("from")
        kind = self.options.get("weights_type", "none")
        if kind != "none":  # A src/blas.c shortcut_multilayer_cpu
            count = x.shape[0] if kind == "per_channel" else 1
            weights = self.weights.take("scales", len(sources) + 1, count)
            norm = self.options.get("weights_normalization", "none")
            if norm in ("relu", "avg_relu"):
                weights = np.maximum(weights, 0)
                weights = weights / (1e-4 + weights.sum(0))
            elif norm == "softmax":
                weights = np.exp(weights - weights.max(0))
                weights = weights / (1e-4 + weights.sum(0))
            out = sum(w[:, None, None] * s for w, s in zip(weights, [x] + sources))
        elif len(sources) > 1:
            out = x.copy()
            for source in sources:
                n = min(source.shape[0], x.shape[0])
                out[:n] += source[:n]
        else:  # P src/blas.c shortcut_cpu, without a larger output
            alpha, beta = self.float("alpha", 1), self.float("beta", 1)
            source = sources[0]
            n = min(source.shape[0], x.shape[0])
            step = source.shape[2] // x.shape[2]
            out = x.copy()
            for k in range(n):
                for j in range(x.shape[1]):
                    for i in range(x.shape[2]):
                        out[k, j, i] = alpha * out[k, j, i] + beta * source[k, j * step, i * step]
        return self.activate(out, "linear")

    def layer_scale_channels(self, x):
        return self.activate(x * self.layers("from")[0], "linear")

    layer_sam = layer_scale_channels

    def layer_reorg(self, x):  # P src/reorg_layer.c
        stride, reverse = self.int("stride", 1), self.int("reverse", 0)
        c, h, w = x.shape
        if self.int("extra", 0):  # P: the rest of the output keeps the zeros of its allocation
            return np.concatenate([x.ravel(), np.zeros(self.int("extra", 0))]).reshape(-1, 1, 1)
        if self.int("flatten", 0):
            flat = x.reshape(h * w, c).T if reverse else x.reshape(c, h * w).T
            flat = flat.ravel()
        else:
            flat = reorg_cpu(x.ravel(), w, h, c, stride, bool(reverse))
        if reverse:
            return flat.reshape(c // stride**2, h * stride, w * stride)
        return flat.reshape(c * stride**2, h // stride, w // stride)

    layer_reorg_old = layer_reorg

    def layer_reorg3d(self, x):  # A src/reorg_layer.c
        stride, reverse = self.int("stride", 1), self.int("reverse", 0)
        c, h, w = x.shape
        if reverse:
            c, h, w = c // stride**2, h * stride, w * stride
        else:
            c, h, w = c * stride**2, h // stride, w // stride
        return reorg_cpu(x.ravel(), w, h, c, stride, bool(reverse)).reshape(c, h, w)

    def layer_upsample(self, x):  # P src/blas.c upsample_cpu
        stride, scale = self.int("stride", 2), self.float("scale", 1)
        c, h, w = x.shape
        if stride > 0:
            return scale * x.repeat(stride, 1).repeat(stride, 2)
        n = -stride
        return scale * x.reshape(c, h // n, n, w // n, n).sum(axis=(2, 4))

    def layer_crop(self, x):  # P src/crop_layer.c
        height, width = self.int("crop_height", 1), self.int("crop_width", 1)
        c, h, w = x.shape
        top, left = (h - height) // 2, (w - width) // 2
        out = x[:, top : top + height, left : left + width]
        return out if self.int("noadjust", 0) else 2 * out - 1

    def inner(self, inputs, outputs):
        """A connected layer in a recurrent one, without its activation."""
        biases = self.weights.take("biases", outputs)
        matrix = self.weights.take("weights", outputs, inputs)
        numbers = self.numbers(outputs) if self.int("batch_normalize", 0) else None

        def forward(x):
            out = matrix @ x.ravel()
            return self.normalize(out, biases, numbers) if numbers else out + biases

        return forward

    def state(self, shape, name="state"):
        state = self.states.setdefault(
            f"{self.sections[self.index + 1][0]}_{self.index}_{name}",
            self.random.normal(0, 1, shape).astype(np.float32).astype(np.float64))
        return state

    def keep(self, value, name="state"):
        self.next[f"{self.sections[self.index + 1][0]}_{self.index}_{name}"] = value

    def layer_rnn(self, x):  # P, A src/rnn_layer.c
        outputs = self.int("output", 1)
        hidden = self.int("hidden", outputs)
        first, own, last = (self.inner(*sizes) for sizes in (
            (x.size, hidden), (hidden, hidden), (hidden, outputs)))
        state = self.state((hidden, 1, 1))
        name = self.options.get("activation", "logistic")
        second = {0: name, 1: "logistic", 2: "loggy"}[self.int("logistic", 0)]
        new = ACTIVATIONS[name](first(x)) + ACTIVATIONS[second](own(state))
        new = new + (state.ravel() if self.int("shortcut", 0) else 0)
        self.keep(new.reshape(-1, 1, 1))
        return ACTIVATIONS[name](last(new)).reshape(-1, 1, 1)

    def layer_gru(self, x):  # P, A src/gru_layer.c; the order in the file is that of each
        outputs = self.int("output", 1)
        order = [x.size, outputs] if self.bochkovskiy else [outputs, x.size]
        parts = [[self.inner(inputs, outputs) for _ in "zrh"] for inputs in order]
        of_input, of_state = parts if self.bochkovskiy else parts[::-1]
        state = self.state((outputs, 1, 1))
        z, r = (logistic(of_input[k](x) + of_state[k](state)) for k in (0, 1))
        h = of_input[2](x) + of_state[2](r * state.ravel())
        h = np.tanh(h) if self.int("tanh", 0) else logistic(h)
        new = (z * state.ravel() + (1 - z) * h).reshape(-1, 1, 1)
        self.keep(new)
        return new

    def layer_lstm(self, x):  # P, A src/lstm_layer.c
        outputs = self.int("output", 1)
        gates = "figo" if self.bochkovskiy else "ifog"
        of_state = {gate: self.inner(outputs, outputs) for gate in gates}
        of_input = {gate: self.inner(x.size, outputs) for gate in gates}
        state, cell = self.state((outputs, 1, 1)), self.state((outputs, 1, 1), "cell")
        value = {gate: of_state[gate](state) + of_input[gate](x) for gate in gates}
        cell = logistic(value["f"]) * cell.ravel() + logistic(value["i"]) * np.tanh(value["g"])
        new = (logistic(value["o"]) * np.tanh(cell)).reshape(-1, 1, 1)
        self.keep(new)
        self.keep(cell.reshape(-1, 1, 1), "cell")
        return new

    def same_size(self, inputs, filters):
        """The next convolution of a recurrent section, with its normalization and activation."""
        size, groups = self.int("size", 3), self.int("groups", 1)
        dilation = self.int("dilation", 1)
        bits = self.int("xnor", 0)
        groups = 1 if bits else groups
        biases = self.weights.take("biases", filters)
        numbers = self.numbers(filters) if self.int("batch_normalize", 0) else None
        kernel = self.weights.take("weights", filters, inputs // groups, size, size)
        kernel = binarized(kernel) if bits else kernel
        default = "linear" if self.sections[self.index + 1][0] == "conv_lstm" else "logistic"

        def forward(x):
            x = np.where(x > 0, 1.0, -1.0) if bits else x
            border = size // 2 * dilation
            columns = windows(x, size, 1, 1, border, border, *x.shape[1:], 0, dilation)
            columns = columns.reshape(groups, -1, x[0].size)
            out = np.matmul(kernel.reshape(groups, filters // groups, -1), columns)
            out = out.reshape(filters, *x.shape[1:])
            out = self.normalize(out, biases, numbers) if numbers else out + biases[:, None, None]
            return self.activate(out, default)

        return forward

    def layer_crnn(self, x):  # P, A src/crnn_layer.c
        outputs, hidden = self.int("output", 1), self.int("hidden", 1)
        first, own, last = (self.same_size(inputs, filters) for inputs, filters in (
            (x.shape[0], hidden), (hidden, hidden), (hidden, outputs)))
        state = self.state((hidden,) + x.shape[1:])
        new = first(x) + own(state)
        new = new + (state if self.int("shortcut", 0) else 0)
        self.keep(new)
        return last(new)

    def layer_conv_lstm(self, x):  # A src/conv_lstm_layer.c forward_conv_lstm_layer_gpu
        n, narrow = self.int("output", 1), self.int("bottleneck", 0)
        function = ACTIVATIONS[self.options.get("lstm_activation", "tanh")]
        nothing = lambda x: 0
        v = {gate: self.same_size(n, n) if self.int("peephole", 0) else nothing for gate in "fio"}
        w = {gate: nothing if narrow else self.same_size(n, n) for gate in "figo"}
        if narrow:
            bottleneck = self.same_size(2 * n, n)
        u = {gate: self.same_size(x.shape[0], n) for gate in "figo"}
        state, cell = self.state((n,) + x.shape[1:]), self.state((n,) + x.shape[1:], "cell")
        if narrow:
            x = function(bottleneck(np.concatenate([state, x])))
        f = logistic(w["f"](state) + u["f"](x) + v["f"](cell))
        i = logistic(w["i"](state) + u["i"](x) + v["i"](cell))
        g = function(w["g"](state) + u["g"](x))
        cell = f * cell + i * g
        o = logistic(w["o"](state) + u["o"](x) + v["o"](cell))
        new = o * function(cell)
        limit = self.float("state_constrain", 32)
        self.keep(new)
        self.keep(np.clip(cell, -limit, limit) if limit else cell, "cell")
        if narrow and self.int("shortcut", 0):
            new = new + np.concatenate([x[: n // 2], np.zeros_like(x[n // 2 :])])
        return new

    def layer_activation(self, x):
        return self.activate(x, "linear")

    def layer_logistic(self, x):
        return logistic(x)

    def layer_softmax(self, x):  # P src/softmax_layer.c
        temperature = self.float("temperature", 1)
        if self.float("spatial", 0):
            e = np.exp((x - x.max(0)) / temperature)
            return e / e.sum(0)
        if "tree" in self.options:  # P src/tree.c read_tree, forward_softmax_layer
            with open(os.path.join(self.folder, self.options["tree"])) as file:
                parents = [int(line.split()[1]) for line in file]
            flat, start = x.ravel() / temperature, 0
            out = np.zeros(flat.size)
            for end in range(1, len(parents) + 1):
                if end == len(parents) or parents[end] != parents[start]:
                    e = np.exp(flat[start:end] - flat[start:end].max())
                    out[start:end], start = e / e.sum(), end
            return out.reshape(-1, 1, 1)
        rows = x.reshape(self.int("groups", 1), -1)
        e = np.exp((rows - rows.max(1, keepdims=True)) / temperature)
        return (e / e.sum(1, keepdims=True)).reshape(-1, 1, 1)

    def layer_batchnorm(self, x):
        c = x.shape[0]
        biases = self.weights.take("biases", c) if self.batchnorm_biases else np.zeros(c)
        return self.normalize(x, biases, self.numbers(c))

    def layer_normalization(self, x):
        """P src/normalization_layer.c, with the running sum as it is there."""
        size, c = self.int("size", 5), x.shape[0]
        alpha, beta = self.float("alpha", 0.0001), self.float("beta", 0.75)
        squared = x * x
        norms = np.zeros_like(x)
        norms[0] = self.float("kappa", 1)
        for k in range(size // 2):
            norms[0] += alpha * squared[k]
        for k in range(1, c):
            norms[k] = norms[k - 1]
            previous, following = k - (size - 1) // 2 - 1, k + size // 2
            if previous >= 0:
                norms[k] -= alpha * squared[previous]
            if following < c:
                norms[k] += alpha * squared[following]
        return norms**-beta * x

    def layer_l2norm(self, x):
        return x / np.sqrt((x * x).sum(0))

    def layer_implicit(self, x):
        return self.weights.take("biases", self.int("filters", 128), self.int("atoms", 1), 1)

    def layer_dropout(self, x):
        self.vanished.add(self.index)
        return x

    layer_cost = layer_dropout

    def head(self, x):
        self.heads.append(self.index)
        return x

    layer_region = layer_yolo = layer_yolo4 = layer_gaussian_yolo = layer_detection = head
