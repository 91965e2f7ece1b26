# Layers of keras-self-attention 0.51, keras-pos-embd 0.13, keras-position-wise-feed-forward 0.8 and keras-bert 0.89.
import math
import numpy as np
from keras import ops
from keras.layers import Activation, Dense, Layer

def gelu(x):
    return ops.gelu(x, approximate=True)

class FeedForward(Layer):
    """matrix₂ · activation(matrix₁ · x)
    Becomes: two innerProducts
    Options: `units`, `activation`, `use_bias`; from keras-position-wise-feed-forward; `gelu` is keras-transformer's, which approximates it with tanh"""
    supports_masking = True
    def __init__(self, units, activation=None, use_bias=True):
        super().__init__()
        # keras-bert and keras-transformer, which use this class, bring their own function of this name.
        self.inner = Dense(units, activation=gelu if activation == "gelu" else activation, use_bias=use_bias)
        self.use_bias = use_bias

    def build(self, shape):
        self.outer = Dense(shape[-1], use_bias=self.use_bias)

    def call(self, x):
        return self.outer(self.inner(x))

def joined(x, table, mode):
    return x + table if mode == "add" else ops.concatenate([x, np.expand_dims(table, 0)], axis=-1)

def checked(mode):
    if mode not in ("add", "concat"):
        raise ValueError(f"mode: '{mode}' is not supported")
    return mode

class PositionEmbedding(Layer):
    """x + row i of a table at step i, or both side by side; in keras-hub, the table alone.
    Becomes: loadConstant, add or concat
    Options: `mode` add and concat; from keras-pos-embd; `sequence_length`; from keras-hub
    Refused: `mode` expand, `start_index`, `positions`"""
    supports_masking = True
    def __init__(self, input_dim=None, output_dim=None, mode="expand", sequence_length=None):
        super().__init__()
        self.rows, self.width = sequence_length or input_dim, output_dim
        self.mode = "table" if sequence_length else checked(mode)

    def build(self, shape):
        self.embeddings = self.add_weight(shape=(self.rows, self.width or shape[-1]), name="embeddings")

    def call(self, x, start_index=0, positions=None):
        if positions is not None or start_index:
            raise ValueError("start_index and positions are not supported")
        if x.shape[1] > self.rows:
            raise ValueError(f"its input has {x.shape[1]} steps, its table {self.rows}")
        table = self.embeddings[:x.shape[1]]
        return np.expand_dims(table, 0) if self.mode == "table" else joined(x, table, self.mode)

def waves(steps, width, wavelength):
    columns = np.arange(width)
    angles = np.reshape(np.arange(steps), (-1, 1)) / wavelength ** ((columns - columns % 2) / width)
    return np.sin(angles) * (1 - columns % 2) + np.cos(angles) * (columns % 2)

class TrigPosEmbedding(Layer):
    """x + sines and cosines of the step, or both side by side.
    Becomes: loadConstant, add or concat
    Options: `mode` add and concat; from keras-pos-embd
    Refused: `mode` expand"""
    supports_masking = True
    def __init__(self, mode="add", output_dim=None):
        super().__init__()
        self.mode, self.width = checked(mode), output_dim if mode == "concat" else None

    def call(self, x):
        return joined(x, waves(x.shape[1], self.width or x.shape[2], 10000.0), self.mode)

class SinePositionEncoding(Layer):
    """Sines and cosines of the step.
    Becomes: loadConstant
    Options: `max_wavelength`; from keras-hub
    Refused: `start_index`, `positions`"""
    supports_masking = True
    def __init__(self, max_wavelength=10000):
        super().__init__()
        self.wavelength = max_wavelength

    def call(self, x, start_index=0, positions=None):
        if positions is not None or start_index:
            raise ValueError("start_index and positions are not supported")
        return np.expand_dims(waves(x.shape[1], x.shape[2], self.wavelength), 0)

