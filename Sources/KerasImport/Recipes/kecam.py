# Layers of keras-cv-attention-models 1.4 and vit-keras 0.1 that add or multiply stored or computed numbers.
import math
import numpy as np
from keras import ops
from keras.layers import Layer

def shape_along(axis, shape):
    """All axes are stored if it is not the last one alone."""
    axes = [index % len(shape) for index in ([axis] if isinstance(axis, int) else axis)]
    if axes == [len(shape) - 1]:
        return (shape[-1],)
    return [size if index in axes else 1 for index, size in enumerate(shape)][1:]

class PositionalEmbedding(Layer):
    """x + a stored number for each element of an item.
    Becomes: bias, or loadConstant and add
    Options: from keras-cv-attention-models; AddPositionEmbs from vit-keras"""
    supports_masking = True
    def __init__(self, input_height=-1):
        super().__init__()

    def build(self, shape):
        self.table = self.add_weight(shape=(1, *shape[1:]), name="table")

    def call(self, x):
        return x + self.table

class AddPositionEmbs(PositionalEmbedding):
    pass

class BiasLayer(Layer):
    """x + a stored number for each channel.
    Becomes: bias
    Options: from keras-cv-attention-models
    Refused: an `axis` other than the last"""
    supports_masking = keeps_leading_axes = True
    def __init__(self, axis=-1):
        super().__init__()
        if axis not in (-1, [-1]):
            raise ValueError("axis: only the last axis is supported")

    def build(self, shape):
        self.bias = self.add_weight(shape=(shape[-1],), name="bias")

    def call(self, x):
        return x + self.bias

def numbered(table, places):
    """The numbers of each head, [heads, queries, keys]."""
    rows = np.take(table, np.reshape(places, (-1,)), axis=0)
    return np.transpose(np.reshape(rows, (places.shape[0], places.shape[1], -1)), (2, 0, 1))

