#!/usr/bin/env python3
"""Writes small networks with quantizers, with anchor boxes, and with a batch of declared size.

    make_quantizers.py SSD_KERAS

Beside `NAME.h5` or `NAME.keras` are the inputs `input1`… and the predictions `output1`…. Needs
tensorflow 2.15, mct-quantizers 1.7.0 and, in the folder SSD_KERAS, a clone of
github.com/pierluigiferrari/ssd_keras, commit 3ac9adaf3889f1020d74b0eeefea281d5e82f353.
"""
import os
import sys
import types

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from mct_quantizers import KerasActivationQuantizationHolder as Holder
from mct_quantizers import KerasQuantizationWrapper as Wrapper
from mct_quantizers.keras import quantizers

HERE = os.path.dirname(os.path.abspath(__file__))


def save(name, inputs, outputs, batch=1):
    model = keras.Model(inputs, outputs)
    generator = np.random.default_rng(len(name))
    for weight in model.weights:
        if weight.dtype == tf.float32:
            weight.assign(generator.normal(0, 0.4, weight.shape))
    array = generator.standard_normal((batch, *inputs.shape[1:])).round(3).astype(np.float32)
    settings = {"include_optimizer": False} if name.endswith(".h5") else {}
    model.save(os.path.join(HERE, name), **settings)
    predictions = model.predict(array, batch_size=batch, verbose=0)
    predictions = predictions if isinstance(predictions, list) else [predictions]
    path = os.path.join(HERE, name.split(".")[0])
    # Core ML takes one item of the batch.
    np.savez(path + ".inputs.npz", input1=array[:1])
    np.savez(path + ".expected.npz",
             **{f"output{i + 1}": p[: len(p) // batch] for i, p in enumerate(predictions)})
    keras.backend.clear_session()


def quantized():
    image = keras.Input((6, 7, 3))
    x = Holder(quantizers.ActivationPOTInferableQuantizer(4, [2.0], True))(image)
    kernel = quantizers.WeightsSymmetricInferableQuantizer(
        4, [0.3, 0.4, 0.5, 0.6], per_channel=True, channel_axis=3, input_rank=4)
    x = Wrapper(keras.layers.Conv2D(4, 3, activation="relu"), {"kernel": kernel})(x)
    x = Holder(quantizers.ActivationUniformInferableQuantizer(5, [-0.2], [1.3]))(x)
    depthwise = quantizers.WeightsLUTSymmetricInferableQuantizer(
        3, [-100, -40, -8, 0, 9, 50, 110, 127], [0.7, 0.8, 0.9, 1.1], per_channel=True,
        channel_axis=2, input_rank=4)
    x = Wrapper(keras.layers.DepthwiseConv2D(2), {"depthwise_kernel": depthwise})(x)
    x = Holder(quantizers.ActivationLutPOTInferableQuantizer(
        3, [-5, 30, -60, 10, 80, 0, 3], [2.0], True))(x)
    matrix = quantizers.WeightsUniformInferableQuantizer(6, [-0.5], [0.8], per_channel=False)
    bias = quantizers.WeightsPOTInferableQuantizer(5, [1.0], per_channel=False)
    x = Wrapper(keras.layers.Dense(5), {"bias": bias, "kernel": matrix})(keras.layers.Flatten()(x))
    return image, Holder(quantizers.ActivationSymmetricInferableQuantizer(7, [3.0], True))(x)


save("quantized_for_deployment.h5", *quantized())
save("quantized_for_deployment_archive.keras", *quantized())

# ssd_keras is for Keras 2.2 and NumPy 1.19, in which three names were others.
np.float = float
keras.backend.image_dim_ordering = lambda: "tf"
for name, module in [("keras", keras), ("keras.backend", keras.backend)]:
    sys.modules[name] = module
engine = types.ModuleType("keras.engine.topology")
engine.InputSpec, engine.Layer = keras.layers.InputSpec, keras.layers.Layer
sys.modules["keras.engine.topology"] = engine
sys.path.insert(0, sys.argv[1])
from keras_layers.keras_layer_AnchorBoxes import AnchorBoxes


class Boxes(AnchorBoxes):
    def build(self, shape):
        self.built = True

    def call(self, x):
        sizes = types.SimpleNamespace(_keras_shape=tuple(x.shape))
        shape, keras.backend.shape = keras.backend.shape, lambda _: tf.shape(x)
        try:
            return super().call(sizes)
        finally:
            keras.backend.shape = shape


Boxes.__name__ = "AnchorBoxes"


def anchors(filters, image, **settings):
    x = keras.layers.Conv2D(filters, 3, 4)(image)
    boxes = Boxes(img_height=19, img_width=27, this_scale=0.3, next_scale=0.5, **settings)(x)
    return keras.layers.Reshape((-1, filters))(x), keras.layers.Reshape((-1, 8))(boxes)


image = keras.Input((19, 27, 3))
parts = [
    anchors(8, image, aspect_ratios=[1.0, 2.0, 0.5], clip_boxes=True, normalize_coords=True),
    anchors(8, image, aspect_ratios=[3.0], coords="corners", variances=[0.1, 0.2, 0.3, 0.4]),
    anchors(8, image, two_boxes_for_ar1=False, coords="minmax", clip_boxes=True),
]
save("anchor_boxes.h5", image, [
    keras.layers.Concatenate(axis=1)([boxes for _, boxes in parts]),
    keras.layers.Concatenate(axis=1)([x for x, _ in parts])])

# Reshapes that state the batch: as it is, and as twice as many items.
image = keras.Input(batch_shape=(3, 4, 6))
x = tf.reshape(image, [3, 2, -1])
x = keras.layers.Dense(4, activation="tanh")(x)
x = tf.nn.softmax(tf.reshape(x, [6, -1, 2]), axis=1)
x = tf.reshape(x, [3, -1])
save("declared_batch.h5", image, keras.layers.Dense(3)(tf.reshape(x, [tf.shape(x)[0], 8])), 3)
