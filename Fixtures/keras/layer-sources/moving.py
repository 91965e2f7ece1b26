import keras
from keras import ops


class MovingNormalization(keras.layers.Layer):
    """Normalizes with statistics that training moves."""

    def __init__(self, momentum=0.9, epsilon=1e-3, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.epsilon = epsilon
        self.supports_masking = True

    @property
    def axes(self):
        return list(range(self.rank - 1))

    def build(self, input_shape):
        self.rank = len(input_shape)
        shape = (input_shape[-1],)
        self.gain = self.add_weight(shape=shape, initializer="ones", name="gain")
        self.moving_mean = self.add_weight(shape=shape, initializer="zeros", trainable=False, name="moving_mean")
        self.moving_variance = self.add_weight(shape=shape, initializer="ones", trainable=False, name="moving_variance")

    def call(self, inputs, training=None):
        if training:
            mean, variance = ops.moments(inputs, axes=self.axes)
            self.moving_mean.assign(self.moving_mean * self.momentum + mean * (1 - self.momentum))
            self.moving_variance.assign(self.moving_variance * self.momentum + variance * (1 - self.momentum))
        else:
            mean, variance = self.moving_mean, self.moving_variance
        return self.gain * (inputs - mean) / ops.sqrt(variance + self.epsilon)

    def get_config(self):
        return dict(super().get_config(), momentum=self.momentum, epsilon=self.epsilon)
