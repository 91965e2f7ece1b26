import math

import numpy as np
import tensorflow as tf
from keras import activations, layers, ops


class Comparisons(layers.Layer):
    """Known arrays are compared, cast and cut element by element."""

    def build(self, input_shape):
        self.weight = self.add_weight(name="weight", shape=input_shape[1:], initializer="zeros")
        size = input_shape[-1]
        self.even = np.where(np.arange(size) % 2 == 0, 1.0, -1.0).astype("float32")
        self.seen = np.array([0.5, 0.0, -2.0, 0.0]).astype(bool).astype("float32")
        self.unit = np.identity(size).astype("float32") + np.eye(size, k=1, dtype="float32")
        self.other = {"a": 1, "b": 2} == {"a": 1, "b": 3}
        self.lower = (np.tril(np.ones((size, size)), k=-1) + np.triu(np.ones((size, size)), 2)).astype("float32")
        self.rows = np.vstack([np.roll(np.arange(size), 1), np.cumsum(np.arange(size))]).astype("float32")
        self.built = True

    def call(self, inputs):
        count = tf.shape(inputs)[1]
        mask = tf.cast(tf.range(count)[:, None] >= tf.range(count), tf.float32)
        scores = tf.matmul(inputs, inputs, transpose_b=True)
        scores = tf.where(mask == 1.0, scores, tf.fill(tf.shape(scores), -1e9))
        x = tf.matmul(tf.nn.softmax(scores), inputs)
        x = x * self.even + tf.where(self.weight == 1.5, 2.0, x) * self.seen - tf.cast(tf.cast([1.7, -1.7, 2.5, 0.0], tf.int32), tf.float32)
        x = ops.matmul(x, self.unit + self.lower) + (10.0 if self.other else 0.0)
        x = x + ops.one_hot([0, 2, 1, 3, 3, 0], 4) * math.log2(8) + activations.hard_sigmoid(inputs)
        return tf.linalg.band_part(x, 2, -1) + ops.tril(x, k=1) * tf.reduce_sum(self.rows, axis=0)