class ScaledDotProductAttention(Layer):
    """softmax(query · keyᵀ / √size) · value
    Becomes: matrix products, batchedMatmul; before specification 4 repeated, multiplied and summed, softmax
    Options: `history_only`, masks; from keras-self-attention
    Refused: `return_attention`"""
    supports_masking = True
    def __init__(self, return_attention=False, history_only=False):
        super().__init__()
        self.history_only = history_only
        if return_attention:
            raise ValueError("return_attention: is not supported")

    def call(self, inputs, mask=None):
        query, key, value = inputs if isinstance(inputs, list) else [inputs] * 3
        mask = mask[1] if isinstance(mask, list) else mask
        scores = ops.matmul(query, ops.transpose(key, (0, 2, 1))) / math.sqrt(query.shape[-1])
        if self.history_only:
            scores = scores + (np.tril(np.ones((query.shape[1], key.shape[1]))) - 1) * 10000
        if mask is not None:
            scores = scores + (ops.expand_dims(mask, 1) - 1) * 10000
        return ops.matmul(ops.softmax(scores), value)

class SeqSelfAttention(Layer):
    """softmax(scores) · x; the scores are Σ a · tanh(x W + x' V + b) or x W x'ᵀ for all pairs of steps.
    Becomes: matrix products, batchedMatmul; before specification 4 repeated, multiplied and summed, softmax
    Options: `attention_type` additive and multiplicative, `attention_width`, `attention_activation`, `history_only`; from keras-self-attention
    Refused: masks, `return_attention`"""
    def __init__(self, units=32, attention_width=None, attention_type="additive", return_attention=False,
                 history_only=False, use_additive_bias=True, use_attention_bias=True, attention_activation=None):
        super().__init__()
        self.width, self.is_additive, self.is_causal = attention_width, attention_type == "additive", history_only
        self.use_bias = use_attention_bias
        if return_attention:
            raise ValueError("return_attention: is not supported")
        if attention_type not in ("additive", "multiplicative"):
            raise ValueError(f"attention_type: '{attention_type}' is not supported")
        if self.is_additive:
            self.query = Dense(units, use_bias=False)
            self.key = Dense(units, use_bias=use_additive_bias)
            self.scale = Dense(1, use_bias=use_attention_bias)
        self.activation = Activation(attention_activation or "linear")

    def build(self, shape):
        if not self.is_additive:
            self.kernel = self.add_weight(shape=(shape[-1], shape[-1]), name="Wa")
            if self.use_bias:
                self.bias = self.add_weight(shape=(1,), name="ba")

    def call(self, x, mask=None):
        if mask is not None:
            raise ValueError("masks are not supported")
        if self.is_additive:
            pairs = ops.expand_dims(self.query(x), 2) + ops.expand_dims(self.key(x), 1)
            scores = ops.squeeze(self.scale(ops.tanh(pairs)), -1)
        else:
            scores = ops.matmul(ops.matmul(x, self.kernel), ops.transpose(x, (0, 2, 1)))
            if self.use_bias:
                scores = scores + self.bias
        scores = self.activation(scores)
        if self.width is not None:
            steps = np.arange(x.shape[1])
            start = np.reshape(steps, (-1, 1)) - (self.width - 1 if self.is_causal else self.width // 2)
            scores = scores - 10000 * ((steps < start) + (steps >= start + self.width))
        return ops.matmul(ops.softmax(scores), x)

class SeqWeightedAttention(Layer):
    """Σ softmax(x w + b) x over the steps.
    Becomes: innerProduct, softmax, a product, a sum
    Options: `use_bias`; from keras-self-attention
    Refused: masks, `return_attention`"""
    def __init__(self, use_bias=True, return_attention=False):
        super().__init__()
        self.scores = Dense(1, use_bias=use_bias)
        if return_attention:
            raise ValueError("return_attention: is not supported")

    def call(self, x, mask=None):
        if mask is not None:
            raise ValueError("masks are not supported")
        return ops.sum(x * ops.softmax(self.scores(x), axis=1), axis=1)

class Extract(Layer):
    """The step `index` of a sequence.
    Becomes: slice
    Options: `index`; from keras-bert"""
    def __init__(self, index=0):
        super().__init__()
        self.index = index

    def call(self, x):
        return ops.take(x, self.index, axis=1)
