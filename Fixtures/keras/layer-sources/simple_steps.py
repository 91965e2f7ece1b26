"""Two SimpleRNNs in a list."""
from tensorflow import keras


class SimpleSteps(keras.layers.Layer):
    def __init__(self, widths, **kwargs):
        super().__init__(**kwargs)
        self.widths = widths
        self.rnns = [keras.layers.SimpleRNN(width, return_sequences=True) for width in widths]

    def call(self, x):
        for rnn in self.rnns:
            x = rnn(x) + 0.5
        return x

    def get_config(self):
        return {**super().get_config(), "widths": self.widths}
