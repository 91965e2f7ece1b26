#!/usr/bin/env python3
"""tiny_yolo.py ASSAY [--keep FOLDER] — Tiny YOLO of Pascal VOC from Keras 1.2 and Keras 2.

Nine convolutions, batch normalization with epsilon 1e-3, leaky rectifiers of 0.1 and six max
poolings, the last with stride 1, with random weights. tf_keras builds the network and saves it as
Keras 2's .h5; the same weights are written as Keras 1.2.2 did. Both are converted with an image as
input, and the grid that they make of a picture is compared with tf_keras' own. Needs tensorflow,
tf_keras and h5py; exits with 1 where something differs."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
FILTERS = [16, 32, 64, 128, 256, 512, 1024, 1024]
SIDE, CHANNELS, GRID = 416, 125, 13
OPTIONS = ["--input-name", "image", "--image-input", "image", "--output-name", "grid", "--image-scale", "1/255"]


def build():
    import numpy as np
    import tf_keras as keras
    L = keras.layers
    model = keras.Sequential([L.Input((SIDE, SIDE, 3))])
    for index, filters in enumerate(FILTERS):
        model.add(L.Conv2D(filters, 3, padding="same", use_bias=False, name=f"conv_{index + 1}"))
        model.add(L.BatchNormalization(epsilon=1e-3, name=f"norm_{index + 1}"))
        model.add(L.LeakyReLU(0.1, name=f"leaky_{index + 1}"))
        if index < 6:
            stride = 2 if index < 5 else 1
            model.add(L.MaxPooling2D(2, strides=stride, padding="same" if stride == 1 else "valid",
                                     name=f"pool_{index + 1}"))
    model.add(L.Conv2D(CHANNELS, 1, padding="same", name="conv_9"))
    generator = np.random.default_rng(9)
    for layer in model.layers:
        values = []
        for weight in layer.weights:
            value = generator.normal(size=weight.shape)
            if "kernel" in weight.name:
                value *= np.sqrt(2 / np.prod(weight.shape[:-1]))
            elif "variance" in weight.name:
                value = np.abs(value) * 0.2 + 0.9
            elif "gamma" in weight.name:
                value = value * 0.1 + 1
            else:
                value *= 0.1
            values.append(value.astype("float32"))
        layer.set_weights(values)
    return model


def save_as_keras1(model, path):
    """The file that Keras 1.2.2 with TensorFlow wrote of the same network."""
    import h5py
    import numpy as np
    layers = []
    with h5py.File(path, "w") as file:
        file.attrs["keras_version"] = b"1.2.2"
        group = file.create_group("model_weights")
        group.attrs["keras_version"] = b"1.2.2"
        names = []
        for layer in model.layers:
            kind, config = type(layer).__name__, {"name": layer.name, "trainable": True}
            weights = []
            if kind == "Conv2D":
                kind = "Convolution2D"
                config.update(nb_filter=layer.filters, nb_row=layer.kernel_size[0], nb_col=layer.kernel_size[1],
                              border_mode=layer.padding, subsample=[1, 1], dim_ordering="tf", activation="linear",
                              bias=layer.use_bias, init="glorot_uniform", W_regularizer=None, b_regularizer=None,
                              activity_regularizer=None, W_constraint=None, b_constraint=None)
                weights = [("W", layer.get_weights()[0])]
                if layer.use_bias:
                    weights.append(("b", layer.get_weights()[1]))
            elif kind == "BatchNormalization":
                config.update(mode=0, axis=-1, epsilon=layer.epsilon, momentum=0.99, gamma_regularizer=None,
                              beta_regularizer=None)
                # What Keras 1 calls running_std is the variance.
                weights = list(zip(("gamma", "beta", "running_mean", "running_std"), layer.get_weights()))
            elif kind == "LeakyReLU":
                config.update(alpha=0.1)
            else:
                config.update(pool_size=[2, 2], strides=list(layer.strides), border_mode=layer.padding,
                              dim_ordering="tf")
            if not layers:
                config["batch_input_shape"] = [None, SIDE, SIDE, 3]
                config["input_dtype"] = "float32"
            layers.append({"class_name": kind, "config": config})
            names.append(layer.name.encode())
            stored = group.create_group(layer.name)
            stored.attrs["weight_names"] = np.array([f"{layer.name}_{n}:0".encode() for n, _ in weights], "S40")
            for name, value in weights:
                stored[f"{layer.name}_{name}:0"] = value
        group.attrs["layer_names"] = np.array(names)
        file.attrs["model_config"] = json.dumps({"class_name": "Sequential", "config": layers}).encode()


def call(*arguments):
    process = subprocess.run(arguments, capture_output=True, text=True)
    if process.returncode not in (0, 1):
        sys.exit(process.stderr.strip())
    return process


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("--keep")
    options = parser.parse_args()
    import numpy as np
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        folder = options.keep or folder
        os.makedirs(folder, exist_ok=True)
        model = build()
        # A picture with smooth and noisy parts.
        rows, columns = np.mgrid[0:SIDE, 0:SIDE]
        picture = np.stack([rows % 256, columns % 256, (rows * columns) // 97 % 256], -1).astype("uint8")[None]
        grid = model.predict(picture.astype("float32") / 255, verbose=0)
        np.savez(f"{folder}/inputs.npz", image=picture)
        np.savez(f"{folder}/expected.npz", grid=grid)
        model.save(f"{folder}/keras2.h5", include_optimizer=False)
        save_as_keras1(model, f"{folder}/keras1.h5")
        largest = float(np.abs(grid).max())
        for name in ("keras1", "keras2"):
            converted = f"{folder}/{name}.mlmodel"
            result = call(options.assay, "convert", f"{folder}/{name}.h5", *OPTIONS, "-o", converted)
            if result.returncode:
                sys.exit(result.stderr.strip())
            shown = json.loads(call(options.assay, "inspect", converted, "--json").stdout)
            interface = [feature["name"] + " " + feature["type"] for feature in shown["inputs"] + shown["outputs"]]
            wanted = [f"image image {SIDE}×{SIDE} RGB", f"grid array {CHANNELS}×{GRID}×{GRID} double"]
            failed |= interface != wanted
            print(f"{name}: {', '.join(interface)}{'' if interface == wanted else ', WANTED ' + ', '.join(wanted)}")
            result = call(options.assay, "diff", converted, f"{folder}/inputs.npz", "--expected",
                          f"{folder}/expected.npz", "--rtol", "0", "--atol", repr(1e-4 * largest))
            verdict = "match" if result.returncode == 0 else "DIFFERS"
            print(f"{name}: {verdict}, largest {largest:.3g}")
            print("\n".join(line for line in result.stdout.splitlines() if "error" in line))
            failed |= result.returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
