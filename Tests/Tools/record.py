"""Runs the scripts of `assay record` in the Keras of this Python, and compares what they write.

    python3 -m venv venv && venv/bin/pip install 'tensorflow-cpu==2.15.*'     # Keras 2
    python3 -m venv venv && venv/bin/pip install keras 'jax[cpu]' h5py        # Keras 3
    venv/bin/python Tests/Tools/record.py .build/debug/assay [MODEL…]

Runs the Python of README.md and docs/first-custom-layer.md, which needs TensorFlow and Pillow, and the
script for the network with a Lambda in Fixtures/demo. Makes networks with shared layers, nested models that are called twice, several inputs and outputs, a
sequence and an image; or takes the models that are named. Keras 1.2 runs on Theano-PyMC 1.1 with
NumPy 1.23, once the names that Python has removed since are put back (`collections.Iterable`,
`inspect.getargspec`).
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

try:
    import tensorflow as tf
    keras = tf.keras
    version = 3 if hasattr(keras, "ops") else 2
except ImportError:
    import keras
    version = int(keras.__version__.split(".")[0])

assay = os.path.abspath(sys.argv[1])
models = [os.path.abspath(path) for path in sys.argv[2:]]
random = np.random.RandomState(3)


def shared():
    """Layers and models that are called twice, two inputs, two outputs."""
    layers, Model = keras.layers, keras.models.Model
    Dense, Input = layers.Dense, layers.Input
    x, y, z = Input((6,)), Input((6,)), Input((5,))
    twice = Dense(5, activation="tanh", name="twice")
    h = twice(twice(z))
    inner = Model(z, [h, Dense(2, name="two")(h)], name="inner")
    chain = keras.models.Sequential(
        [Dense(5, activation="relu", input_shape=(5,), name="s1"), layers.Dropout(0.5), Dense(5, name="s2")])
    first = Dense(5, name="first")
    p, q = inner(first(x))
    r, s = inner(first(y))
    t, u = chain(p), chain(r)
    if version == 1:
        total = layers.merge([t, u], mode="sum", name="sum")
        joined = layers.merge([q, s, total], mode="concat", name="joined")
    else:
        total = layers.Add(name="sum")([t, u])
        joined = layers.Concatenate(name="joined")([q, s, total])
    return Model([x, y], [total, Dense(3, activation="softmax", name="end")(joined)]), [(2, 6), (2, 6)]


def sequence():
    layers = keras.layers
    return keras.models.Sequential([
        layers.LSTM(4, return_sequences=True, input_shape=(5, 3), name="lstm"),
        layers.GRU(3, name="gru"), layers.Dense(2, name="out")]), [(3, 5, 3)]


def image():
    layers = keras.layers
    convolution = (
        layers.Convolution2D(4, 3, 3, border_mode="same", input_shape=(8, 8, 3), dim_ordering="tf", name="conv")
        if version == 1 else layers.Conv2D(4, 3, padding="same", input_shape=(8, 8, 3), name="conv"))
    return keras.models.Sequential([
        convolution, layers.BatchNormalization(name="norm"), layers.Activation("relu", name="relu"),
        layers.Flatten(name="flat"), layers.Dense(2, activation="softmax", name="out")]), [(2, 8, 8, 3)]


def run(*words):
    result = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit("%s\n%s" % (" ".join(words), result.stdout[-4000:]))
    return result.stdout


def check(name, path, inputs, options=("--custom-layers", "allow")):
    run(assay, "record", path, *inputs, "-o", "record.py")
    run(sys.executable, "record.py")
    run(assay, "convert", path, "-o", "model.mlmodel", "-q", *options)
    text = run(assay, "diff", "model.mlmodel", "inputs.npz", "--expected", "expected.npz",
               "--layers", "layers.npz")
    compared = text.count("  agrees  ")
    print("%s: %d arrays agree" % (name, compared))


def check_pages():
    """The Python of the pages writes what Fixtures/demo/expected.npz contains."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    demo = os.path.join(root, "Fixtures", "demo")
    for page in ("README.md", "docs/first-custom-layer.md"):
        with open(os.path.join(root, page), encoding="utf-8") as file:
            blocks = re.findall(r"```python\n(.*?)```", file.read(), re.DOTALL)
        for block in blocks:
            if "load_model" not in block:
                continue
            for name in ("swish.h5", "picture.png"):
                shutil.copy(os.path.join(demo, name), name)
            run(sys.executable, "-c", block)
            written = re.search(r'savez\("(.*?)"', block).group(1)
            difference = np.abs(np.load(written)["color"] - np.load(os.path.join(demo, "expected.npz"))["color"])
            if difference.max() > 1e-5:
                sys.exit("%s: the prediction differs by %g" % (page, difference.max()))
            print("%s: its Python agrees" % page)
    check("swish", "swish.h5", [], [])


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    if models:
        for path in models:
            check(os.path.basename(path), path, [])
    if not models and "tf" in globals():
        check_pages()
    for make in [] if models else [shared, sequence, image]:
        model, shapes = make()
        model.save("model.h5")
        run(assay, "convert", "model.h5", "-o", "names.mlmodel", "-q")
        names = json.loads(run(assay, "inspect", "names.mlmodel", "--json"))["inputs"]
        np.savez("in.npz", **{
            names[i]["name"]: random.normal(size=s).astype("float32") for i, s in enumerate(shapes)})
        check(make.__name__, "model.h5", ["in.npz"])
