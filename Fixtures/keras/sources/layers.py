"""Layers of Keras 3: weights, layers in attributes, lists and dictionaries, loops, imports."""
import math

import keras
from keras import layers, ops

from helpers import gate, FACTOR

EPSILON = 1e-3


@keras.saving.register_keras_serializable(package="Tests")
class Scaled(layers.Layer):
    """No weights; the configuration decides."""

    def __init__(self, factor=2.0, shift=None, mode="add", **kwargs):
        super().__init__(**kwargs)
        self.factor = factor
        self.shift = shift
        self.mode = mode

    def call(self, inputs):
        x = inputs * self.factor
        if self.shift is not None:
            x = x + self.shift
        if self.mode == "square":
            x = ops.square(x)
        elif self.mode not in ("add", "square"):
            raise ValueError(f"unknown mode {self.mode}")
        return ops.tanh(x)

    def get_config(self):
        config = super().get_config()
        config.update({"factor": self.factor, "shift": self.shift, "mode": self.mode})
        return config


@keras.saving.register_keras_serializable(package="Tests")
class Affine(layers.Layer):
    def __init__(self, units: int, use_bias: bool = True, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.use_bias = use_bias
        self.activation = keras.activations.get(activation)

    def build(self, input_shape):
        self.w = self.add_weight(
            name="w", shape=(input_shape[-1], self.units), initializer="random_normal", trainable=True
        )
        if self.use_bias:
            self.b = self.add_weight(name="b", shape=(self.units,), initializer="random_normal")
        super().build(input_shape)

    def call(self, inputs, training=None):
        outputs = ops.matmul(inputs, self.w)
        if self.use_bias:
            outputs += self.b
        if training:
            outputs = outputs * 0.0
        return self.activation(outputs)

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "use_bias": self.use_bias,
            "activation": keras.activations.serialize(self.activation),
        }


@keras.saving.register_keras_serializable(package="Tests")
class SqueezeExcite(layers.Layer):
    def __init__(self, ratio=4, **kwargs):
        super(SqueezeExcite, self).__init__(**kwargs)
        self.ratio = ratio

    def build(self, input_shape):
        channels = input_shape[-1]
        self.pool = layers.GlobalAveragePooling2D(keepdims=True)
        self.reduce = layers.Conv2D(max(1, channels // self.ratio), 1, activation="relu")
        self.expand = layers.Conv2D(channels, 1, activation="sigmoid")

    def call(self, x):
        return x * self.expand(self.reduce(self.pool(x)))

    def get_config(self):
        return dict(super().get_config(), ratio=self.ratio)


class Block(layers.Layer):
    def __init__(self, filters, **kwargs):
        super().__init__(**kwargs)
        self.filters = filters
        self.conv = layers.Conv2D(filters, 3, padding="same", use_bias=False)
        self.norm = layers.BatchNormalization(epsilon=EPSILON)
        self.act = layers.ReLU()

    def call(self, x):
        return self.act(self.norm(self.conv(x)))


@keras.saving.register_keras_serializable(package="Tests")
class Stack(layers.Layer):
    def __init__(self, filters, depth=2, **kwargs):
        super().__init__(**kwargs)
        self.filters = filters
        self.depth = depth
        self.blocks = [Block(filters, name=f"block_{i}") for i in range(depth)]
        self.heads = {"a": layers.Dense(3), "b": layers.Dense(3, activation="tanh")}
        self.seq = keras.Sequential([layers.Dense(4, activation="relu"), layers.Dense(3)])

    def call(self, x):
        for i, block in enumerate(self.blocks):
            x = block(x) if i == 0 else x + block(x)
        x = ops.mean(x, axis=[1, 2])
        a, b = (self.heads[key](x) for key in ("a", "b"))
        return gate(a, b) * FACTOR + self.seq(x)

    def get_config(self):
        return {**super().get_config(), "filters": self.filters, "depth": self.depth}


@keras.saving.register_keras_serializable(package="Tests")
class TokenMixer(layers.Layer):
    def __init__(self, heads, key_dim, rate=0.1, **kwargs):
        super().__init__(**kwargs)
        self.heads, self.key_dim, self.rate = heads, key_dim, rate
        self.att = layers.MultiHeadAttention(heads, key_dim)
        self.norm1 = layers.LayerNormalization(epsilon=1e-6)
        self.norm2 = layers.LayerNormalization(epsilon=1e-6)
        self.drop = layers.Dropout(rate)

    def build(self, input_shape):
        dim = input_shape[-1]
        self.ffn = keras.Sequential([layers.Dense(dim * 2, activation="gelu"), layers.Dense(dim)])
        self.pos = self.add_weight(shape=(1, input_shape[1], dim), initializer="random_normal", name="pos")

    def call(self, x, training=False):
        x = x + self.pos
        y = self.att(x, x)
        y = self.drop(y, training=training)
        x = self.norm1(x + y)
        return self.norm2(x + self.drop(self.ffn(x), training=training))

    def get_config(self):
        return {**super().get_config(), "heads": self.heads, "key_dim": self.key_dim, "rate": self.rate}


@keras.saving.register_keras_serializable(package="Tests")
class Patches(layers.Layer):
    """Shapes, loops and slices."""

    def __init__(self, size=2, **kwargs):
        super().__init__(**kwargs)
        self.size = size
        self.scale = 1.0 / math.sqrt(size)

    def call(self, x):
        shape = ops.shape(x)
        h, w, c = shape[1], shape[2], shape[3]
        s = self.size
        x = ops.reshape(x, (-1, h // s, s, w // s, s, c))
        x = ops.transpose(x, (0, 1, 3, 2, 4, 5))
        x = ops.reshape(x, (-1, (h // s) * (w // s), s * s * c))
        return x * self.scale

    def get_config(self):
        return {**super().get_config(), "size": self.size}


@keras.saving.register_keras_serializable(package="Tests")
class Net(keras.Model):
    """A model of its own class."""

    def __init__(self, units=4, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.conv = layers.Conv2D(units, 3, activation="relu")
        self.bn = layers.BatchNormalization()
        self.dense = [layers.Dense(units) for _ in range(2)]

    def call(self, x, training=False):
        x = self.bn(self.conv(x), training=training)
        x = ops.mean(x, axis=(1, 2))
        for layer in self.dense:
            x = layer(x)
        return x

    def get_config(self):
        return {**super().get_config(), "units": self.units}
