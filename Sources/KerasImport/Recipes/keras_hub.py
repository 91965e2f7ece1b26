# Layers of keras-hub 0.32.
import numpy as np
from keras import ops
from keras.layers import Conv2D, Dense, Embedding, Layer, LayerNormalization, MultiHeadAttention

def attention(dim, heads, dropout=0, use_bias=True):
    if dim % heads:
        raise ValueError(f"its {dim} channels are not divisible into {heads} heads")
    return MultiHeadAttention(num_heads=heads, key_dim=dim // heads, dropout=dropout, use_bias=use_bias)

def padded(mask, padding):
    """The padding mask with an axis for the queries, times the attention mask."""
    if padding is None:
        return mask
    padding = ops.expand_dims(padding, 1)
    return padding if mask is None else mask * padding

class TransformerEncoder(Layer):
    """Multi-head attention and a network of two matrices, each added to its input, with a normalization behind or before.
    Becomes: innerProducts, matrix products, batchedMatmul; before specification 4 repeated, multiplied and summed, softmax
    Options: `intermediate_dim`, `num_heads`, `activation`, `normalize_first`, padding and attention masks, `use_causal_mask`; from keras-hub
    Refused: `return_attention_scores`, caches"""
    supports_masking = True
    def __init__(self, intermediate_dim, num_heads, dropout=0, activation="relu", layer_norm_epsilon=1e-5,
                 normalize_first=False, encoder_sequence_shape=None):
        super().__init__()
        self.hidden, self.heads, self.dropout, self.activation = intermediate_dim, num_heads, dropout, activation
        self.epsilon, self.normalize_first = layer_norm_epsilon, normalize_first
        self.has_encoder = encoder_sequence_shape is not None

    def build(self, shape):
        self._self_attention_layer = attention(shape[-1], self.heads, self.dropout)
        self._self_attention_layer_norm = LayerNormalization(epsilon=self.epsilon)
        if self.has_encoder:
            self._cross_attention_layer = attention(shape[-1], self.heads, self.dropout)
            self._cross_attention_layer_norm = LayerNormalization(epsilon=self.epsilon)
        self._feedforward_intermediate_dense = Dense(self.hidden, activation=self.activation)
        self._feedforward_output_dense = Dense(shape[-1])
        self._feedforward_layer_norm = LayerNormalization(epsilon=self.epsilon)

    def added(self, x, norm, inner):
        return x + inner(norm(x)) if self.normalize_first else norm(x + inner(x))

    def attended(self, x, mask, is_causal):
        return self.added(x, self._self_attention_layer_norm, lambda y: self._self_attention_layer(
            y, y, attention_mask=mask, use_causal_mask=is_causal))

    def transformed(self, x):
        return self.added(x, self._feedforward_layer_norm, lambda y: self._feedforward_output_dense(
            self._feedforward_intermediate_dense(y)))

    def call(self, inputs, padding_mask=None, attention_mask=None, return_attention_scores=False):
        if return_attention_scores:
            raise ValueError("return_attention_scores is not supported")
        return self.transformed(self.attended(inputs, padded(attention_mask, padding_mask), False))

class TransformerDecoder(TransformerEncoder):
    def call(self, decoder_sequence, encoder_sequence=None, decoder_padding_mask=None, decoder_attention_mask=None,
             encoder_padding_mask=None, encoder_attention_mask=None, self_attention_cache=None,
             self_attention_cache_update_index=None, cross_attention_cache=None,
             cross_attention_cache_update_index=None, use_causal_mask=True):
        if self_attention_cache is not None or cross_attention_cache is not None:
            raise ValueError("caches are not supported")
        x = self.attended(decoder_sequence, padded(decoder_attention_mask, decoder_padding_mask), use_causal_mask)
        if self.has_encoder:
            mask = padded(encoder_attention_mask, encoder_padding_mask)
            x = self.added(x, self._cross_attention_layer_norm, lambda y: self._cross_attention_layer(
                y, encoder_sequence, attention_mask=mask))
        return self.transformed(x)

class FNetEncoder(Layer):
    """The real part of a two-dimensional Fourier transform and a network of two matrices, each added to its input.
    Becomes: innerProducts, permutes, add
    Options: `intermediate_dim`, `activation`; from keras-hub
    Refused: more than 1024 steps or channels"""
    supports_masking = True
    def __init__(self, intermediate_dim, activation="relu", layer_norm_epsilon=1e-5):
        super().__init__()
        self._intermediate_dense = Dense(intermediate_dim, activation=activation)
        self._mixing_layer_norm = LayerNormalization(epsilon=layer_norm_epsilon)
        self._output_layer_norm = LayerNormalization(epsilon=layer_norm_epsilon)

    def build(self, shape):
        self._output_dense = Dense(shape[-1])
        if max(shape[1:]) > 1024:
            raise ValueError(f"a Fourier transform of {shape[1]} × {shape[2]} is not supported")

    def call(self, x):
        def transformed(x, wave):
            for size in x.shape[2], x.shape[1]:
                numbers = np.reshape(np.arange(size), (-1, 1)) * np.arange(size) % size
                x = ops.transpose(ops.matmul(x, wave(2 * np.pi / size * numbers)), (0, 2, 1))
            return x

        # C · x · C − S · x · S
        x = self._mixing_layer_norm(x + (transformed(x, np.cos) - transformed(x, np.sin)))
        return self._output_layer_norm(x + self._output_dense(self._intermediate_dense(x)))

class RotaryEmbedding(Layer):
    """Each pair of channels c and c + n / 2 turned by the angle step / wavelength^(2c / n).
    Becomes: loadConstant, slice, multiply, add, concat
    Options: `max_wavelength`, `scaling_factor`, `rope_type` linear; from keras-hub
    Refused: other axes, `positions`"""
    supports_masking = True
    def __init__(self, max_wavelength=10000, scaling_factor=1.0, rope_type="linear", sequence_axis=1, feature_axis=-1,
                 denominator_dim=None):
        super().__init__()
        self.wavelength, self.factor, self.divisor = max_wavelength, scaling_factor, denominator_dim
        if rope_type != "linear":
            raise ValueError(f"rope_type: '{rope_type}' is not supported")
        if sequence_axis != 1 or feature_axis != -1:
            raise ValueError("feature_axis: another axis")

    def call(self, x, start_index=0, positions=None):
        if positions is not None or start_index:
            raise ValueError("start_index and positions are not supported")
        steps, half = x.shape[1], x.shape[-1] // 2
        angles = np.reshape(np.arange(steps) / self.factor, (-1, 1)) * self.wavelength ** (
            np.arange(half) * -2.0 / (self.divisor or 2 * half))
        if len(x.shape) == 4:
            angles = np.expand_dims(angles, 1)
        a, b = x[..., :half], x[..., half:]
        sines, cosines = np.sin(angles), np.cos(angles)
        return ops.concatenate([a * cosines - b * sines, b * cosines + a * sines], axis=-1)

class ViTPatchingAndEmbedding(Layer):
    """Patches of an image as a sequence, behind a stored step, plus a row of a table for each step.
    Becomes: convolution, concat, loadConstant, add
    Options: `patch_size`, `hidden_dim`, `use_class_token`; from keras-hub
    Refused: channels first, `use_patch_bias` false"""
    def __init__(self, patch_size, hidden_dim, use_class_token=True):
        super().__init__()
        self.width, self.has_token = hidden_dim, use_class_token
        self.patch_embedding = Conv2D(hidden_dim, patch_size, strides=patch_size)

    def call(self, images):
        patches = self.patch_embedding(images)
        count = patches.shape[1] * patches.shape[2]
        steps = ops.reshape(patches, (-1, count, self.width))
        if self.has_token:
            steps = ops.concatenate([self.class_token, steps], axis=1)
        return steps + self.position_embedding(np.arange(count + int(self.has_token)))

    def build(self, shape):
        patch = self.patch_embedding.kernel_size
        count = (shape[1] // patch[0]) * (shape[2] // patch[1])
        if self.has_token:
            self.class_token = self.add_weight(shape=(1, 1, self.width), name="class_token")
        self.position_embedding = Embedding(count + int(self.has_token), self.width)

class MLP(Layer):  # of ViTEncoder
    def __init__(self, hidden, width, use_bias):
        super().__init__()
        self.dense_1 = Dense(hidden, activation="gelu", use_bias=use_bias)
        self.dense_2 = Dense(width, use_bias=use_bias)

    def call(self, x):
        return self.dense_2(self.dense_1(x))

class ViTEncoderBlock(Layer):  # of ViTEncoder
    def __init__(self, width, heads, hidden, has_bias, epsilon):
        super().__init__()
        self.layer_norm_1 = LayerNormalization(epsilon=epsilon)
        self.mha = attention(width, heads, use_bias=has_bias[0])
        self.layer_norm_2 = LayerNormalization(epsilon=epsilon)
        self.mlp = MLP(hidden, width, has_bias[1])

    def call(self, x):
        y = self.layer_norm_1(x)
        x = x + self.mha(y, y)
        return x + self.mlp(self.layer_norm_2(x))

class ViTEncoder(Layer):
    """Blocks of multi-head attention and a network of two matrices, and a normalization at the end.
    Becomes: innerProducts, matrix products, batchedMatmul; before specification 4 repeated, multiplied and summed, softmax
    Options: `num_layers`, `num_heads`, `hidden_dim`, `mlp_dim`, `use_mha_bias`, `use_mlp_bias`; from keras-hub"""
    def __init__(self, num_layers, num_heads, hidden_dim, mlp_dim, use_mha_bias=True, use_mlp_bias=True,
                 layer_norm_epsilon=1e-6):
        super().__init__()
        self.encoder_layers = [
            ViTEncoderBlock(hidden_dim, num_heads, mlp_dim, (use_mha_bias, use_mlp_bias), layer_norm_epsilon)
            for _ in range(num_layers)]
        self.layer_norm = LayerNormalization(epsilon=layer_norm_epsilon)

    def call(self, x):
        for layer in self.encoder_layers:
            x = layer(x)
        return self.layer_norm(x)
