import tensorflow as tf
from tensorflow.keras import layers


class Blend(layers.Layer):
    """A cell with two states and a layer inside."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.state_size = [units, units]
        self.output_size = units
        self.gate = layers.Dense(units, activation="sigmoid")

    def build(self, input_shape):
        self.gate.build(input_shape)
        self.kernel = self.add_weight(name="reader", shape=(input_shape[-1], self.units), initializer="uniform")
        self.built = True

    def call(self, inputs, states, training=None):
        mean, last = states
        gate = self.gate(inputs)
        new = tf.tanh(tf.matmul(inputs, self.kernel) - last)
        mean = gate * mean + (1.0 - gate) * new
        return mean + last, [mean, new]

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        return [tf.ones((batch_size, self.units)), tf.zeros((batch_size, self.units))]

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class Shift(layers.Layer):
    def build(self, input_shape):
        self.offset = self.add_weight(name="offset", shape=(input_shape[-1],), initializer="uniform")

    def call(self, inputs):
        return tf.nn.softmax(inputs + self.offset)

    def compute_output_shape(self, input_shape):
        return input_shape


class Parts(layers.Layer):
    """Takes and returns dictionaries, whose order matters."""

    def build(self, input_shape):
        self.scales = {}
        for i, (name, shape) in enumerate(input_shape.items()):
            self.scales[name] = self.add_weight(name=f"scale_{i}", shape=(shape[-1],), initializer="ones")

    def call(self, inputs):
        parts = [x * self.scales[name] * (i + 1) for i, (name, x) in enumerate(inputs.items())]
        return {"whole": tf.concat(parts, axis=-1), "first": tf.reduce_max(parts[0], axis=1)}