class MultiHeadRelativePositionalEmbedding(Layer):
    """Scores + a stored number for each head and each distance between two places of an image.
    Becomes: bias
    Options: `with_cls_token`, `attn_height`; from keras-cv-attention-models"""
    keeps_leading_axes = True
    def __init__(self, with_cls_token=True, attn_height=-1):
        super().__init__()
        self.token, self.height = int(with_cls_token), attn_height

    def build(self, shape):
        rows = shape[-2] - self.token
        self.height = self.height if self.height > 0 else int(math.sqrt(rows))
        if rows <= 0 or rows % self.height:
            raise ValueError("its input is not a grid of positions")
        if shape[-1] > shape[-2]:
            raise ValueError("it has more keys than queries")
        self.count = (2 * self.height - 1) * (2 * (rows // self.height) - 1) + 3 * self.token
        self.table = self.add_weight(shape=(shape[-3], self.count), name="positional_embedding")

    def call(self, scores):
        queries, keys = scores.shape[-2:]
        height, rows = self.height, queries - self.token
        query = np.reshape(np.arange(rows), (-1, 1))
        key = np.arange(keys - self.token) + (queries - keys)
        places = query % height - key % height + height - 1 + (
            query // height - key // height + rows // height - 1) * (2 * height - 1)
        if self.token:
            # The last three numbers are those of the class token.
            places = np.concatenate([np.full((rows, 1), self.count - 2), places], axis=1)
            first = [[self.count - 1] + [self.count - 3] * (keys - 1)]
            places = np.concatenate([np.array(first), places], axis=0)
        return scores + numbered(np.transpose(self.table), places)

class MultiHeadPositionalEmbedding(Layer):
    """Scores + a stored number for each head and each absolute distance between two places of an image.
    Becomes: bias
    Options: `query_height`, `key_height`; from keras-cv-attention-models"""
    keeps_leading_axes = True
    def __init__(self, query_height=-1, key_height=-1):
        super().__init__()
        self.query_height, self.key_height = query_height, key_height

    def build(self, shape):
        # A single head may have no axis.
        self.table = self.add_weight(shape=shape[-1:] if len(shape) == 3 else (shape[-1], shape[-3]), name="bb")

    def call(self, scores):
        queries, keys = scores.shape[-2:]
        stride = int(math.ceil(math.sqrt(keys / queries)))
        query_height = self.query_height if self.query_height > 0 else int(math.sqrt(queries))
        height = self.key_height if self.key_height > 0 else min(query_height * stride, keys)
        while self.key_height <= 0 and keys % height:
            height -= 1
        query, key = np.reshape(np.arange(queries), (-1, 1)), np.arange(keys)
        places = np.abs(key % height - query % query_height * stride) + height * np.abs(
            key // height - query // query_height * stride)
        terms = numbered(np.reshape(self.table, (keys, -1)), places)
        return scores + (terms[0] if len(scores.shape) == 3 else terms)

class PositionalEncodingFourier(Layer):
    """x + matrix · waves; the waves of a place are sines and cosines of its row and of its column.
    Becomes: bias
    Options: `filters`, `temperature`; from keras-cv-attention-models"""
    def __init__(self, filters=32, temperature=1e4):
        super().__init__()
        self.filters, self.temperature = filters, temperature

    def build(self, shape):
        self.kernel = self.add_weight(shape=(2 * self.filters, shape[-1]), name="ww")
        self.bias = self.add_weight(shape=(shape[-1],), name="bb")

    def products(self, count, kernel):
        index = np.arange(self.filters)
        angles = np.reshape((np.arange(count) + 1) * (2 * np.pi / (count + 1e-6)), (-1, 1)) / self.temperature ** (
            index // 2 * 2 / self.filters)
        waves = np.sin(angles) * (1 - index % 2) + np.cos(angles) * (index % 2)
        return np.sum(np.expand_dims(waves, 2) * kernel, axis=1)

    def call(self, x):
        rows = self.products(x.shape[1], self.kernel[:self.filters])
        columns = self.products(x.shape[2], self.kernel[self.filters:])
        return x + (np.expand_dims(rows, 1) + columns + self.bias)

class ChannelAffine(Layer):
    """weight · x + bias along an axis.
    Becomes: scale
    Options: `axis`, `use_bias`; from keras-cv-attention-models"""
    def __init__(self, use_bias=True, axis=-1):
        super().__init__()
        self.use_bias, self.axis = use_bias, axis
        self.keeps_leading_axes = axis in (-1, [-1])

    def build(self, shape):
        self.weight = self.add_weight(shape=shape_along(self.axis, shape), name="weight")
        if self.use_bias:
            self.bias = self.add_weight(shape=shape_along(self.axis, shape), name="bias")

    def call(self, x):
        return x * self.weight + self.bias if self.use_bias else x * self.weight

class ExpLogitScale(Layer):
    """x · exp(min(gamma, max_value)), with a stored gamma for each index of an axis.
    Becomes: scale
    Options: `axis`, `max_value`; from keras-cv-attention-models"""
    keeps_leading_axes = True
    def __init__(self, axis=-1, max_value=math.log(100)):
        super().__init__()
        self.axis, self.maximum = axis, max_value

    def build(self, shape):
        sizes = (1,) if self.axis is None else shape_along(self.axis, shape)
        # Scores have four axes, beside that of windows.
        self.gamma = self.add_weight(shape=sizes if len(sizes) == 1 else ([1] + sizes)[-4:], name="gamma")

    def call(self, x):
        return x * np.exp(np.minimum(self.gamma, self.maximum))

class ZeroInitGain(Layer):
    """gain · x + bias, with one stored number each.
    Becomes: linear activation
    Options: `use_bias`; from keras-cv-attention-models"""
    keeps_leading_axes = True
    def __init__(self, use_bias=False):
        super().__init__()
        self.gain = self.add_weight(shape=(), name="gain")
        self.bias = self.add_weight(shape=(), name="bias") if use_bias else 0

    def call(self, x):
        return x * self.gain + self.bias

class ReluWeightedSum(Layer):
    """Σ gainᵢ xᵢ / Σ gainᵢ; negative gains count as 0.
    Becomes: linear activations, add
    Options: from keras-cv-attention-models"""
    def build(self, shape):
        self.gain = self.add_weight(shape=(len(shape),), name="gain")

    def call(self, inputs):
        gain = [max(number, 0) for number in self.gain]
        if sum(gain) <= 0:
            raise ValueError("no gain is positive")
        return sum([x * (number / sum(gain)) for x, number in zip(inputs, gain)])
