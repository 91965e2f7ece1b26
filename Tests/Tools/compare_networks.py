#!/usr/bin/env python3
"""Compares public Caffe networks with OpenCV, both with the same random weights.

    compare_networks.py ASSAY FOLDER [COUNT]

FOLDER is what `public_networks.py collect` filled. Needs numpy and OpenCV 4 (opencv-python-headless<5).
Networks with layers whose weights are not known here are left out, and so are those that OpenCV cannot
run. An output agrees where no element is off by more than 1e-4 of the output's largest value.
"""
import os
import re
import subprocess
import sys
import tempfile

import cv2
import numpy as np

PLAIN = {"ReLU", "Dropout", "LRN", "Softmax", "Sigmoid", "TanH", "ELU", "Eltwise", "Power", "AbsVal", "Split"}


def tokens(text):
    return re.findall(r"#[^\n]*|\"[^\"]*\"|'[^']*'|[{}:]|[^\s{}:#\"']+", text)


def message(words):
    """Fields in order, each a name and a text or another message."""
    fields = []
    while words:
        word = words.pop(0)
        if word.startswith("#") or word in (",", ";"):
            continue
        if word == "}":
            break
        if words and words[0] == ":":
            words.pop(0)
        value = words.pop(0)
        fields.append((word, message(words) if value == "{" else value.strip("\"'")))
    return fields


def get(fields, name, default=None):
    return next((value for key, value in fields if key == name), default)


def every(fields, name):
    return [value for key, value in fields if key == name]


def size(fields, name, short, default):
    own = [get(fields, f"{short}_{axis}") for axis in "hw"]
    given = every(fields, name) or every(fields, short)
    both = [given[0], given[-1]] if given else [default, default]
    return [int(a if a is not None else b) for a, b in zip(own, both)]


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


