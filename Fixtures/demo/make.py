#!/usr/bin/env python3
"""Makes the demonstration network, picture and expected answer. Needs tensorflow 2.21, tf_keras, numpy and pillow.

A classifier of three colours with a Swish activation in a Lambda layer: convolution, batch
normalisation, Swish, pooling, dense, softmax, on pictures of 64 x 64. Weights are random, with a
fixed seed; the answer is what Keras says."""
import json
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import h5py
import numpy as np
import tf_keras as keras
from tf_keras import layers
from PIL import Image

def swish(x):
    return keras.backend.sigmoid(x) * x

rng = np.random.default_rng(7)
y, x = np.mgrid[0:64, 0:64] / 63.0
picture = np.stack([x, y, 0.5 + 0.5 * np.sin(12 * x) * np.cos(9 * y)], -1)
picture = np.rint(255 * picture).astype(np.uint8)
Image.fromarray(picture).save("picture.png", optimize=True)

inputs = layers.Input((64, 64, 3), name="image")
t = layers.Conv2D(12, 3, strides=2, padding="same", name="conv")(inputs)
t = layers.BatchNormalization(name="norm")(t)
t = layers.Lambda(swish, name="swish")(t)
t = layers.MaxPooling2D(2, name="pool")(t)
t = layers.Conv2D(20, 3, activation="relu", name="conv2")(t)
t = layers.GlobalAveragePooling2D(name="average")(t)
outputs = layers.Dense(3, activation="softmax", name="dense")(t)
model = keras.Model(inputs, outputs, name="demo")
for layer in model.layers:
    weights = []
    for w in layer.weights:
        if "variance" in w.name:
            value = rng.uniform(0.5, 1.5, w.shape)
        elif "gamma" in w.name:
            value = rng.uniform(0.8, 1.2, w.shape)
        else:
            value = rng.normal(0, np.sqrt(1.0 / max(1, np.prod(w.shape[:-1]))), w.shape)
        weights.append(value.astype(np.float32))
    layer.set_weights(weights)
model.save("full.h5", save_format="h5", include_optimizer=False)
# Keras 2.15 refuses the field `optional` of an input, which later versions write.
with h5py.File("full.h5") as full, h5py.File("swish.h5", "w") as file:
    for name in full:
        full.copy(name, file)
    for name, value in full.attrs.items():
        file.attrs[name] = value
    configuration = json.loads(full.attrs["model_config"])
    for layer in configuration["config"]["layers"]:
        layer["config"].pop("optional", None)
    file.attrs["model_config"] = json.dumps(configuration)
os.remove("full.h5")
# the network is converted with an image scale of 1/127.5 and biases of -1
answer = model.predict(picture[None].astype(np.float32) / 127.5 - 1, verbose=0)
np.savez("expected.npz", color=answer)
print(answer)
