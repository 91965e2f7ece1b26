from keras import layers, ops


class SkipZeros(layers.Layer):
    def call(self, inputs):
        return inputs * 1.5

    def compute_mask(self, inputs, mask=None):
        return ops.max(ops.abs(inputs), axis=-1) > 0


class Tokens(layers.Layer):
    def __init__(self, count, size, length, **kwargs):
        super().__init__(**kwargs)
        self.count, self.size, self.length = count, size, length
        self.tokens = layers.Embedding(count, size, mask_zero=True)
        self.places = layers.Embedding(length, size)

    def build(self, input_shape):
        self.tokens.build(input_shape)
        self.places.build(input_shape)
        self.built = True

    def call(self, inputs):
        return self.tokens(inputs) + self.places(ops.arange(self.length))

    def compute_mask(self, *args, **kwargs):
        return self.tokens.compute_mask(*args, **kwargs)

    def get_config(self):
        config = super().get_config()
        config.update(count=self.count, size=self.size, length=self.length)
        return config


class Reader(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.norm = layers.LayerNormalization()
        self.rnn = layers.LSTM(units, return_sequences=True)

    def build(self, input_shape):
        self.norm.build(input_shape)
        self.rnn.build(input_shape)
        self.built = True

    def call(self, inputs, mask=None):
        return self.rnn(self.norm(inputs), mask=mask)

    def get_config(self):
        return {**super().get_config(), "units": self.units}
