import keras
from keras import ops


class ClassToken(keras.layers.Layer):
    """A learned token before the others, and a learned position for each."""

    def build(self, input_shape):
        _, self.steps, self.width = input_shape
        self.token = self.add_weight(name="token", shape=(1, 1, self.width), initializer="zeros", trainable=True)
        self.positions = self.add_weight(
            name="positions", shape=(1, self.steps + 1, self.width),
            initializer=keras.initializers.RandomNormal(stddev=0.06))

    def call(self, inputs):
        batch = ops.shape(inputs)[0]
        tokens = ops.broadcast_to(self.token, (batch, 1, self.width))
        return ops.concatenate([tokens, inputs], axis=1) + self.positions


class TakeToken(keras.layers.Layer):
    def call(self, inputs):
        return inputs[:, 0, ...]
