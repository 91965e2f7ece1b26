"""A GRU whose steps are gated by a dense layer."""
import tensorflow as tf
from tensorflow.keras.layers import GRU, Dense, Layer


class GRUGate(Layer):
    def __init__(self, units, reset_after=True, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.reset_after = reset_after

    def build(self, input_shape):
        self.gate = Dense(self.units, activation="sigmoid")
        self.steps = GRU(self.units, return_sequences=True, reset_after=self.reset_after, go_backwards=True)

    def call(self, x):
        return tf.reduce_sum(self.gate(x) * self.steps(x), axis=1)

    def get_config(self):
        return {**super().get_config(), "units": self.units, "reset_after": self.reset_after}
