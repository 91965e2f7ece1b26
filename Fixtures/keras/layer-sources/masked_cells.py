import tensorflow as tf
from tensorflow.keras import layers


class Leaky(layers.Layer):
    """A cell with one state."""

    def __init__(self, units, leak=0.25, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.leak = leak
        self.state_size = units
        self.output_size = units
        self.scale = 1.0 / len({units, 7, 7, units})

    def build(self, input_shape):
        self.kernel = self.add_weight(name="kernel", shape=(input_shape[-1], self.units), initializer="uniform")
        self.recurrent = self.add_weight(name="recurrent", shape=(self.units, self.units), initializer="uniform")

    def call(self, inputs, states):
        new = tf.tanh(tf.matmul(inputs, self.kernel) + tf.matmul(states[0], self.recurrent))
        state = self.leak * states[0] + (1.0 - self.leak) * new
        return state * self.scale, [state]

    def get_config(self):
        return {**super().get_config(), "units": self.units, "leak": self.leak}


class Pair(layers.Layer):
    """A cell with two states of other sizes than its output."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.state_size = [units, 1]
        self.output_size = units + 1

    def build(self, input_shape):
        self.kernel = self.add_weight(name="kernel", shape=(input_shape[-1], self.units), initializer="uniform")

    def call(self, inputs, states):
        last, count = states
        new = tf.tanh(tf.matmul(inputs, self.kernel) + 0.5 * last)
        count = count + tf.reduce_max(new, axis=-1, keepdims=True)
        return tf.concat([new - last, count], axis=-1), [new, count]

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class Scaled(layers.Layer):
    """Uses the mask of the step that it gets in TimeDistributed."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, input_shape):
        self.factor = self.add_weight(name="factor", shape=(input_shape[-1],), initializer="ones")

    def call(self, inputs, mask=None):
        result = inputs * self.factor
        if mask is not None:
            result = result + 2.0 * tf.cast(mask, "float32")[:, None]
        return result

    def compute_output_shape(self, input_shape):
        return input_shape


class Sum(layers.Layer):
    """Keras 3 passes the masks of two arguments by the names of these, earlier versions the first one's."""

    def call(self, first, second, mask=None, second_mask=None):
        result = first + second
        for weight, one in ((10.0, mask), (100.0, second_mask)):
            if one is not None:
                result = result + weight * tf.cast(one, "float32")[..., None]
        return result
