import numpy as np
import tensorflow as tf


def angles(length, depth):
    positions = np.arange(length)[:, np.newaxis]
    columns = np.arange(depth)[np.newaxis, :]
    return positions / np.power(10000, (2 * (columns // 2)) / np.float32(depth))


class PositionalEncoding(tf.keras.layers.Layer):
    def __init__(self, length=16, depth=8, **kwargs):
        super().__init__(**kwargs)
        self.length = length
        self.depth = depth
        table = angles(length, depth)
        table[:, 0::2] = np.sin(table[:, 0::2])
        table[:, 1::2] = np.cos(table[:, 1::2])
        self.table = tf.cast(table[np.newaxis, ...], dtype=tf.float32)

    def call(self, x):
        steps = tf.shape(x)[1]
        x *= tf.math.sqrt(tf.cast(self.depth, tf.float32))
        return x + self.table[:, :steps, :]

    def get_config(self):
        config = super().get_config().copy()
        config.update({"length": self.length, "depth": self.depth})
        return config
