"""Cells of Keras, called step by step."""
import tensorflow as tf
from tensorflow import keras


class Leaky(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units, self.state_size = units, units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), name="kernel")
        self.leak = self.add_weight(shape=(self.units,), name="leak")

    def call(self, inputs, states):
        state = self.leak * states[0] + tf.tanh(tf.matmul(inputs, self.kernel))
        return state, [state]


class Unrolled(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.gru = keras.layers.GRUCell(units)
        self.old_gru = keras.layers.GRUCell(units, reset_after=False, activation="relu")
        self.lstm = keras.layers.LSTMCell(units)
        self.simple = keras.layers.SimpleRNNCell(units, use_bias=False)
        self.leaky = keras.layers.RNN(Leaky(units), return_sequences=True, go_backwards=True)

    def call(self, x):
        gru = tf.zeros((tf.shape(x)[0], self.units))
        old, simple, lstm = gru, gru, [gru, gru]
        outputs = []
        for step in range(x.shape[1]):
            output, [gru] = self.gru(x[:, step], [gru])
            output, [old] = self.old_gru(output, [old])
            output, lstm = self.lstm(output, lstm)
            output, [simple] = self.simple(output, [simple])
            outputs.append(output)
        return self.leaky(tf.stack(outputs, axis=1))

    def get_config(self):
        return {**super().get_config(), "units": self.units}