class Weights:
    def __init__(self):
        self.random, self.data, self.shapes = np.random.default_rng(0), b"", {}

    def layer(self, name, kind, blobs):
        body = field(1, name.encode()) + field(2, kind.encode())
        for blob in blobs:
            blob = np.asarray(blob, "<f4")
            shape = field(1, b"".join(varint(n) for n in blob.shape))
            body += field(7, field(7, shape) + field(5, blob.tobytes()))
        self.data += field(100, body)

    def normal(self, *shape, scale=1.0):
        return self.random.standard_normal(shape, dtype=np.float32) * np.float32(scale)

    def add(self, layer):
        """Makes the weights of a layer, and finds the shapes of its tops."""
        name, kind = get(layer, "name", ""), get(layer, "type", "")
        bottoms, tops = every(layer, "bottom"), every(layer, "top")
        if kind == "Input":
            dims = every(get(get(layer, "input_param", []), "shape", []), "dim")
            self.shapes[tops[0]] = [int(n) for n in dims]
            return
        shape = list(self.shapes[bottoms[0]])
        if kind in ("Convolution", "Deconvolution"):
            p = get(layer, "convolution_param")
            outputs, group = int(get(p, "num_output")), int(get(p, "group", 1))
            kernel, stride = size(p, "kernel_size", "kernel", 1), size(p, "stride", "stride", 1)
            pad, gaps = size(p, "pad", "pad", 0), size(p, "dilation", "dilation", 1)
            first, second = (outputs, shape[1]) if kind == "Convolution" else (shape[1], outputs)
            fan = second // group * kernel[0] * kernel[1]
            blobs = [self.normal(first, second // group, *kernel, scale=(2 / fan) ** 0.5)]
            if get(p, "bias_term", "true") == "true":
                blobs.append(self.normal(outputs, scale=0.1))
            self.layer(name, kind, blobs)
            for i in (0, 1):
                span = (kernel[i] - 1) * gaps[i] + 1
                shape[2 + i] = ((shape[2 + i] + 2 * pad[i] - span) // stride[i] + 1 if kind == "Convolution"
                                else stride[i] * (shape[2 + i] - 1) + span - 2 * pad[i])
            shape[1] = outputs
        elif kind == "InnerProduct":
            p = get(layer, "inner_product_param")
            outputs, inputs = int(get(p, "num_output")), int(np.prod(shape[1:]))
            blobs = [self.normal(outputs, inputs, scale=(2 / inputs) ** 0.5)]
            if get(p, "bias_term", "true") == "true":
                blobs.append(self.normal(outputs, scale=0.1))
            self.layer(name, kind, blobs)
            shape = [shape[0], outputs]
        elif kind == "BatchNorm":
            n = shape[1]
            self.layer(name, kind, [self.normal(n, scale=0.1), np.abs(self.normal(n, scale=0.2)) + 1,
                                    np.float32([1])])
        elif kind == "Scale" and len(bottoms) == 1:
            p = get(layer, "scale_param", [])
            blobs = [self.normal(shape[1], scale=0.05) + np.float32(0.8)]
            if get(p, "bias_term", "false") == "true":
                blobs.append(self.normal(shape[1], scale=0.1))
            self.layer(name, kind, blobs)
        elif kind == "PReLU":
            self.layer(name, kind, [np.abs(self.normal(shape[1], scale=0.2))])
        elif kind == "Pooling":
            p = get(layer, "pooling_param")
            if get(p, "global_pooling") == "true":
                shape[2:] = [1, 1]
            else:
                kernel, stride = size(p, "kernel_size", "kernel", 1), size(p, "stride", "stride", 1)
                pad = size(p, "pad", "pad", 0)
                floor = get(p, "ceil_mode") == "false" or get(p, "round_mode") == "FLOOR"
                for i in (0, 1):
                    rest = shape[2 + i] + 2 * pad[i] - kernel[i]
                    count = (rest if floor else rest + stride[i] - 1) // stride[i] + 1
                    if pad[i] and (count - 1) * stride[i] >= shape[2 + i] + pad[i]:
                        count -= 1
                    shape[2 + i] = count
        elif kind == "Concat":
            shape[1] = sum(self.shapes[bottom][1] for bottom in bottoms)
        elif kind == "Flatten":
            shape = [shape[0], int(np.prod(shape[1:]))]
        elif kind not in PLAIN:
            raise ValueError(kind)
        for top in tops:
            self.shapes[top] = list(shape)


def random_weights(text):
    """The weights, the input's name and its shape; None for a network that is not known here."""
    fields = message(tokens(text))
    weights = Weights()
    names = every(fields, "input")
    dims = [int(n) for n in every(fields, "input_dim")]
    shapes = [[int(n) for n in every(s, "dim")] for s in every(fields, "input_shape")]
    try:
        if names:
            weights.shapes[names[0]] = (dims or shapes[0])[:4]
        for layer in every(fields, "layer"):
            weights.add(layer)
    except (ValueError, KeyError, IndexError, TypeError):
        return None
    first = next(iter(weights.shapes), None)
    if len(names) > 1 or first is None or not weights.data:
        return None
    shape = [1] + weights.shapes[first][1:]
    return (weights.data, first, shape) if np.prod(shape) < 3 * 520 * 520 else None


def compare(assay, path, folder):
    with open(path, errors="replace") as file:
        text = file.read()
    made = random_weights(text)
    if made is None:
        return None
    data, name, shape = made
    # One image, whatever the batch.
    text = re.sub(r"(input_dim:|dim:)\s*\d+", lambda m: f"{m[1]} 1", text, count=1)
    base = os.path.join(folder, "net")
    with open(base + ".prototxt", "w") as file:
        file.write(text)
    with open(base + ".caffemodel", "wb") as file:
        file.write(data)
    image = np.random.default_rng(1).uniform(-2, 2, shape).astype(np.float32)
    try:
        net = cv2.dnn.readNetFromCaffe(base + ".prototxt", base + ".caffemodel")
        net.setInput(image, name)
        outputs = net.getUnconnectedOutLayersNames()
        expected = net.forward(outputs)
    except cv2.error:
        return None
    np.save(base + ".npy", image)
    run = subprocess.run(
        [assay, "run", base + ".prototxt", base + ".caffemodel", base + ".npy", "-o", base + ".npz", "-q"],
        capture_output=True, text=True)
    if run.returncode:
        return False, run.stderr.strip().splitlines()[0]
    found = np.load(base + ".npz")
    found = [found[key].ravel() for key in found.files]
    worst = 0.0
    for value in expected:
        near = [np.abs(other - value.ravel()).max() for other in found if other.size == value.size]
        worst = max(worst, min(near, default=np.inf) / max(np.abs(value).max(), 1e-30))
    return bool(worst <= 1e-4), f"{worst:.1e} of the largest value"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    assay, source = os.path.abspath(sys.argv[1]), sys.argv[2]
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 1 << 30
    agreed = compared = 0
    for name in sorted(os.listdir(source)):
        if not name.endswith(".prototxt") or compared >= most:
            continue
        with tempfile.TemporaryDirectory() as folder:
            result = compare(assay, os.path.join(source, name), folder)
        if result is not None:
            compared += 1
            agreed += result[0]
            print(f"{name}: {'agrees' if result[0] else 'DIFFERS'}, {result[1]}", flush=True)
    print(f"{agreed} of {compared} agree")
    sys.exit(0 if agreed == compared else 1)


if __name__ == "__main__":
    main()
