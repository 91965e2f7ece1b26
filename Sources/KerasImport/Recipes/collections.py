# Layers of vit-keras 0.1, mlp-mixer-keras 0.0.5, keras-tcn 3, keras-octave-conv 0.8, and of networks that many projects
# copy.
import math
import numpy as np
import tensorflow as tf
from keras import ops
from keras.layers import Activation, AveragePooling2D, BatchNormalization, Conv1D, Conv2D, Dense, Layer
from keras.layers import LayerNormalization, UpSampling2D

class ClassToken(Layer):
    """Stored steps before the steps of a sequence, or behind them.
    Becomes: loadConstant, concat
    Options: `num_tokens`, `is_at_end`; from vit-keras and keras-cv-attention-models"""
    def __init__(self, num_tokens=1, is_at_end=False):
        super().__init__()
        self.count, self.is_at_end = num_tokens, is_at_end

    def build(self, shape):
        self.tokens = self.add_weight(shape=(1, self.count, shape[-1]), name="tokens")

    def call(self, x):
        return ops.concatenate([x, self.tokens] if self.is_at_end else [self.tokens, x], axis=1)

class TransformerBlock(Layer):
    """Multi-head attention and a network of two matrices, each behind a normalization and added to its input.
    Becomes: innerProducts, matrix products, batchedMatmul; before specification 4 repeated, multiplied and summed, softmax
    Options: `num_heads`, `mlp_dim`; from vit-keras
    Refused: the scores, its second output; other classes of this name"""
    def __init__(self, num_heads=None, mlp_dim=None, ff_dim=None):
        super().__init__()
        self.heads, self.hidden = num_heads, mlp_dim
        if ff_dim is not None:
            raise ValueError("of Keras's two examples with this class, one attends to all steps and one to those before, "
                             "which the file does not say")
        if mlp_dim is None:
            raise ValueError("only vit-keras' class of this name is supported")

    def build(self, shape):
        width = shape[-1]
        self.query, self.key, self.value, self.out = [Dense(width) for _ in range(4)]
        self.dense_0, self.dense_1 = Dense(self.hidden, activation="gelu"), Dense(width)
        self.norm_0, self.norm_2 = [LayerNormalization(epsilon=1e-6) for _ in range(2)]

    def split(self, x):
        return ops.transpose(ops.reshape(x, (-1, x.shape[1], self.heads, x.shape[2] // self.heads)), (0, 2, 1, 3))

    def call(self, inputs):
        x = self.norm_0(inputs)
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = ops.matmul(query, ops.transpose(key, (0, 1, 3, 2))) / math.sqrt(query.shape[-1])
        x = ops.transpose(ops.matmul(ops.softmax(scores), value), (0, 2, 1, 3))
        x = inputs + self.out(ops.reshape(x, (-1, inputs.shape[1], inputs.shape[2])))
        return x + self.dense_1(self.dense_0(self.norm_2(x)))

class MixerBlock(Layer):
    """Two networks of two matrices, over the steps and over the channels, each behind a normalization over the steps.
    Becomes: innerProducts, permutes, add
    Options: `token_mixer_hidden_dim`, `channel_mixer_hidden_dim`; from mlp-mixer-keras"""
    def __init__(self, num_patches, channel_dim, token_mixer_hidden_dim, channel_mixer_hidden_dim=None,
                 activation="gelu"):
        super().__init__()
        self.norm_1 = LayerNormalization(axis=1)
        self.token_1 = Dense(token_mixer_hidden_dim, activation=activation)
        self.token_2 = Dense(num_patches)
        self.norm_2 = LayerNormalization(axis=1)
        self.channel_1 = Dense(channel_mixer_hidden_dim or token_mixer_hidden_dim, activation=activation)
        self.channel_2 = Dense(channel_dim)

    def call(self, inputs):
        x = self.token_2(self.token_1(ops.transpose(self.norm_1(inputs), (0, 2, 1))))
        x = inputs + ops.transpose(x, (0, 2, 1))
        return x + self.channel_2(self.channel_1(self.norm_2(x)))

class ResidualBlock(Layer):  # of TCN
    def __init__(self, width, size, dilation, padding, activation, use_batch_norm, use_layer_norm, name):
        super().__init__(name=name)
        self.width, self.activation = width, Activation(activation)
        self.batch_norm_layers, self.layer_norm_layers, self.layers = [], [], []
        for i in range(2):
            convolution = Conv1D(width, size, dilation_rate=dilation, padding=padding, name=f"conv1D_{i}")
            setattr(self, convolution.name, convolution)
            self.layers.append(convolution)
            for is_used, norms, norm in ((use_batch_norm, self.batch_norm_layers, BatchNormalization),
                                         (use_layer_norm, self.layer_norm_layers, LayerNormalization)):
                if is_used:
                    norms.append(norm(name=f"norm_{i}"))
                    self.layers.append(norms[-1])
            self.layers.append(self.activation)

    def build(self, shape):
        is_wide = shape[-1] == self.width
        self.matching_conv1D = None if is_wide else Conv1D(self.width, 1, padding="same", name="matching_conv1D")
        self.shape_match_conv = self.matching_conv1D

    def call(self, x):
        y = x
        for layer in self.layers + [self.activation]:
            y = layer(y)
        return self.activation((self.matching_conv1D(x) if self.matching_conv1D else x) + y), y

class TCN(Layer):
    """Residual blocks of dilated convolutions.
    Becomes: its convolutions, normalizations, activations and sums
    Options: of keras-tcn 3: all but weight normalization
    Refused: `use_weight_norm`, `return_state`; `padding='same'` of unknown length, unless `return_sequences`"""
    def __init__(self, nb_filters, kernel_size, dilations, nb_stacks=1, padding="causal", activation="relu",
                 use_skip_connections=True, return_sequences=False, go_backwards=False, use_batch_norm=False,
                 use_layer_norm=False, use_weight_norm=False, return_state=False):
        super().__init__()
        if use_weight_norm or return_state:
            raise ValueError("use_weight_norm and return_state are not supported")
        filters = [nb_filters] * len(dilations) if isinstance(nb_filters, int) else nb_filters
        self.padding, self.use_skips = padding, use_skip_connections
        self.return_sequences, self.go_backwards = return_sequences, go_backwards
        self.residual_blocks = [
            ResidualBlock(width, kernel_size, dilation, padding, activation, use_batch_norm, use_layer_norm,
                          name=f"residual_block_{i}")
            for i, (width, dilation) in enumerate(list(zip(filters, dilations)) * nb_stacks)]
        for block in self.residual_blocks:
            setattr(self, block.name, block)

    def call(self, x):
        if self.go_backwards:
            x = ops.flip(x, axis=1)
        skips = []
        for block in self.residual_blocks:
            x, skip = block(x)
            skips.append(skip)
        if self.use_skips:
            x = sum(skips)
        if self.return_sequences:
            return x
        return ops.take(x, x.shape[1] // 2 if self.padding == "same" else -1, axis=1)

class OctaveConv2D(Layer):
    """Convolutions between an image and a smaller one, added for each size.
    Becomes: convolutions, pooling, upsample, add
    Options: `octave`, `ratio_out`, `strides`, `dilation_rate`, `activation`; from keras-octave-conv
    Refused: channels first"""
    def __init__(self, filters, kernel_size, octave=2, ratio_out=0.5, strides=1, data_format=None, dilation_rate=1,
                 activation=None, use_bias=True):
        super().__init__()
        if data_format == "channels_first":
            raise ValueError("data_format: channels first is not supported")
        self.octave, self.low = octave, int(filters * ratio_out)
        self.high = filters - self.low
        self.made = lambda count: Conv2D(
            count, kernel_size, strides=strides, padding="same", dilation_rate=dilation_rate, activation=activation,
            use_bias=use_bias)

    def build(self, shape):
        count = len(shape) if isinstance(shape, list) else 1
        self.to_high = [self.made(self.high) for _ in range(count if self.high else 0)]
        self.to_low = [self.made(self.low) for _ in range(count if self.low else 0)]

    def call(self, inputs):
        images = inputs if isinstance(inputs, list) else [inputs]
        outputs = []
        if self.high:
            outputs.append(self.to_high[0](images[0]))
            if len(images) > 1:
                outputs[0] = outputs[0] + UpSampling2D(self.octave)(self.to_high[1](images[1]))
        if self.low:
            low = self.to_low[0](AveragePooling2D(self.octave)(images[0]))
            outputs.append(low + self.to_low[1](images[1]) if len(images) > 1 else low)
        return outputs

class SubPixelUpscaling(Layer):
    """Moves channels into blocks of pixels.
    Becomes: reorganizeData
    Options: `scale_factor`; from keras-contrib
    Refused: channels first, two factors"""
    def __init__(self, scale_factor=2, data_format=None):
        super().__init__()
        self.factor = scale_factor if isinstance(scale_factor, int) else scale_factor[0]
        if data_format in ("channels_first", "th"):
            raise ValueError("data_format: channels first")
        if not isinstance(scale_factor, int) and scale_factor[0] != scale_factor[-1]:
            raise ValueError("size: two factors are not supported")

    def call(self, x):
        return tf.nn.depth_to_space(x, self.factor) if self.factor > 1 else x

class PixelShuffler(SubPixelUpscaling):
    """Moves channels into blocks of pixels.
    Options: `size`; from faceswap"""
    def __init__(self, size=2, data_format=None):
        super().__init__(size, data_format)

class DepthToSpace(SubPixelUpscaling):
    """Moves channels into blocks of pixels.
    Options: `block_size`; from keras.io"""
    def __init__(self, block_size, data_format=None):
        super().__init__(block_size, data_format)

class Scale(Layer):
    """gamma · x + beta along one axis.
    Becomes: scale
    Options: `axis`; from networks converted from Caffe
    Refused: other classes of this name"""
    def __init__(self, axis=None, momentum=None):
        super().__init__()
        self.axis = axis
        if axis is None or momentum is None:
            raise ValueError("this variant of the class is not known: it has no 'axis' and 'momentum'")

    def build(self, shape):
        self.gamma = self.add_weight(shape=(shape[self.axis],), name="gamma")
        self.beta = self.add_weight(shape=(shape[self.axis],), name="beta")

    def call(self, x):
        sizes = [1] * len(x.shape)
        sizes[self.axis] = -1
        return x * np.reshape(self.gamma, sizes) + np.reshape(self.beta, sizes)

class CustomScaleLayer(Layer):
    """x₀ + scale · x₁
    Becomes: linear activation, add
    Options: `scale`; from Inception-ResNet v2"""
    def __init__(self, scale=1):
        super().__init__()
        self.scale = scale

    def call(self, inputs):
        return inputs[0] + inputs[1] * self.scale

class DeprocessStylizedImage(Layer):
    """(x + 1) · 127.5
    Becomes: linear activation
    Options: (x + 1) · 127.5, from fritz.ai's style networks"""
    def call(self, x):
        return (x + 1) * 127.5
