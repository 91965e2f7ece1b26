"""A model of two inputs and two outputs, one of which uses the table of an embedding again."""
import tensorflow as tf
from tensorflow import keras


class Grouped(keras.layers.Layer):
    """Normalizes groups of channels."""
    def call(self, x):
        rows, columns, channels = x.shape[1:]
        y = tf.reshape(x, [-1, rows, columns, 2, channels // 2])
        mean, variance = tf.nn.moments(y, [1, 2, 4], keepdims=True)
        return tf.reshape((y - mean) / tf.sqrt(variance + 1e-3), [-1, rows, columns, channels])


class WideAndDeep(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.grouped = Grouped()
        self.pool = keras.layers.GlobalMaxPooling2D()
        self.project = keras.layers.Dense(5, activation=keras.activations.gelu)
        self.deep = keras.layers.Dense(4, activation="relu")
        self.head = keras.layers.Dense(3)

    def call(self, inputs):
        image, vector = inputs
        x = tf.concat([self.pool(self.grouped(image)), self.deep(vector)], axis=-1)
        x = self.project(x)
        return self.head(x), tf.matmul(self.head(x), tf.transpose(self.head.kernel))
