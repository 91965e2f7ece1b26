from keras import layers, ops


class SqueezeExcite(layers.Layer):
    def __init__(self, ratio=4, **kwargs):
        super().__init__(**kwargs)
        self.ratio = ratio

    def build(self, input_shape):
        channels = input_shape[-1]
        self.squeeze = layers.GlobalAveragePooling2D()
        self.reduce = layers.Dense(max(1, channels // self.ratio), activation="relu", use_bias=False, name="reduce")
        self.expand = layers.Dense(channels, activation="sigmoid", name="expand")
        self.reduce.build((None, channels))
        self.expand.build((None, self.reduce.units))
        self.built = True

    def call(self, inputs):
        gates = self.expand(self.reduce(self.squeeze(inputs)))
        return inputs * ops.reshape(gates, (-1, 1, 1, inputs.shape[-1]))

    def get_config(self):
        config = super().get_config()
        config.update({"ratio": self.ratio})
        return config
