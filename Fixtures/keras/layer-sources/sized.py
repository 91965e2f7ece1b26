"""A layer that gives its output's sizes too, and names its arguments."""
import tensorflow as tf
from tensorflow.keras import layers


def project_export(path):
    return lambda type: type


@project_export("project.Sized")
class Sized(layers.Layer):
    def __init__(self, width=6, **kwargs):
        super().__init__(**kwargs)
        self.width = width
        self.convolution = layers.Conv2D(width, 3, padding="same")

    def call(self, x):
        x = self.convolution(x)
        rows, columns = x.shape[1], x.shape[2]
        parts = [x[:, 0, 0], x[:, 1, 1]]
        both = tf.concat([tf.convert_to_tensor(parts), tf.stack(parts[::-1])], axis=0)
        corners = tf.reduce_sum(tf.transpose(both, [1, 0, 2]), axis=1, keepdims=True)
        return tf.reshape(tensor=x, shape=(x.shape[0], -1, self.width)) * corners, rows, columns

    def get_config(self):
        return {**super().get_config(), "width": self.width}
