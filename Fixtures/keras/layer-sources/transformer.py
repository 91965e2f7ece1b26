import math

import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class SelfAttention(layers.Layer):
    def __init__(self, width, heads=2, **kwargs):
        super().__init__(**kwargs)
        assert width % heads == 0, f"{width} is no multiple of {heads}"
        self.width, self.heads, self.depth = width, heads, width // heads
        self.query, self.key, self.value = [layers.Dense(width, name=name) for name in ("query", "key", "value")]
        self.combine = layers.Dense(width, name="combine")

    @staticmethod
    def attention(query, key, value):
        scores = tf.matmul(query, key, transpose_b=True) / math.sqrt(query.shape[-1])
        weights = tf.nn.softmax(scores, axis=-1)
        return tf.matmul(weights, value), weights

    def split(self, x, batch):
        x = tf.reshape(x, (batch, -1, self.heads, self.depth))
        return tf.transpose(x, perm=[0, 2, 1, 3])

    def call(self, inputs):
        batch = tf.shape(inputs)[0]
        parts = [self.split(layer(inputs), batch) for layer in (self.query, self.key, self.value)]
        found, _ = self.attention(*parts)
        found = tf.transpose(found, perm=[0, 2, 1, 3])
        return self.combine(tf.reshape(found, (batch, -1, self.width)))


class TransformerBlock(layers.Layer):
    def __init__(self, width, heads, hidden, rate=0.1, **kwargs):
        super().__init__(**kwargs)
        self.width, self.heads, self.hidden, self.rate = width, heads, hidden, rate
        self.own = SelfAttention(width, heads)
        self.attention = layers.MultiHeadAttention(num_heads=heads, key_dim=width)
        self.feed = keras.Sequential([layers.Dense(hidden, activation="relu"), layers.Dense(width)])
        self.norm1 = layers.LayerNormalization(epsilon=1e-6)
        self.norm2 = layers.LayerNormalization(epsilon=1e-6)
        self.drop1 = layers.Dropout(rate)
        self.drop2 = layers.Dropout(rate)

    def call(self, inputs, training=False):
        x = self.drop1(self.own(inputs) + self.attention(inputs, inputs), training=training)
        x = self.norm1(inputs + x)
        return self.norm2(x + self.drop2(self.feed(x), training=training))

    def get_config(self):
        config = super().get_config()
        config.update({"width": self.width, "heads": self.heads, "hidden": self.hidden, "rate": self.rate})
        return config
