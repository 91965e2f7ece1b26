#!/usr/bin/env python3
"""make_photographs.py RESNET.h5 DETECTOR.caffemodel — makes the classifier and the detector of the demonstration.

cifar10_resnet.h5: the network as it was published, without its optimiser's state.
mobilenet_yolo.caffemodel: the same weights as half floats (NVCaffe's form of a blob: `raw_data_type`
FLOAT16 and `raw_data`), which moves no number of the two grids by more than 0.4 % of the largest.
Needs h5py and numpy; the sources are named in README.md."""
import os
import sys

import h5py
import numpy as np


def varint(data, at):
    result = shift = 0
    while True:
        byte = data[at]
        at += 1
        result |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return result, at


def encoded(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def fields(data):
    """Number, whole field and, of bytes, the payload."""
    at = 0
    while at < len(data):
        tag, start = varint(data, at)
        payload = None
        if tag & 7 == 0:
            _, end = varint(data, start)
        elif tag & 7 == 2:
            count, start = varint(data, start)
            end = start + count
            payload = data[start:end]
        else:
            end = start + (4 if tag & 7 == 5 else 8)
        yield tag >> 3, data[at:end], payload
        at = end


def delimited(number, payload):
    return encoded(number << 3 | 2) + encoded(len(payload)) + payload


def blob(data):
    out = b""
    for number, field, payload in fields(data):
        if number == 5 and payload is not None:  # data, packed
            halves = np.frombuffer(payload, "<f4").astype("<f2")
            assert np.isfinite(halves).all()
            field = encoded(10 << 3) + encoded(2) + delimited(12, halves.tobytes())
        out += field
    return out


def layer(data):
    return b"".join(delimited(7, blob(p)) if n == 7 else field for n, field, p in fields(data))


def main():
    resnet, detector = sys.argv[1:]
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    with h5py.File(resnet) as source, h5py.File("cifar10_resnet.h5", "w") as target:
        for key, value in source.attrs.items():
            if key != "training_config":
                target.attrs[key] = value
        source.copy("model_weights", target)
    with open(detector, "rb") as file:
        data = file.read()
    with open("mobilenet_yolo.caffemodel", "wb") as file:
        file.write(b"".join(delimited(100, layer(p)) if n == 100 else f for n, f, p in fields(data)))


if __name__ == "__main__":
    main()
