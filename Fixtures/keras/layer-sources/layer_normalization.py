"""A layer with the name of one of Keras's, which computes something else."""
import tensorflow as tf
from tensorflow.keras.layers import Layer


class LayerNormalization(Layer):
    def build(self, input_shape):
        self.gamma = self.add_weight(name="gamma", shape=(input_shape[-1],), initializer="uniform")
        self.beta = self.add_weight(name="beta", shape=(input_shape[-1],), initializer="uniform")

    def call(self, x):
        middle = tf.reduce_mean(x, axis=-1, keepdims=True)
        return self.gamma * (x - middle) / (tf.reduce_max(tf.abs(x), axis=-1, keepdims=True) + 1.0) + self.beta
