#!/usr/bin/env python3
"""Writes small networks of layers with sources of their own, with Keras's predictions.

    make.py [NAME…]

Beside `NAME.keras` and `NAME.h5` are the inputs `input1`… and the predictions `output1`…. The layers are
in `layers.py`, which imports `helpers.py`, and, for the names with `old_`, in `old_layers.py`. Needs
tensorflow 2.21, keras 3.15 and tf_keras 2.21.
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import keras
import numpy as np
import tf_keras

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import layers as new

os.environ["TF_USE_LEGACY_KERAS"] = "1"


def save(name, model, forms, *shapes):
    if sys.argv[1:] and name not in sys.argv[1:]:
        return
    rng = np.random.default_rng(len(name))
    model.set_weights(
        [
            rng.uniform(0.2, 0.9, w.shape) if "variance" in w.name else rng.normal(0, 0.4, w.shape)
            for w in model.weights
        ]
    )
    inputs = [rng.normal(size=(2, *shape)).astype("float32") for shape in shapes]
    output = model.predict(inputs if len(inputs) > 1 else inputs[0], verbose=0)
    path = os.path.join(HERE, name)
    np.savez_compressed(path + ".inputs.npz", **{f"input{i + 1}": x for i, x in enumerate(inputs)})
    np.savez_compressed(path + ".expected.npz", output1=output)
    for form in forms:
        model.save(f"{path}.{form}")


def sequential(shape, *layers):
    return keras.Sequential([keras.Input(shape), *layers])


BOTH = ("keras", "h5")
save("scaled", sequential((5,), new.Scaled(0.7, 0.1, "square"), new.Scaled()), BOTH, (5,))
save("affine", sequential((6,), new.Affine(4, activation="relu"), new.Affine(3, False)), BOTH, (6,))
save("affine_steps", sequential((5, 6), new.Affine(4, activation="gelu")), BOTH, (5, 6))
save("excite", sequential((6, 6, 8), new.SqueezeExcite(2)), BOTH, (6, 6, 8))
save("stack", sequential((6, 6, 3), new.Stack(4)), BOTH, (6, 6, 3))
save("mixer", sequential((5, 8), new.TokenMixer(2, 4)), BOTH, (5, 8))
save("patches", sequential((6, 6, 3), new.Patches(2), new.Affine(4)), BOTH, (6, 6, 3))
net = new.Net(5)
net(np.zeros((1, 6, 6, 3), "float32"))
save("subclassed", net, ("keras",), (6, 6, 3))

import old_layers as old

chain = tf_keras.Sequential([tf_keras.Input((7, 6)), old.AttentionLayer(5)])
save("old_attention", chain, ("h5",), (7, 6))
chain = tf_keras.Sequential([tf_keras.Input((6, 6, 3)), old.Conv(4, (2, 2))])
save("old_conv", chain, ("h5",), (6, 6, 3))
a, b = tf_keras.Input((4,)), tf_keras.Input((3,))
save("old_two", tf_keras.Model([a, b], old.Two(5)([a, b])), ("h5",), (4,), (3,))
