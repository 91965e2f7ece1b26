#!/usr/bin/env python3
"""Makes small Keras networks, one for each family of Tests/Tools/program_operations.py, with random
weights: NAME.h5, NAME.inputs.npz, and what Keras answers, NAME.expected.npz.

    pip install tensorflow-cpu==2.21.0 keras==3.15.1
    python make.py
"""
import os

import keras
import numpy as np
from keras import layers

HERE = os.path.dirname(os.path.abspath(__file__))


def attention(x, **options):
    """A transformer block."""
    y = layers.LayerNormalization()(x)
    x = layers.Add()([x, layers.MultiHeadAttention(2, 4)(y, y, **options)])
    y = layers.Dense(16, activation="gelu")(layers.LayerNormalization()(x))
    return layers.Add()([x, layers.Dense(8)(y)])


def tokens():
    entry = keras.Input((6,), dtype="int32")
    return entry, layers.Embedding(20, 8)(entry)


def encoder():
    entry, x = tokens()
    return entry, layers.Dense(3)(layers.GlobalAveragePooling1D()(attention(x)))


def decoder():
    entry, x = tokens()
    return entry, layers.Dense(20)(attention(x, use_causal_mask=True))


def recurrent():
    entry, x = tokens()
    return entry, layers.Dense(3)(layers.Bidirectional(layers.LSTM(4))(x))


def text():
    entry, x = tokens()
    parts = [layers.GlobalMaxPooling1D()(layers.Conv1D(4, k, activation="relu")(x)) for k in (2, 3)]
    return entry, layers.Dense(3)(layers.Concatenate()(parts))


def mobile():
    """An inverted residual block with relu6."""
    entry = keras.Input((8, 8, 3))
    x = layers.Conv2D(4, 3, padding="same", use_bias=False)(entry)
    y = layers.ReLU(6)(layers.BatchNormalization()(layers.Conv2D(8, 1)(x)))
    y = layers.ReLU(6)(layers.BatchNormalization()(layers.DepthwiseConv2D(3, padding="same")(y)))
    y = layers.BatchNormalization()(layers.Conv2D(4, 1, use_bias=False)(y))
    return entry, layers.Dense(3)(layers.GlobalAveragePooling2D()(layers.Add()([x, y])))


def excitation():
    """A squeeze-and-excite block with silu."""
    entry = keras.Input((8, 8, 3))
    x = layers.Conv2D(8, 3, activation="silu")(entry)
    y = layers.Reshape((1, 1, 8))(layers.GlobalAveragePooling2D()(x))
    y = layers.Conv2D(8, 1, activation="sigmoid")(layers.Conv2D(2, 1, activation="silu")(y))
    return entry, layers.Conv2D(2, 1)(layers.Multiply()([x, y]))


def convnext():
    """A ConvNeXt block."""
    entry = keras.Input((8, 8, 3))
    x = layers.LayerNormalization()(layers.Conv2D(8, 2, strides=2)(entry))
    y = layers.LayerNormalization()(layers.DepthwiseConv2D(3, padding="same")(x))
    y = layers.Dense(8)(layers.Activation("gelu")(layers.Dense(16)(y)))
    return entry, layers.Add()([x, y])


def main():
    random = np.random.default_rng(1)
    for make in (encoder, decoder, recurrent, text, mobile, excitation, convnext):
        keras.utils.set_random_seed(1)
        keras.backend.clear_session()
        entry, answer = make()
        network = keras.Model(entry, answer)
        for layer in network.layers:
            if isinstance(layer, (layers.BatchNormalization, layers.LayerNormalization)):
                for weight in layer.weights:
                    weight.assign(random.uniform(0.5, 1.5, weight.shape))
        shape = (1,) + entry.shape[1:]
        x = random.integers(0, 20, shape).astype("int32") if entry.dtype == "int32" \
            else random.uniform(-1, 1, shape).astype("float32")
        path = os.path.join(HERE, make.__name__)
        network.save(path + ".h5")
        np.savez(path + ".inputs.npz", input1=x)
        np.savez(path + ".expected.npz", output1=network.predict(x, verbose=0))


if __name__ == "__main__":
    main()
