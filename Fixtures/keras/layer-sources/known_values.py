import os

import numpy as np
import tensorflow as tf
from keras import layers

IS_FIRST, POWER = False, 2
if os.environ.get("LAYERS_ORDER", "first") == "first":
    IS_FIRST = True
elif POWER > 3:
    POWER = 5
SCALE = 2.0
START = SCALE / 4
SCALE = 3.0


class Blur(layers.Layer):
    def build(self, input_shape):
        taps = np.array([1.0, 2.0, 1.0])
        kernel = taps[:, None] * taps[None, :]
        kernel = np.repeat((kernel / kernel.sum())[:, :, None, None], input_shape[-1], axis=2)
        self.kernel = tf.constant(kernel, dtype=tf.float32)
        self.built = True

    def call(self, inputs):
        batch, height, width, channels = tf.unstack(tf.shape(inputs))
        x = tf.nn.depthwise_conv2d(inputs, self.kernel, strides=[1, 1, 1, 1], padding="SAME")
        norm = tf.norm(self.kernel, axis=[0, 1])
        gate = tf.math.divide_no_nan(x, tf.nn.relu(inputs - 1.0) + tf.nn.relu(tf.sign(inputs - 1.0)))
        x = x * START + gate / tf.transpose(norm)[:, None, :] + SCALE * POWER if IS_FIRST else inputs
        return tf.reshape(x, [batch, height * width, channels])


class Rotary(layers.Layer):
    def call(self, inputs):
        half = inputs.shape[2] // 2
        places = tf.range(inputs.shape[1], dtype=tf.float32)
        speeds = 1.0 / (100.0 ** (tf.range(0, half, dtype=tf.float32) / half))
        angles = tf.einsum("i,j->ij", places, speeds)
        cos, sin = tf.cos(angles)[tf.newaxis], tf.sin(angles)[tf.newaxis]
        one, other = inputs[..., :half], inputs[..., half:]
        best = tf.math.top_k(tf.reduce_sum(inputs, axis=-1), k=2).values
        weighted = tf.reduce_sum(inputs, axis=-1) * places
        x = tf.concat([one * cos - other * sin, one * sin + other * cos], axis=-1)
        spread = tf.broadcast_to(weighted[:, :, None], tf.shape(x))
        return x + tf.reduce_mean(best, axis=1)[:, None, None] + spread[:, ::-1]
