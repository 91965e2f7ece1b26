import keras
import numpy as np
from keras import ops


class SpectralPooling(keras.layers.Layer):
    """Keeps the lowest frequencies of a sequence: a product with the cosine transform's first rows."""

    def __init__(self, keep, power=2, **kwargs):
        super().__init__(**kwargs)
        self.keep = keep
        self.power = power

    def build(self, input_shape):
        steps = input_shape[1]
        n, k = np.arange(steps), np.arange(self.keep)
        basis = np.cos(np.pi / steps * (n[None, :] + 0.5) * k[:, None]) * np.sqrt(2.0 / steps)
        basis[0] /= np.sqrt(2)
        self.basis = ops.convert_to_tensor(basis, dtype="float32")

    def call(self, inputs):
        spectrum = ops.matmul(self.basis, inputs)
        energy = ops.sqrt(ops.mean(ops.abs(spectrum) ** self.power, axis=-1, keepdims=True) + 1e-7)
        folded = ops.reshape(spectrum / energy, (-1, self.keep * inputs.shape[-1]))
        return ops.concatenate([folded, ops.squeeze(energy, axis=-1)], axis=-1)

    def get_config(self):
        return super().get_config() | {"keep": self.keep, "power": self.power}
