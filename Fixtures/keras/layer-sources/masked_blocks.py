import keras


class MaskedBlock(keras.layers.Layer):
    """Attention of two kinds: the second finds no mask, because MultiHeadAttention removes it."""

    def __init__(self, heads, is_first=True, **kwargs):
        super().__init__(**kwargs)
        self.heads = heads
        self.is_first = is_first
        self.attention = keras.layers.MultiHeadAttention(heads, 3)
        self.other = keras.layers.Attention()
        self.supports_masking = True

    def build(self, shape):
        self.attention.build(shape, shape)
        self.other.build([shape, shape])

    def call(self, x):
        if self.is_first:
            y = self.attention(x, x)
            return x + y + self.other([x, x])
        z = self.other([x, x])
        return x + self.attention(x, x) + z

    def get_config(self):
        return {**super().get_config(), "heads": self.heads, "is_first": self.is_first}
