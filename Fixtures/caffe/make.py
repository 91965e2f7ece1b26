#!/usr/bin/env python3
"""make.py — writes the Caffe fixtures beside it. Needs numpy, h5py and OpenCV 4 (opencv-python-headless<5).

One small network in every form that Caffe has had: padded convolution, ReLU in place, max pooling,
inner product, softmax. All weights are a few bits long, so that every number format holds them
exactly.
`expected.npy` is what OpenCV answers for `input.npy`.
"""
import os, struct
import cv2, h5py, numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))
random = np.random.default_rng(5)


def eighths(*shape):
    return (random.integers(-12, 13, shape) / 8).astype(np.float32)


weights = {
    "conv": [eighths(4, 3, 3, 3), eighths(4)],
    "fc": [eighths(5, 36) / 64, eighths(5)],
}

# Protobuf's wire format.


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def integer(number, value):
    return varint(number << 3) + varint(value)


def delimited(number, payload):
    payload = payload.encode() if isinstance(payload, str) else payload
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def dims(array):
    return delimited(7, delimited(1, b"".join(varint(n) for n in array.shape)))


def single(array):
    return dims(array) + delimited(5, array.astype("<f4").tobytes())


def double(array):
    return dims(array) + delimited(8, array.astype("<f8").tobytes())


def half(array):
    return dims(array) + integer(10, 2) + delimited(12, array.astype("<f2").tobytes())


def legacy(array):
    sizes = (1,) * (4 - array.ndim) + array.shape
    head = b"".join(integer(i + 1, n) for i, n in enumerate(sizes))
    return head + delimited(5, array.astype("<f4").tobytes())


def loose(array):
    """Not packed: a key before every value."""
    return dims(array) + b"".join(b"\x2d" + struct.pack("<f", x) for x in array.ravel())


def layer(name, type, blob):
    blobs = b"".join(delimited(7, blob(w)) for w in weights[name])
    return delimited(100, delimited(1, name) + delimited(2, type) + blobs)


def caffemodel(path, blob):
    with open(path, "wb") as f:
        f.write(delimited(1, "small") + layer("conv", "Convolution", blob)
                + layer("fc", "InnerProduct", blob))


caffemodel("single.caffemodel", single)
caffemodel("double.caffemodel", double)
caffemodel("half.caffemodel", half)
caffemodel("loose.caffemodel", loose)

# V1: `layers`, enumerated types, legacy shapes. V0: a layer inside each.
with open("v1.caffemodel", "wb") as f:
    for name, type in (("conv", 4), ("fc", 14)):
        blobs = b"".join(delimited(6, legacy(w)) for w in weights[name])
        f.write(delimited(2, delimited(4, name) + integer(5, type) + blobs))
with open("v0.caffemodel", "wb") as f:
    for name, type in (("conv", "conv"), ("fc", "innerproduct")):
        blobs = b"".join(delimited(50, legacy(w)) for w in weights[name])
        f.write(delimited(2, delimited(1, delimited(1, name) + delimited(2, type) + blobs)))

with h5py.File("hdf5.caffemodel.h5", "w") as f:
    for name, arrays in weights.items():
        group = f.create_group("data/" + name)
        for index, array in enumerate(arrays):
            group.create_dataset(str(index), data=array)

v2 = """name: "small"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 6 dim: 6 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 4 kernel_size: 3 pad: 1 } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool"
  pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "fc" type: "InnerProduct" bottom: "pool" top: "fc" inner_product_param { num_output: 5 } }
layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }
"""
v1 = """name: "small"
input: "data"
input_dim: 1 input_dim: 3 input_dim: 6 input_dim: 6
layers { name: "conv" type: CONVOLUTION bottom: "data" top: "conv" blobs_lr: 1 blobs_lr: 2 weight_decay: 0
  convolution_param { num_output: 4 kernel_size: 3 pad: 1 } }
layers { name: "relu" type: RELU bottom: "conv" top: "conv" }
layers { name: "pool" type: POOLING bottom: "conv" top: "pool"
  pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layers { name: "fc" type: INNER_PRODUCT bottom: "pool" top: "fc" inner_product_param { num_output: 5 } }
layers { name: "prob" type: SOFTMAX bottom: "fc" top: "prob" }
"""
v0 = """name: "small"
input: "data"
input_dim: 1
input_dim: 3
input_dim: 6
input_dim: 6
layers { layer { name: "padding" type: "padding" pad: 1 } bottom: "data" top: "padded" }
layers { layer { name: "conv" type: "conv" num_output: 4 kernelsize: 3 blobs_lr: 1. blobs_lr: 2. }
  bottom: "padded" top: "conv" }
layers { layer { name: "relu" type: "relu" } bottom: "conv" top: "conv" }
layers { layer { name: "pool" type: "pool" pool: MAX kernelsize: 2 stride: 2 } bottom: "conv" top: "pool" }
layers { layer { name: "fc" type: "innerproduct" num_output: 5 } bottom: "pool" top: "fc" }
layers { layer { name: "prob" type: "softmax" } bottom: "fc" top: "prob" }
"""
for path, text in (("v2.prototxt", v2), ("v1.prototxt", v1), ("v0.prototxt", v0)):
    with open(path, "w") as f:
        f.write(text)

# A caffemodel alone: the network with its weights.
def message(fields):
    return b"".join(fields)


with open("whole.caffemodel", "wb") as f:
    shape = delimited(1, delimited(1, b"\x01\x03\x06\x06"))
    f.write(delimited(100, delimited(1, "data") + delimited(2, "Input") + delimited(4, "data")
                      + delimited(143, shape)))
    convolution = integer(1, 4) + integer(4, 3) + integer(3, 1)
    f.write(delimited(100, message([
        delimited(1, "conv"), delimited(2, "Convolution"), delimited(3, "data"), delimited(4, "conv"),
        *[delimited(7, single(w)) for w in weights["conv"]], delimited(106, convolution)])))
    f.write(delimited(100, delimited(1, "relu") + delimited(2, "ReLU") + delimited(3, "conv")
                      + delimited(4, "conv")))
    pooling = integer(1, 0) + integer(2, 2) + integer(3, 2)
    f.write(delimited(100, delimited(1, "pool") + delimited(2, "Pooling") + delimited(3, "conv")
                      + delimited(4, "pool") + delimited(121, pooling)))
    f.write(delimited(100, message([
        delimited(1, "fc"), delimited(2, "InnerProduct"), delimited(3, "pool"), delimited(4, "fc"),
        *[delimited(7, single(w)) for w in weights["fc"]], delimited(117, integer(1, 5))])))
    f.write(delimited(100, delimited(1, "prob") + delimited(2, "Softmax") + delimited(3, "fc")
                      + delimited(4, "prob")))

# A mean image, two pixels larger than the input in each direction, of each channel's own values.
mean = np.arange(3 * 8 * 8, dtype=np.float32).reshape(1, 3, 8, 8) / 4
with open("mean.binaryproto", "wb") as f:
    f.write(legacy(mean))
np.save("mean.npy", mean[0])

x = (random.integers(-16, 17, (1, 3, 6, 6)) / 8).astype(np.float32)
net = cv2.dnn.readNetFromCaffe("v2.prototxt", "single.caffemodel")
net.setInput(x, "data")
np.save("input.npy", x)
np.save("expected.npy", net.forward("prob").astype(np.float32))
