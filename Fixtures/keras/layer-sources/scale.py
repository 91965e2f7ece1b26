import keras

EPSILON = 1e-6


@keras.saving.register_keras_serializable(package="sources")
class ScaleAndShift(keras.layers.Layer):
    """A scale and a shift of each channel, with a factor for all."""

    def __init__(self, factor: float = 2.0, shift=True, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor
        self.shift = shift

    def build(self, input_shape):
        channels = input_shape[-1]
        self.scale = self.add_weight(name="scale", shape=(channels,), initializer="ones")
        if self.shift:
            self.offset = self.add_weight(name=f"offset_of_{channels}", shape=(channels,), initializer="zeros")

    def call(self, inputs):
        outputs = inputs * self.scale * self.factor / (1.0 + EPSILON)
        return outputs + self.offset if self.shift else outputs

    def get_config(self):
        return {**super().get_config(), "factor": self.factor, "shift": self.shift}
