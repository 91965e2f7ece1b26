#!/usr/bin/env python3
"""Writes the fixtures beside it: networks that Tests/NetworkBuilderTests describes in Swift, as Keras
has them, and what Keras itself predicts. Needs Keras 3 with tensorflow, h5py, numpy and Pillow; the
files are committed, so that tests need none of them.

    lenet/, lenet.npz         a small digit network; NAME_W.bin and NAME_b.bin, output channels first
    lenet.png, .top5.txt      its picture, and the five best classes
    mixture/, mixture.npz     groups, depthwise, dilation, paddings, strides, activations, sums
    inception.h5, .npz        the Inception module of 64 + 64 + 96 + 32 channels
    vgg16_narrow.h5, .npz     VGG-16 at a sixteenth of its channels
    vgg16.json, .npz          VGG-16; weights and input by formula, see random_weight
    crop.npz                  Pillow's resize with a box

    make.py [NAME ...]        all, or only these
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import h5py
import keras
import numpy as np
from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))
L = keras.layers
U = np.uint64


def split_mix(seed, count):
    """Numbers from -1 to 1 of the SplitMix64 generator: the upper 32 bits, signed, over 2**31."""
    result = np.empty(count, np.float32)
    with np.errstate(over="ignore"):
        for start in range(0, count, 1 << 22):
            i = np.arange(start + 1, min(count, start + (1 << 22)) + 1, dtype=U)
            z = U(seed) + i * U(0x9E3779B97F4A7C15)
            z = (z ^ (z >> U(30))) * U(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> U(27))) * U(0x94D049BB133111EB)
            z = z ^ (z >> U(31))
            signed = (z >> U(32)).astype(np.uint32).view(np.int32)
            result[start:start + len(i)] = signed.astype(np.float32) * np.float32(2.0**-31)
    return result


def random_weight(name, shape, seed):
    """What the Swift type RandomWeights gives for a kernel or a bias of that name."""
    state = 0xCBF29CE484222325
    for byte in name.encode():
        state = ((state ^ byte) * 0x100000001B3) % 2**64
    fan_in = int(np.prod(shape[:-1]))
    radius = np.float32(0.1) if name.endswith("bias") else np.sqrt(np.float32(6) / np.float32(fan_in))
    return (radius * split_mix(seed ^ state, int(np.prod(shape)))).reshape(shape)


def fill(model, generator):
    """Small multiples of 1/256, which compress well, as large as keeps activations in their range."""
    for layer in model.layers:
        values = []
        for value in layer.get_weights():
            scale = 8 if value.ndim == 1 else max(1, round(256 * np.sqrt(1 / np.prod(value.shape[:-1]))))
            values.append((generator.integers(-2, 3, value.shape) * scale / 256).astype("f4"))
        layer.set_weights(values)


def save_h5(model, name):
    path = os.path.join(HERE, name)
    model.save(path + ".whole.h5", include_optimizer=False)
    with h5py.File(path + ".whole.h5", "r") as source, h5py.File(path, "w", track_order=False) as target:
        for key, value in source.attrs.items():
            target.attrs[key] = value
        def copy(name, item):
            if isinstance(item, h5py.Group):
                made = target.require_group(name)
            else:
                made = target.create_dataset(
                    name, data=item[()], compression="gzip" if item.ndim > 1 else None,
                    compression_opts=9 if item.ndim > 1 else None)
            for key, value in item.attrs.items():
                made.attrs[key] = value
        source.visititems(copy)
    os.remove(path + ".whole.h5")


def save_folder(model, name):
    """Output channels first, input channels last."""
    os.makedirs(os.path.join(HERE, name), exist_ok=True)
    for layer in model.layers:
        for weight, value in zip(layer.weights, layer.get_weights()):
            if value.ndim == 4 and isinstance(layer, L.DepthwiseConv2D):
                value = value.transpose(2, 3, 0, 1)
            elif value.ndim == 4:
                value = value.transpose(3, 0, 1, 2)
            elif value.ndim == 2:
                value = value.T
            suffix = "_b" if weight.name == "bias" else "_W"
            value.astype("<f4").tofile(os.path.join(HERE, name, layer.name + suffix + ".bin"))


def save_arrays(name, **arrays):
    np.savez_compressed(os.path.join(HERE, name), **arrays)


def sub_model(model, *names):
    return keras.Model(model.inputs, [model.get_layer(n).output for n in names])


def lenet():
    i = keras.Input((28, 28, 1))
    x = L.Conv2D(4, 5, padding="same", activation="relu", name="conv1")(i)
    x = L.MaxPooling2D(2)(x)
    x = L.Conv2D(8, 5, padding="same", activation="relu", name="conv2")(x)
    x = L.MaxPooling2D(2, name="pool2")(x)
    x = L.Flatten()(x)
    x = L.Dense(16, activation="relu", name="fc1")(x)
    x = L.Dense(10, name="fc2")(x)
    model = keras.Model(i, L.Softmax(name="softmax")(x))
    generator = np.random.default_rng(1)
    fill(model, generator)
    save_folder(model, "lenet")
    picture = generator.integers(0, 256, (1, 28, 28, 1)).astype("u1")
    conv1, pool2, output = sub_model(model, "conv1", "pool2", "softmax").predict(
        picture.astype("f4") / 255, verbose=0)
    Image.fromarray(picture[0, :, :, 0]).save(os.path.join(HERE, "lenet.png"))
    with open(os.path.join(HERE, "lenet.top5.txt"), "w") as file:
        for digit in np.argsort(-output[0], kind="stable")[:5]:
            file.write(f"digit {digit}: {str(np.round(output[0][digit], 4))}\n")
    save_arrays("lenet.npz", picture=picture[0], conv1=conv1[0], pool2=pool2[0], softmax=output[0])


def mixture():
    i = keras.Input((15, 11, 4))
    a = L.Conv2D(8, (3, 5), strides=(2, 1), padding="same", groups=2, activation="tanh", name="grouped")(i)
    b = L.DepthwiseConv2D((3, 2), depth_multiplier=2, padding="valid", name="depthwise")(i)
    b = L.ELU(0.5)(b)
    b = L.ZeroPadding2D(((1, 2), (1, 3)))(b)
    b = L.Conv2D(8, (2, 4), strides=(2, 1), padding="valid", name="padded")(b)
    b = L.LeakyReLU(negative_slope=0.3)(b)
    x = L.Activation("relu")(L.Add(name="sum")([a, b]))
    x = L.AveragePooling2D((3, 2), strides=(1, 1), padding="same", name="average")(x)
    x = L.Conv2D(6, (3, 3), dilation_rate=(2, 2), padding="same", use_bias=False, activation="softplus",
                 name="dilated")(x)
    shared = L.Conv2D(6, (1, 1), activation="softsign", name="shared")
    x = shared(shared(x))
    x = L.MaxPooling2D((3, 2), strides=(2, 3), padding="same", name="max")(x)
    x = L.Dense(5, activation="sigmoid", name="dense")(L.Flatten()(x))
    model = keras.Model(i, x)
    generator = np.random.default_rng(2)
    fill(model, generator)
    save_folder(model, "mixture")
    value = generator.standard_normal((1, 15, 11, 4)).astype("f4")
    mean, output = sub_model(model, "average", "dense")(value)
    save_arrays("mixture.npz", input=value[0], average=np.array(mean)[0], dense=np.array(output)[0])


def inception():
    def conv(x, channels, kernel, name):
        return L.Conv2D(channels, kernel, padding="same", activation="relu", name=name)(x)
    i = keras.Input((9, 7, 16))
    a = conv(i, 64, 1, "mixed_conv")
    b = conv(conv(i, 48, 1, "mixed_tower_conv"), 64, 5, "mixed_tower_conv_1")
    c = conv(i, 64, 1, "mixed_tower_1_conv")
    c = conv(conv(c, 96, 3, "mixed_tower_1_conv_1"), 96, 3, "mixed_tower_1_conv_2")
    d = conv(L.AveragePooling2D(3, strides=1, padding="same")(i), 32, 1, "mixed_tower_2_conv")
    model = keras.Model(i, L.Concatenate(name="mixed")([a, b, c, d]))
    generator = np.random.default_rng(3)
    fill(model, generator)
    save_h5(model, "inception.h5")
    value = generator.standard_normal((1, 9, 7, 16)).astype("f4")
    save_arrays("inception.npz", input=value[0], mixed=model.predict(value, verbose=0)[0])


def vgg(width, side, classes):
    i = keras.Input((side, side, 3))
    x = i
    for block, (channels, count) in enumerate([(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)], 1):
        for index in range(1, count + 1):
            x = L.Conv2D(channels // width, 3, padding="same", activation="relu",
                         name=f"block{block}_conv{index}")(x)
        x = L.MaxPooling2D(2, strides=2, name=f"block{block}_pool")(x)
    x = L.Flatten(name="flatten")(x)
    x = L.Dense(4096 // width, activation="relu", name="fc1")(x)
    x = L.Dense(4096 // width, activation="relu", name="fc2")(x)
    return keras.Model(i, L.Dense(classes, activation="softmax", name="predictions")(x), name="vgg16")


def vgg16_narrow():
    model = vgg(16, 32, 10)
    generator = np.random.default_rng(4)
    fill(model, generator)
    save_h5(model, "vgg16_narrow.h5")
    value = generator.standard_normal((1, 32, 32, 3)).astype("f4")
    fc2, output = sub_model(model, "fc2", "predictions").predict(value, verbose=0)
    save_arrays("vgg16_narrow.npz", input=value[0], fc2=fc2[0], predictions=output[0])


def vgg16():
    model = keras.applications.VGG16(weights=None)
    assert model.count_params() == 138357544
    with open(os.path.join(HERE, "vgg16.json"), "w") as file:
        file.write(model.to_json())
    for layer in model.layers:
        layer.set_weights([
            random_weight(f"{layer.name}/{w.name}", w.shape, seed=16) for w in layer.weights])
    value = split_mix(7, 224 * 224 * 3).reshape(1, 224, 224, 3)
    fc2, output = sub_model(model, "fc2", "predictions").predict(value, verbose=0)
    save_arrays("vgg16.npz", fc2=fc2[0], predictions=output[0])


def crop():
    generator = np.random.default_rng(5)
    pixels = generator.integers(0, 256, (14, 20, 3)).astype("u1")
    picture = Image.fromarray(pixels)
    boxes = np.array([[3, 2, 17, 12], [2.5, 0.25, 20, 13.5], [0, 0, 8, 6]])
    arrays = {
        f"resized{n}": np.asarray(picture.resize((8, 6), Image.BILINEAR, box=tuple(box)))
        for n, box in enumerate(boxes)}
    save_arrays("crop.npz", picture=pixels, boxes=boxes, **arrays)


if __name__ == "__main__":
    makers = (lenet, mixture, inception, vgg16_narrow, vgg16, crop)
    for make in makers:
        if make.__name__ in sys.argv[1:] or len(sys.argv) == 1:
            make()
