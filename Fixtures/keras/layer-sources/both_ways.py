"""Bidirectional layers, whose steps a learned score weighs."""
import tensorflow as tf
from tensorflow.keras import layers


class BothWays(layers.Layer):
    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.lstm = layers.Bidirectional(layers.LSTM(units, return_sequences=True))
        self.gru = layers.Bidirectional(layers.GRU(units, return_sequences=True), merge_mode="sum")
        self.score = layers.Dense(1)

    def call(self, x):
        h = self.gru(self.lstm(x))
        return tf.reduce_sum(tf.nn.softmax(self.score(h), axis=1) * h, axis=1)

    def get_config(self):
        return {**super().get_config(), "units": self.units}
