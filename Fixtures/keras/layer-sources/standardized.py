"""Layers of Keras whose classes change how the weights are used."""
import tensorflow as tf
from tensorflow import keras


class StandardizedConv(keras.layers.Conv2D):
    def convolution_op(self, inputs, kernel):
        mean, variance = tf.nn.moments(kernel, axes=[0, 1, 2], keepdims=True)
        return super().convolution_op(inputs, (kernel - mean) / tf.sqrt(variance + 1e-5))


class ScaledDense(keras.layers.Dense):
    def __init__(self, units, gain=2.0, **kwargs):
        super().__init__(units, **kwargs)
        self.gain = gain

    def call(self, inputs):
        x = tf.matmul(inputs, self.kernel * self.gain / self.kernel.shape[0] ** 0.5)
        if self.use_bias:
            x = x + self.bias
        return self.activation(x)

    def get_config(self):
        return {**super().get_config(), "gain": self.gain}
