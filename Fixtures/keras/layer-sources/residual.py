import tensorflow as tf
from tensorflow.keras import layers


class ResidualBlock(layers.Layer):
    """Convolutions in a list, beside a shortcut that projects if the channels differ."""

    def __init__(self, filters, kernels=(3, 3), stride=1, **kwargs):
        super(ResidualBlock, self).__init__(**kwargs)
        self.filters, self.kernels, self.stride = filters, kernels, stride
        self.convolutions = []
        self.norms = [layers.BatchNormalization(name="norm_%d" % i) for i in range(len(kernels))]
        for i, size in enumerate(kernels):
            self.convolutions.append(
                layers.Conv2D(filters, size, strides=stride if i == 0 else 1, padding="same", use_bias=False, name=f"conv_{i}"))
        self.project = None

    def build(self, input_shape):
        if input_shape[-1] != self.filters or self.stride != 1:
            self.project = layers.Conv2D(self.filters, 1, strides=self.stride, name="project")
        super(ResidualBlock, self).build(input_shape)

    def call(self, inputs, training=None):
        x = inputs
        for i, (convolution, norm) in enumerate(zip(self.convolutions, self.norms)):
            x = norm(convolution(x), training=training)
            if i < len(self.convolutions) - 1:
                x = tf.nn.relu(x)
        shortcut = inputs if self.project is None else self.project(inputs)
        return tf.nn.relu(tf.add(x, shortcut))

    def get_config(self):
        config = super().get_config()
        config.update(dict(filters=self.filters, kernels=self.kernels, stride=self.stride))
        return config
