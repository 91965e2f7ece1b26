#!/usr/bin/env python3
"""Writes one small network for each layer and option of Keras, with the framework's own prediction.

    make.py [tf2|k3] [NAME…]

`tf2/NAME.h5` is made by tf_keras (Keras 2), `k3/NAME.keras` by Keras 3; `NAME.inputs.npz` beside it
holds the inputs `input1`…, `NAME.expected.npz` the predictions `output1`…, or those of a dictionary by its keys. Needs tensorflow with tf_keras and keras 3; the files
are committed, so that tests need neither.
"""
import os
import sys
import zipfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import h5py
import numpy as np
import keras as keras3
import tf_keras as keras2

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = []


def case(name, only=None):
    """Registers a function of the framework that gives inputs, outputs and, perhaps, input arrays."""
    def register(build):
        CASES.append((name, only, build))
        return build
    return register


def layer(name, make, *shapes, only=None, values=None):
    """A network of one layer over inputs of these shapes, batch left out."""
    def build(k):
        inputs = [k.Input(s) for s in shapes]
        made = make(k, k.layers)
        return inputs, made(inputs[0] if len(inputs) == 1 else inputs), values
    CASES.append((name, only, build))


# Files that get the version of an older Keras, whose class of this name computed so.
VERSIONS = {}


class Contributed(keras2.layers.Layer):
    """keras_contrib/layers/normalization/groupnormalization.py: it reshapes NHWC to
    (N, groups, H, W, C / groups), whatever channels come together in a group."""

    def __init__(self, groups=2, axis=-1, epsilon=1e-5, center=True, scale=True, **kwargs):
        super().__init__(**kwargs)
        self.groups, self.axis, self.epsilon, self.center, self.scale = groups, axis, epsilon, center, scale

    def get_config(self):
        own = {k: getattr(self, k) for k in ("groups", "axis", "epsilon", "center", "scale")}
        return {**super().get_config(), **own}

    def build(self, shape):
        self.gamma = self.add_weight(name="gamma", shape=(shape[self.axis],)) if self.scale else None
        self.beta = self.add_weight(name="beta", shape=(shape[self.axis],)) if self.center else None

    def call(self, x):
        import tensorflow as tf
        sizes = [-1, *x.shape[1:]]
        axes = list(sizes)
        axes[self.axis] = sizes[self.axis] // self.groups
        axes.insert(1, self.groups)
        broadcast = [1] * len(sizes)
        broadcast[self.axis] = sizes[self.axis] // self.groups
        broadcast.insert(1, self.groups)
        y = tf.reshape(x, [-1, self.groups] + axes[2:])
        mean, variance = tf.nn.moments(y, list(range(2, len(axes))), keepdims=True)
        y = (y - mean) / tf.sqrt(variance + self.epsilon)
        if self.scale:
            y = y * tf.reshape(self.gamma, broadcast)
        if self.center:
            y = y + tf.reshape(self.beta, broadcast)
        return tf.reshape(y, sizes)


Contributed.__name__ = "GroupNormalization"
for name, shape, options in (
        ("image", (4, 3, 6), {}), ("steps", (4, 6), {"groups": 3}), ("vector", (6,), {}),
        ("axis", (6, 4, 3), {"axis": 1}), ("plain", (4, 3, 4), {"scale": False, "center": False}),
        ("volume", (2, 2, 3, 4), {"scale": False})):
    layer(f"keras_contrib_group_normalization_{name}", lambda k, L, o=options: Contributed(**o), shape,
          only="tf2")
    VERSIONS[f"keras_contrib_group_normalization_{name}"] = "2.2.4"

class ContributedInstance(keras2.layers.Layer):
    """keras_contrib/layers/normalization/instancenormalization.py."""

    def __init__(self, axis=None, epsilon=1e-3, center=True, scale=True, **kwargs):
        super().__init__(**kwargs)
        self.axis, self.epsilon, self.center, self.scale = axis, epsilon, center, scale

    def get_config(self):
        own = {k: getattr(self, k) for k in ("axis", "epsilon", "center", "scale")}
        return {**super().get_config(), **own}

    def build(self, shape):
        size = (1 if self.axis is None else shape[self.axis],)
        self.gamma = self.add_weight(name="gamma", shape=size) if self.scale else None
        self.beta = self.add_weight(name="beta", shape=size) if self.center else None

    def call(self, x):
        import tensorflow as tf
        axes = list(range(len(x.shape)))
        broadcast = [1] * len(axes)
        if self.axis is not None:
            broadcast[self.axis] = x.shape[self.axis]
            del axes[self.axis]
        del axes[0]
        mean = tf.reduce_mean(x, axes, keepdims=True)
        y = (x - mean) / (tf.math.reduce_std(x, axes, keepdims=True) + self.epsilon)
        if self.scale:
            y = y * tf.reshape(self.gamma, broadcast)
        if self.center:
            y = y + tf.reshape(self.beta, broadcast)
        return y


ContributedInstance.__name__ = "InstanceNormalization"
for name, shape, options in (
        ("image", (4, 3, 6), {"axis": -1}), ("whole_image", (4, 3, 6), {}),
        ("axis", (6, 4, 3), {"axis": 1, "epsilon": 0.1}), ("steps", (5, 6), {"axis": 2}),
        ("plain", (4, 3, 6), {"axis": 3, "scale": False, "center": False}),
        ("offset", (4, 3, 6), {"scale": False})):
    layer(f"keras_contrib_instance_normalization_{name}",
          lambda k, L, o=options: ContributedInstance(**o), shape, only="tf2")
    VERSIONS[f"keras_contrib_instance_normalization_{name}"] = "2.2.4"


def collected(name, call, *weights, **options):
    """A layer of a collection, by the formula of its source: `weights` have the shape of the last axis, or
    are pairs of names and shapes."""
    def build(self, shape):
        last = shape[0][-1] if isinstance(shape, list) else shape[-1]
        for weight in weights:
            own = weight if isinstance(weight, tuple) else (
                weight, (1,) * (weight in "alpha beta") * 2 + (last,))
            setattr(self, own[0], self.add_weight(name=own[0], shape=own[1]))

    def init(self, **kwargs):
        keras2.layers.Layer.__init__(self, **{k: v for k, v in kwargs.items() if k not in options})

    def get_config(self):
        return {**keras2.layers.Layer.get_config(self), **options}

    members = {"__init__": init, "build": build, "call": call, "get_config": get_config}
    return type(name, (keras2.layers.Layer,), members)()


def collections():
    import tensorflow as tf
    pelu = {f"{w}_{k}": None for w in ("alpha", "beta") for k in ("initializer", "regularizer", "constraint")}
    image = (6, 8, 4)
    # keras_unet_collection/activations.py, keras_contrib/layers/advanced_activations/
    yield "gelu", (5,), collected("GELU", lambda self, x: 0.5 * x * (
        1.0 + tf.math.tanh(0.7978845608028654 * (x + 0.044715 * tf.math.pow(x, 3)))))
    yield "snake", (5,), collected("Snake", lambda self, x: x + (1 / 0.7) * tf.square(tf.sin(0.7 * x)), beta=0.7)
    yield "sine_relu", (5,), collected("SineReLU", lambda self, x: tf.maximum(
        0.3 * (tf.sin(x) - tf.cos(x)), x), epsilon=0.3)
    yield "pelu", image, collected("PELU", lambda self, x: tf.nn.relu(x) * self.alpha / self.beta + self.alpha * (
        tf.exp(-tf.nn.relu(-x) / self.beta) - 1), "alpha", "beta", shared_axes=[1, 2], **pelu)
    # ssd_keras/keras_layers/keras_layer_L2Normalization.py
    yield "l2_normalization", image, collected("L2Normalization", lambda self, x: tf.math.l2_normalize(
        x, 3) * self.gamma, "gamma", gamma_init=20)
    # keras_contrib/layers/convolutional/subpixelupscaling.py
    yield "sub_pixel_upscaling", image, collected("SubPixelUpscaling", lambda self, x: tf.nn.depth_to_space(
        x, 2), scale_factor=2, data_format="channels_last")
    yield "reflection_padding", image, collected("ReflectionPadding2D", lambda self, x: tf.pad(
        x, [[0, 0], [2, 2], [2, 2], [0, 0]], "REFLECT"), padding=[2, 2])
    # keras_retinanet/layers/_misc.py, backend/tensorflow_backend.py
    for name, target in (("upsample_like", (7, 13, 2)), ("upsample_like_twice", (12, 16, 2))):
        yield name, (image, target), collected("UpsampleLike", lambda self, x: tf.compat.v1.image.resize_images(
            x[0], tf.shape(x[1])[1:3], method="nearest"))
    # The pixel shuffling of faceswap's lib/model/layers.py: K.reshape, K.permute_dimensions, K.reshape.
    yield "pixel_shuffler", image, collected("PixelShuffler", lambda self, x: tf.reshape(tf.transpose(
        tf.reshape(x, (-1, 6, 8, 2, 2, 1)), (0, 1, 3, 2, 4, 5)), (-1, 12, 16, 1)), size=[2, 2],
        data_format="channels_last")
    # DenseNet-Keras, custom_layers.py
    for name, axis, size in (("scale", -1, 4), ("scale_of_rows", 1, 6)):
        place = [1, 6, 1, 1] if axis == 1 else [1, 1, 1, 4]
        yield name, image, collected("Scale", lambda self, x, p=place: x * tf.reshape(self.gamma, p) + tf.reshape(
            self.beta, p), ("gamma", (size,)), ("beta", (size,)), axis=axis, momentum=0.9)
    # keras-frcnn, keras_frcnn/FixedBatchNormalization.py
    yield "fixed_batch_normalization", image, collected(
        "FixedBatchNormalization", lambda self, x: tf.nn.batch_normalization(
            x, self.running_mean, self.running_std, self.beta, self.gamma, 0.01),
        ("gamma", (4,)), ("beta", (4,)), ("running_mean", (4,)), ("running_std", (4,)), epsilon=0.01, axis=-1)
    yield "gradient_reversal", (5,), collected("GradientReversal", lambda self, x: x, hp_lambda=1)
    # efficientnet/model.py, segmentation_models
    yield "fixed_dropout", (5,), collected("FixedDropout", lambda self, x: x, rate=0.2, noise_shape=None, seed=None)


for name, shape, made in collections():
    shapes = shape if isinstance(shape[0], tuple) else (shape,)
    layer(f"collected_{name}", lambda k, L, m=made: m, *shapes, only="tf2")


class ContextAttention(keras2.layers.Layer):
    """The attention with a context vector of hierarchical attention networks, as
    "AttentionWithContext" of many networks for text computes it, masks included."""

    def __init__(self, bias=True, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking, self.has_bias = True, bias

    def build(self, shape):
        self.W = self.add_weight(name=self.name + "_W", shape=(shape[-1], shape[-1]))
        self.b = self.add_weight(name=self.name + "_b", shape=(shape[-1],)) if self.has_bias else 0
        self.u = self.add_weight(name=self.name + "_u", shape=(shape[-1],))

    def compute_mask(self, inputs, mask=None):
        return None

    def get_config(self):
        return super().get_config()

    def call(self, x, mask=None):
        import tensorflow as tf
        a = tf.exp(tf.linalg.matvec(tf.tanh(tf.matmul(x, self.W) + self.b), self.u))
        if mask is not None:
            a *= tf.cast(mask, tf.float32)
        a /= tf.reduce_sum(a, axis=1, keepdims=True) + keras2.backend.epsilon()
        return tf.reduce_sum(x * a[:, :, None], axis=1)


ContextAttention.__name__ = "AttentionWithContext"
for bias in (True, False):
    layer(f"collected_context_attention_{bias}", lambda k, L, b=bias: ContextAttention(b), (6, 4), only="tf2")
layer("collected_context_attention_masked", lambda k, L: lambda x: ContextAttention()(L.Masking()(x)),
      (5, 3), only="tf2", values=[np.array([[[1, 2, 3], [0, 0, 0], [-1, 0, 2], [0, 0, 0], [0, 0, 0]]], "f4")])
layer("sync_batch_normalization", lambda k, L: L.experimental.SyncBatchNormalization(), (4, 3, 2), only="tf2")


def hard_swish(x):
    return x * keras2.activations.relu(x + 3, max_value=6) / 6


for name in ("swish", "mish", "gelu", "hard_swish"):
    layer(f"customary_{name}", lambda k, L, n=name: L.Activation(
        hard_swish if n == "hard_swish" else n), (7,), only="tf2")
    VERSIONS[f"customary_{name}"] = "2.2.4"

# Recurrent layers
S = (5, 3)
for bias in (True, False):
    layer(f"gru_reset_after_bias_{bias}", lambda k, L, b=bias: L.GRU(4, use_bias=b), S)
layer("gru_reset_after_sequences", lambda k, L: L.GRU(4, return_sequences=True), S)
layer("gru_reset_after_backwards", lambda k, L: L.GRU(4, return_sequences=True, go_backwards=True), S)
layer("gru_reset_before", lambda k, L: L.GRU(4, reset_after=False), S)
layer("gru_softsign", lambda k, L: L.GRU(4, activation="softsign", recurrent_activation="hard_sigmoid"), S)
layer("gru_before_elu", lambda k, L: L.GRU(4, reset_after=False, activation="elu"), S)
layer("lstm_hard_sigmoid", lambda k, L: L.LSTM(4, recurrent_activation="hard_sigmoid"), S)
layer("lstm_linear", lambda k, L: L.LSTM(4, activation="linear", unit_forget_bias=False), S)
layer("lstm_softplus", lambda k, L: L.LSTM(4, activation="softplus", return_sequences=True), S)
layer("rnn_selu", lambda k, L: L.SimpleRNN(4, activation="selu"), S)
# States far beyond 50, where Core ML's own layers hold them.
LARGE = [np.random.default_rng(3).normal(size=(1, 6, 3)).astype("f4") * 500]
for path in ("", "_backwards"):
    layer(f"gru_linear_large{path}", lambda k, L, p=path: L.GRU(
        2, activation="linear", reset_after=False, return_sequences=True, go_backwards=bool(p)), (6, 3),
        only="tf2", values=LARGE)
layer("rnn_relu_large", lambda k, L: L.SimpleRNN(2, activation="relu"), (6, 3), only="tf2", values=LARGE)
layer("rnn_linear_large_both_ways", lambda k, L: L.Bidirectional(
    L.SimpleRNN(2, activation="linear", return_sequences=True)), (6, 3), only="tf2", values=LARGE)
layer("rnn_relu", lambda k, L: L.SimpleRNN(4, activation="relu", return_sequences=True), S)
for cell in ("LSTM", "GRU", "SimpleRNN"):
    @case(f"return_state_{cell}")
    def _(k, cell=cell):
        x = k.Input(S)
        return [x], list(getattr(k.layers, cell)(4, return_sequences=True, return_state=True)(x)), None

    @case(f"initial_state_{cell}")
    def _(k, cell=cell):
        x = k.Input(S)
        h = [k.Input((4,)) for _ in range(2 if cell == "LSTM" else 1)]
        return [x, *h], getattr(k.layers, cell)(4)(x, initial_state=h), None

    for mode in ("concat", "sum", "mul", "ave", None):
        for sequences in (True, False):
            @case(f"bidirectional_{cell}_{mode}_{'sequences' if sequences else 'last'}")
            def _(k, cell=cell, mode=mode, sequences=sequences):
                x = k.Input(S)
                inner = getattr(k.layers, cell)(4, return_sequences=sequences)
                y = k.layers.Bidirectional(inner, merge_mode=mode)(x)
                return [x], y if mode is None else [y], None
    layer(f"rnn_of_{cell}_cell",
          lambda k, L, c=cell: L.RNN(getattr(L, c + "Cell")(4), return_sequences=True), S)

    @case(f"masking_{cell}")
    def _(k, cell=cell):
        x = k.Input(S)
        y = k.layers.Masking(0.5)(x)
        y = getattr(k.layers, cell)(4, return_sequences=True)(y)
        y = getattr(k.layers, cell)(3)(y)
        v = np.random.default_rng(3).normal(size=(1, *S)).astype("f4")
        v[0, 1] = 0.5
        v[0, 4] = 0.5
        return [x], y, [v]

    @case(f"mask_zero_{cell}")
    def _(k, cell=cell):
        x = k.Input((6,))
        y = k.layers.Embedding(9, 3, mask_zero=True)(x)
        y = k.layers.Dropout(0.1)(y)
        y = k.layers.Bidirectional(getattr(k.layers, cell)(4, return_sequences=True))(y)
        y = getattr(k.layers, cell)(3)(y)
        return [x], y, [np.array([[3, 0, 5, 8, 0, 0]], "f4")]

layer("rnn_of_stacked_cells",
      lambda k, L: L.RNN(L.StackedRNNCells([L.LSTMCell(4), L.GRUCell(3), L.SimpleRNNCell(2)])), S)
layer("rnn_of_cell_list", lambda k, L: L.RNN([L.GRUCell(4), L.GRUCell(3)], return_sequences=True), S)
layer("bidirectional_go_backwards", lambda k, L: L.Bidirectional(
    L.LSTM(4, go_backwards=True, return_sequences=True)), S, only="tf2")
layer("bidirectional_other_backward", lambda k, L: L.Bidirectional(
    L.GRU(4, return_sequences=True),
    backward_layer=L.LSTM(3, go_backwards=True, return_sequences=True)), S)


@case("bidirectional_return_state")
def _(k):
    x = k.Input(S)
    return [x], list(k.layers.Bidirectional(k.layers.LSTM(4, return_state=True))(x)), None


@case("bidirectional_gru_return_state")
def _(k):
    x = k.Input(S)
    return [x], list(k.layers.Bidirectional(k.layers.GRU(4, return_state=True))(x)), None


@case("encoder_decoder")
def _(k):
    a, b = k.Input(S), k.Input((4, 2))
    _, h, c = k.layers.LSTM(4, return_state=True)(a)
    return [a, b], k.layers.LSTM(4, return_sequences=True)(b, initial_state=[h, c]), None


@case("masked_average")
def _(k):
    x = k.Input((6,))
    y = k.layers.Embedding(9, 3, mask_zero=True)(x)
    return [x], k.layers.GlobalAveragePooling1D()(y), [np.array([[3, 0, 5, 8, 0, 0]], "f4")]


@case("mask_zero_unused")
def _(k):
    x = k.Input((6,))
    y = k.layers.Embedding(9, 3, mask_zero=True)(x)
    return [x], k.layers.Dense(2)(y), [np.array([[3, 0, 5, 8, 0, 0]], "f4")]


for sequences in (True, False):
    layer(f"conv_lstm_2d_{sequences}", lambda k, L, s=sequences: L.ConvLSTM2D(
        3, (2, 3), padding="same", return_sequences=s), (3, 5, 6, 2))
layer("conv_lstm_2d_options", lambda k, L: L.ConvLSTM2D(
    3, 3, strides=2, activation="relu", recurrent_activation="sigmoid", use_bias=False,
    go_backwards=True, return_sequences=True), (3, 7, 8, 2))
layer("conv_lstm_2d_state", lambda k, L: L.ConvLSTM2D(2, 3, padding="same", return_state=True), (3, 4, 4, 2))
layer("conv_lstm_1d", lambda k, L: L.ConvLSTM1D(3, 3, padding="same", return_sequences=True), (3, 6, 2))



def cudnn(name, bidirectional):
    """CuDNN's layers run on its devices only: the same network with Keras' own layer predicts."""
    @case(f"cudnn_{name}_{'bidirectional' if bidirectional else 'one'}", only="tf2")
    def _(k):
        from tf_keras.src.layers.rnn.cudnn_gru import CuDNNGRU
        from tf_keras.src.layers.rnn.cudnn_lstm import CuDNNLSTM
        from tf_keras.src.saving.legacy.hdf5_format import preprocess_weights_for_loading

        own = getattr(k.layers, name)(4, return_sequences=True)
        fast = {"LSTM": CuDNNLSTM, "GRU": CuDNNGRU}[name](4, return_sequences=True)
        if bidirectional:
            own, fast = k.layers.Bidirectional(own), k.layers.Bidirectional(fast)
        x = k.Input(S)
        own(x)
        fast.build((None, *S))
        rng = np.random.default_rng(4)
        weights = [rng.normal(0, 0.5, w.shape).astype("f4") for w in own.get_weights()]
        own.set_weights(weights)
        fast.set_weights(preprocess_weights_for_loading(fast, weights))
        value = rng.normal(size=(1, *S)).astype("f4")
        return fast, own, [value]


for name in ("LSTM", "GRU"):
    for bidirectional in (False, True):
        cudnn(name, bidirectional)

# Convolutions
for padding in ("valid", "same", "causal"):
    layer(f"separable_conv_1d_{padding}", lambda k, L, p=padding: L.SeparableConv1D(
        4, 3, padding=p, depth_multiplier=2, activation="relu"), (8, 3),
        only="tf2" if padding == "causal" else None)
layer("separable_conv_1d_dilated", lambda k, L: L.SeparableConv1D(4, 3, dilation_rate=2), (9, 3))
layer("depthwise_conv_1d", lambda k, L: L.DepthwiseConv1D(3, strides=2, depth_multiplier=2), (8, 3))
for padding in ("valid", "same"):
    for strides in (1, 2, 3):
        layer(f"conv_1d_transpose_{padding}_{strides}", lambda k, L, p=padding, s=strides: L.Conv1DTranspose(
            4, 3, strides=s, padding=p), (6, 3))
layer("conv_1d_transpose_dilated", lambda k, L: L.Conv1DTranspose(4, 3, dilation_rate=2), (6, 3), only="none")
layer("conv_1d_groups", lambda k, L: L.Conv1D(4, 3, groups=2), (8, 4))
layer("conv_2d_groups", lambda k, L: L.Conv2D(6, 3, groups=3), (7, 8, 6))
layer("conv_2d_transpose_output_padding", lambda k, L: L.Conv2DTranspose(
    3, 3, strides=2, padding="same", output_padding=1), (4, 5, 2))
for padding in ("valid", "same"):
    layer(f"conv_3d_{padding}", lambda k, L, p=padding: L.Conv3D(
        3, (2, 3, 3), padding=p, activation="relu"), (5, 6, 7, 2))
layer("conv_3d_strides", lambda k, L: L.Conv3D(3, 3, strides=(2, 1, 2), padding="same"), (5, 6, 7, 2))
layer("conv_3d_dilation", lambda k, L: L.Conv3D(3, 2, dilation_rate=(2, 2, 1)), (5, 6, 7, 2))
layer("conv_3d_groups", lambda k, L: L.Conv3D(4, 2, groups=2), (4, 5, 6, 4))
for padding in ("valid", "same"):
    for strides in (1, 2):
        layer(f"conv_3d_transpose_{padding}_{strides}", lambda k, L, p=padding, s=strides: L.Conv3DTranspose(
            3, (2, 3, 3), strides=s, padding=p), (3, 4, 5, 2))
for name in ("MaxPooling3D", "AveragePooling3D"):
    for padding in ("valid", "same"):
        layer(f"{name}_{padding}", lambda k, L, n=name, p=padding: getattr(L, n)(
            (2, 3, 2), strides=(2, 1, 2), padding=p), (5, 6, 7, 2))
for name in ("GlobalMaxPooling3D", "GlobalAveragePooling3D"):
    layer(name, lambda k, L, n=name: getattr(L, n)(), (3, 4, 5, 2))
    layer(name + "_keepdims", lambda k, L, n=name: getattr(L, n)(keepdims=True), (3, 4, 5, 2))
layer("zero_padding_3d", lambda k, L: L.ZeroPadding3D(((1, 2), (0, 1), (2, 0))), (3, 4, 5, 2))
layer("cropping_3d", lambda k, L: L.Cropping3D(((1, 0), (0, 1), (2, 1))), (3, 4, 5, 2))
layer("up_sampling_3d", lambda k, L: L.UpSampling3D((2, 3, 1)), (3, 4, 5, 2))
layer("network_3d", lambda k, L: k.Sequential([
    L.Conv3D(3, 2, activation="relu"), L.BatchNormalization(), L.MaxPooling3D(2), L.Flatten(),
    L.Dense(4, activation="softmax")]), (6, 7, 8, 2))
for padding in ("valid",):
    layer("locally_connected_1d", lambda k, L: L.LocallyConnected1D(4, 3, strides=2), (8, 3), only="tf2")
    # The stored bias [rows, columns, filters] is read as [filters, rows, columns].
    layer("locally_connected_2d_channels_first", lambda k, L: L.LocallyConnected2D(
        3, (2, 3), data_format="channels_first"), (2, 5, 7), only="tf2")
    layer("locally_connected_1d_channels_first", lambda k, L: L.LocallyConnected1D(
        4, 3, data_format="channels_first"), (3, 8), only="tf2")
    for mode in (1, 2, 3):
        layer(f"locally_connected_2d_{mode}", lambda k, L, m=mode: L.LocallyConnected2D(
            3, (2, 3), strides=(1, 2), implementation=m), (5, 7, 2), only="tf2")
    layer("locally_connected_1d_2", lambda k, L: L.LocallyConnected1D(4, 3, implementation=2, padding="same"),
          (6, 3), only="tf2")
    for mode in (2, 3):
        layer(f"locally_connected_2d_same_{mode}", lambda k, L, m=mode: L.LocallyConnected2D(
            2, (2, 3), padding="same", implementation=m), (4, 5, 2), only="tf2")
    layer("locally_connected_1d_3", lambda k, L: L.LocallyConnected1D(4, 3, implementation=3), (6, 3), only="tf2")

for name, shape in ("flatten_channels_first", (3, 4, 5)), ("flatten_channels_first_steps", (6, 5)):
    layer(name, lambda k, L: L.Flatten(data_format="channels_first"), shape, only="tf2")

# Merges
for name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"):
    layer(f"merge_{name}", lambda k, L, n=name: getattr(L, n)(), (4, 5, 3), (4, 5, 3))
    for other in ((1, 1, 3), (4, 5, 1), (4, 1, 1)) if name in ("Add", "Maximum", "Average") else ():
        layer(f"broadcast_{name}_{'_'.join(map(str, other))}",
              lambda k, L, n=name: getattr(L, n)(), (4, 5, 3), other)
    layer(f"broadcast_steps_{name}", lambda k, L, n=name: getattr(L, n)(), (4, 3), (1, 3))
    layer(f"broadcast_both_{name}", lambda k, L, n=name: getattr(L, n)(), (4, 1, 3), (1, 5, 3))
layer("add_ranks", lambda k, L: L.Add(), (4, 5, 3), (3,), only="tf2")
for axis in (1, 2, 3):
    layer(f"concatenate_{axis}", lambda k, L, a=axis: L.Concatenate(axis=a), (4, 5, 3), (4, 5, 3))
    layer(f"softmax_{axis}", lambda k, L, a=axis: L.Softmax(axis=a), (4, 5, 3))
layer("concatenate_steps", lambda k, L: L.Concatenate(axis=1), (4, 3), (2, 3))
layer("softmax_steps", lambda k, L: L.Softmax(axis=1), (4, 3))
layer("softmax_axes", lambda k, L: L.Softmax(axis=(1, 2)), (4, 5, 3))
layer("softmax_volume", lambda k, L: L.Softmax(axis=1), (4, 5, 3, 2))
layer("dot_vectors", lambda k, L: L.Dot(1, normalize=True), (4,), (4,))
layer("dot_steps", lambda k, L: L.Dot(2), (4, 3), (5, 3))
layer("dot_steps_1", lambda k, L: L.Dot(1), (4, 3), (4, 2))
layer("dot_steps_mixed", lambda k, L: L.Dot((2, 1)), (4, 3), (3, 5))
layer("dot_normalized", lambda k, L: L.Dot(2, normalize=True), (4, 3), (5, 3))

# Shapes
for target in ((60,), (12, 5), (5, 4, 3), (3, 2, 2, 5), (-1, 6)):
    for source in ((15, 4), (4, 5, 3), (2, 2, 5, 3)):
        layer(f"reshape_{'x'.join(map(str, source))}_{'x'.join(map(str, target))}",
              lambda k, L, t=target: L.Reshape(t), source)
layer("flatten_volume", lambda k, L: L.Flatten(), (2, 3, 4, 5))
layer("permute_2", lambda k, L: L.Permute((2, 1)), (4, 3))
layer("permute_3", lambda k, L: L.Permute((3, 1, 2)), (4, 3, 5))
layer("permute_4", lambda k, L: L.Permute((4, 2, 1, 3)), (4, 3, 5, 2))
layer("repeat_vector", lambda k, L: L.RepeatVector(3), (4,))
for axes in (None, [1], [2], [1, 2], [1, 3], [3]):
    layer(f"prelu_{'_'.join(map(str, axes or ['none']))}", lambda k, L, a=axes: L.PReLU(
        "uniform", shared_axes=a), (4, 5, 3))
layer("prelu_steps", lambda k, L: L.PReLU("uniform"), (4, 3))
layer("prelu_volume", lambda k, L: L.PReLU("uniform", shared_axes=[1, 2, 3]), (4, 5, 3, 2))
for mode in ("nearest", "bilinear", "bicubic", "area", "gaussian", "lanczos3", "lanczos5", "mitchellcubic"):
    only = "tf2" if mode in ("area", "gaussian", "mitchellcubic") else None
    layer(f"up_sampling_{mode}", lambda k, L, m=mode: L.UpSampling2D((2, 3), interpolation=m), (4, 5, 2), only=only)
    layer(f"resizing_{mode}", lambda k, L, m=mode: L.Resizing(7, 3, interpolation=m), (5, 6, 2), only=only)
layer("resizing_larger", lambda k, L: L.Resizing(9, 13), (4, 5, 2))
layer("resizing_crop", lambda k, L: L.Resizing(4, 4, crop_to_aspect_ratio=True), (6, 9, 2))
layer("resizing_pad", lambda k, L: L.Resizing(6, 6, pad_to_aspect_ratio=True), (4, 8, 2), only="k3")
layer("center_crop", lambda k, L: L.CenterCrop(4, 3), (7, 6, 2))
layer("center_crop_smaller", lambda k, L: L.CenterCrop(6, 6), (4, 5, 2))
layer("rescaling", lambda k, L: L.Rescaling(1 / 127.5, -1), (4, 5, 3))
layer("rescaling_list", lambda k, L: L.Rescaling([0.5, 0.25, 2.0], [1.0, 2.0, 3.0]), (4, 5, 3))
layer("normalization_given", lambda k, L: L.Normalization(mean=[1., 2., 3.], variance=[4., 2., 1.]), (4, 5, 3))
layer("normalization_invert", lambda k, L: L.Normalization(mean=3., variance=2., invert=True), (4,))


@case("normalization_adapted")
def _(k):
    x = k.Input((4, 5, 3))
    n = k.layers.Normalization()
    n.adapt(np.random.default_rng(1).normal(2, 3, (8, 4, 5, 3)).astype("f4"))
    return [x], n(x), None


@case("normalization_axes")
def _(k):
    x = k.Input((4, 3))
    n = k.layers.Normalization(axis=(1, 2))
    n.adapt(np.random.default_rng(1).normal(2, 3, (8, 4, 3)).astype("f4"))
    return [x], n(x), None


layer("discretization", lambda k, L: k.Sequential(
    [L.Discretization([-1., 0., 0.5, 1.]), L.Rescaling(1.)]), (4, 3), only="tf2")
layer("discretization_one_hot", lambda k, L: L.Discretization([-1., 0., 1.], output_mode="one_hot"), (1,))
layer("category_encoding", lambda k, L: L.CategoryEncoding(5, output_mode="one_hot"), (1,),
      values=[np.array([[3]], "f4")])
layer("preprocessing_vanishes", lambda k, L: k.Sequential(
    [L.RandomFlip(), L.RandomRotation(0.1), L.RandomZoom(0.1), L.RandomContrast(0.1),
     L.RandomTranslation(0.1, 0.1), L.RandomBrightness(0.1), L.GaussianNoise(0.1), L.GaussianDropout(0.1),
     L.AlphaDropout(0.1), L.SpatialDropout2D(0.1), L.ActivityRegularization(0.1), L.Conv2D(2, 3)]), (8, 8, 3))
layer("random_crop", lambda k, L: L.RandomCrop(4, 3), (7, 6, 2))

# Normalisation
for axis in (-1, 1, (1, 2), (1, 2, 3), (2, 3), 2):
    layer(f"layer_normalization_{str(axis).strip('()').replace(', ', '_')}",
          lambda k, L, a=axis: L.LayerNormalization(axis=a), (4, 5, 6))
layer("layer_normalization_steps", lambda k, L: L.LayerNormalization(epsilon=0.01, scale=False), (4, 6))
layer("layer_normalization_vector", lambda k, L: L.LayerNormalization(center=False), (6,))
layer("layer_normalization_rms", lambda k, L: L.LayerNormalization(rms_scaling=True), (4, 6), only="k3")
layer("rms_normalization", lambda k, L: L.RMSNormalization(), (4, 6), only="k3")
for groups in (1, 2, 6, -1):
    layer(f"group_normalization_{groups}", lambda k, L, g=groups: L.GroupNormalization(g), (4, 5, 6))
layer("group_normalization_steps", lambda k, L: L.GroupNormalization(3), (4, 6))
layer("group_normalization_vector", lambda k, L: L.GroupNormalization(3), (6,))
layer("group_normalization_axis", lambda k, L: L.GroupNormalization(2, axis=1), (4, 5, 6))
for axis in (-1, 1, (1, 2)):
    layer(f"unit_normalization_{str(axis).strip('()').replace(', ', '_')}",
          lambda k, L, a=axis: L.UnitNormalization(axis=a), (4, 5, 6))
layer("batch_normalization_1", lambda k, L: L.BatchNormalization(axis=1), (4, 5, 6))
layer("batch_normalization_volume", lambda k, L: L.BatchNormalization(), (3, 4, 5, 6))
layer("spectral_normalization", lambda k, L: L.SpectralNormalization(L.Conv2D(3, 2)), (4, 5, 2), only="k3")

# Attention
for scale in (False, True):
    layer(f"attention_{scale}", lambda k, L, s=scale: L.Attention(use_scale=s), (4, 6), (5, 6))
    layer(f"additive_attention_{scale}", lambda k, L, s=scale: L.AdditiveAttention(use_scale=s), (4, 6), (5, 6))
layer("attention_key", lambda k, L: L.Attention(), (4, 6), (5, 3), (5, 6))
layer("attention_concat", lambda k, L: L.Attention(score_mode="concat"), (4, 6), (5, 6))


@case("attention_causal")
def _(k):
    q, v = k.Input((5, 6)), k.Input((5, 6))
    return [q, v], k.layers.Attention()([q, v], use_causal_mask=True), None


@case("multi_head_attention")
def _(k):
    q, v = k.Input((4, 6)), k.Input((5, 6))
    return [q, v], k.layers.MultiHeadAttention(2, 3)(q, v), None


@case("multi_head_attention_options")
def _(k):
    q, v = k.Input((4, 6)), k.Input((5, 6))
    return [q, v], k.layers.MultiHeadAttention(2, 3, value_dim=4, use_bias=False, output_shape=7)(q, v), None


@case("multi_head_attention_causal")
def _(k):
    q = k.Input((5, 6))
    return [q], k.layers.MultiHeadAttention(2, 3)(q, q, use_causal_mask=True), None


@case("transformer_block")
def _(k):
    L = k.layers
    x = k.Input((5,))
    y = L.Embedding(9, 8)(x)
    y = L.Add()([y, L.MultiHeadAttention(2, 4)(y, y)])
    y = L.LayerNormalization(epsilon=1e-6)(y)
    z = L.Dense(8)(L.Dense(16, activation="gelu")(y))
    y = L.LayerNormalization(epsilon=1e-6)(L.Add()([y, z]))
    y = L.Dense(3, activation="softmax")(L.GlobalAveragePooling1D()(y))
    return [x], y, [np.array([[3, 1, 5, 8, 0]], "f4")]




def masked(k, steps, padding, size=6):
    """A sequence of which some steps do not count, its input and its values."""
    x = k.Input((steps,))
    values = np.array([[3 + i % 5 if i not in padding else 0 for i in range(steps)]], "f4")
    return x, k.layers.Embedding(9, size, mask_zero=True)(x), values


for name in ("Attention", "AdditiveAttention"):
    for causal in (False, True):
        @case(f"{name}_masked{'_causal' if causal else ''}")
        def _(k, name=name, causal=causal):
            a, q, u = masked(k, 5, [4])
            b, v, w = masked(k, 5, [1, 3])
            return [a, b], getattr(k.layers, name)()([q, v], use_causal_mask=causal), [u, w]

    @case(f"{name}_scores")
    def _(k, name=name):
        q, v = k.Input((4, 6)), k.Input((5, 6))
        return [q, v], list(getattr(k.layers, name)()([q, v], return_attention_scores=True)), None


for cls in ("MultiHeadAttention", "GroupQueryAttention"):
    only = None if cls == "MultiHeadAttention" else "k3"

    def make_heads(k, cls=cls, **options):
        return (k.layers.MultiHeadAttention(2, 3, **options) if cls == "MultiHeadAttention"
                else k.layers.GroupQueryAttention(3, 4, 2, **options))

    @case(f"{cls}_plain", only or "none")
    def _(k, heads=make_heads):
        q, v = k.Input((4, 6)), k.Input((5, 6))
        return [q, v], heads(k)(q, v), None

    @case(f"{cls}_masked", only)
    def _(k, heads=make_heads):
        a, q, u = masked(k, 5, [4])
        b, v, w = masked(k, 6, [1, 3])
        return [a, b], heads(k)(q, v), [u, w]

    @case(f"{cls}_masked_causal", only)
    def _(k, heads=make_heads):
        a, q, u = masked(k, 5, [3, 4])
        return [a], heads(k)(q, q, use_causal_mask=True), [u]

    @case(f"{cls}_masked_pooled", only)
    def _(k, heads=make_heads):
        L = k.layers
        a, q, u = masked(k, 5, [3, 4])
        y = L.LayerNormalization()(L.Add()([q, heads(k)(q, q)]))
        return [a], L.GlobalAveragePooling1D()(y), [u]

    for shape in ((4, 5), (1, 5), (2, 4, 5)) if only is None else ((4, 5), (1, 5)):
        @case(f"{cls}_attention_mask_{'x'.join(map(str, shape))}", only)
        def _(k, heads=make_heads, shape=shape):
            q, v, m = k.Input((4, 6)), k.Input((5, 6)), k.Input(shape)
            rng = np.random.default_rng(8)
            mask = (rng.uniform(size=(1, *shape)) > 0.4).astype("f4")
            mask[..., 0] = 1
            values = [rng.normal(size=(1, 4, 6)).astype("f4"), rng.normal(size=(1, 5, 6)).astype("f4"), mask]
            return [q, v, m], heads(k)(q, v, attention_mask=m), values

    @case(f"{cls}_scores", only)
    def _(k, heads=make_heads):
        q, v = k.Input((4, 6)), k.Input((5, 6))
        return [q, v], list(heads(k)(q, v, return_attention_scores=True, use_causal_mask=True)), None

    @case(f"{cls}_gate", "k3")
    def _(k, heads=make_heads):
        q, v = k.Input((4, 6)), k.Input((5, 6))
        return [q, v], heads(k, use_gate=True)(q, v), None

    @case(f"{cls}_window", "k3")
    def _(k, heads=make_heads):
        q = k.Input((6, 6))
        return [q], heads(k, sliding_window=3)(q, q), None

    @case(f"{cls}_key", only)
    def _(k, heads=make_heads):
        q, v, u = k.Input((4, 6)), k.Input((5, 6)), k.Input((5, 6))
        return [q, v, u], heads(k)(q, v, u), None


@case("multi_head_attention_image")
def _(k):
    q = k.Input((3, 4, 6))
    return [q], k.layers.MultiHeadAttention(2, 3, attention_axes=(1, 2))(q, q), None


@case("multi_head_attention_rows")
def _(k):
    q = k.Input((3, 4, 6))
    return [q], k.layers.MultiHeadAttention(2, 3, attention_axes=(2,))(q, q), None


@case("multi_head_attention_columns")
def _(k):
    q = k.Input((3, 4, 6))
    return [q], k.layers.MultiHeadAttention(2, 3, attention_axes=(1,))(q, q), None


@case("multi_head_attention_output_shape")
def _(k):
    q = k.Input((4, 6))
    return [q], k.layers.MultiHeadAttention(2, 3, output_shape=(2, 5))(q, q), None


@case("softmax_masked")
def _(k):
    x, m = k.Input((4, 5)), k.Input((4, 5))
    rng = np.random.default_rng(8)
    mask = (rng.uniform(size=(1, 4, 5)) > 0.4).astype("f4")
    y = k.layers.Softmax()(x, mask=m) if k is keras2 else k.layers.Softmax()(x, m)
    return [x, m], y, [rng.normal(size=(1, 4, 5)).astype("f4"), mask]


@case("reversible_embedding", "k3")
def _(k):
    x = k.Input((5,))
    e = k.layers.ReversibleEmbedding(9, 4)
    y = k.layers.Dense(4, activation="tanh")(e(x))
    return [x], e(y, reverse=True), [np.array([[3, 1, 5, 8, 0]], "f4")]


@case("reversible_embedding_untied", "k3")
def _(k):
    x = k.Input((5,))
    e = k.layers.ReversibleEmbedding(9, 4, tie_weights=False, logit_soft_cap=2.0)
    return [x], e(e(x), reverse=True), [np.array([[3, 1, 5, 8, 0]], "f4")]


for kind in ("Average", "Max"):
    layer(f"adaptive_{kind}_1d", lambda k, L, n=kind: getattr(L, f"Adaptive{n}Pooling1D")(3), (7, 2), only="k3")
    for size in ((2, 3), (7, 9)):
        layer(f"adaptive_{kind}_2d_{size[0]}", lambda k, L, n=kind, s=size: getattr(
            L, f"Adaptive{n}Pooling2D")(s), (5, 7, 2), only="k3")
    layer(f"adaptive_{kind}_3d", lambda k, L, n=kind: getattr(
        L, f"Adaptive{n}Pooling3D")((2, 3, 2)), (4, 5, 7, 2), only="k3")
layer("auto_contrast", lambda k, L: L.AutoContrast(), (4, 5, 3), only="k3")
layer("auto_contrast_range", lambda k, L: L.AutoContrast((-1, 1)), (4, 5, 3), only="k3")
layer("solarization", lambda k, L: k.Sequential([L.Solarization(), L.Conv2D(2, 2)]), (4, 5, 3), only="k3")
layer("einsum_dense_batch", lambda k, L: L.EinsumDense("abc,bcd->abd", output_shape=(4, 5), bias_axes="bd"), (4, 6))
layer("einsum_dense_batch_last", lambda k, L: L.EinsumDense("abc,cbd->abd", output_shape=(4, 5)), (4, 6))
layer("einsum_dense_scale", lambda k, L: L.EinsumDense("abc,c->abc", output_shape=(None, 6), bias_axes="c"), (4, 6))
layer("dot_images", lambda k, L: L.Dot((3, 3)), (3, 4, 6), (2, 5, 6))
layer("dot_image_steps", lambda k, L: L.Dot((3, 2)), (3, 4, 6), (5, 6))
layer("dot_vector_steps", lambda k, L: L.Dot((1, 2)), (6,), (5, 6))
layer("layer_normalization_volume", lambda k, L: L.LayerNormalization(axis=(1, 2, 3, 4)), (2, 3, 4, 5))
layer("layer_normalization_volume_last", lambda k, L: L.LayerNormalization(), (2, 3, 4, 5))
layer("volume_group_normalization", lambda k, L: L.GroupNormalization(2), (2, 3, 4, 6))
layer("discretization_multi_hot", lambda k, L: L.Discretization([-1., 0., 1.], output_mode="multi_hot"), (6,))
layer("discretization_count", lambda k, L: L.Discretization([-1., 0., 1.], output_mode="count"), (6,))
layer("category_encoding_multi_hot", lambda k, L: L.CategoryEncoding(7, output_mode="multi_hot"), (4,),
      values=[np.array([[3, 1, 3, 5]], "f4")])
layer("category_encoding_count", lambda k, L: L.CategoryEncoding(7, output_mode="count"), (4,),
      values=[np.array([[3, 1, 3, 5]], "f4")])
layer("integer_lookup", lambda k, L: k.Sequential(
    [L.IntegerLookup(vocabulary=[12, 36, 1138, 42]), L.Embedding(5, 3)]), (4,),
      values=[np.array([[36, 42, 7, 12]], "f4")])
for name in ("LSTM", "GRU"):
    layer(f"bidirectional_rnn_of_{name}_cell",
          lambda k, L, n=name: L.Bidirectional(L.RNN(getattr(L, n + "Cell")(3), return_sequences=True)), S)
layer("bidirectional_rnn_of_cells", lambda k, L: L.Bidirectional(
    L.RNN([L.LSTMCell(3), L.GRUCell(2)], return_sequences=True)), S)
layer("bidirectional_conv_lstm", lambda k, L: L.Bidirectional(
    L.ConvLSTM2D(2, 2, padding="same", return_sequences=True)), (3, 4, 5, 2))
layer("bidirectional_conv_lstm_last", lambda k, L: L.Bidirectional(
    L.ConvLSTM2D(2, 2), merge_mode="sum"), (3, 4, 5, 2))
layer("bidirectional_conv_lstm_go_backwards", lambda k, L: L.Bidirectional(
    L.ConvLSTM2D(2, 2, padding="same", return_sequences=True, go_backwards=True)), (3, 4, 5, 2), only="tf2")

for sequences in (True, False):
    @case(f"bidirectional_conv_lstm_channels_first_{sequences}", only="tf2")
    def _(k, sequences=sequences):
        """TensorFlow's CPU code has no convolution with the channels first: the same weights predict
        with the channels last, and the halves come together in Keras' last axis, the width."""
        import tensorflow as tf

        def both(order, mode):
            return k.layers.Bidirectional(k.layers.ConvLSTM2D(
                2, 2, padding="same", return_sequences=sequences, data_format=order), merge_mode=mode)

        saved, last = both("channels_first", "concat"), both("channels_last", None)
        saved.build((None, 3, 2, 4, 5))
        last.build((None, 3, 4, 5, 2))
        rng = np.random.default_rng(4)
        saved.set_weights([rng.normal(size=w.shape).astype("f4") for w in saved.get_weights()])
        last.set_weights(saved.get_weights())

        class Turned(k.layers.Layer):
            def call(self, x):
                halves = last(tf.transpose(x, [0, 1, 3, 4, 2]))
                back = [0, 1, 4, 2, 3] if sequences else [0, 3, 1, 2]
                return tf.concat([tf.transpose(y, back) for y in halves], -1)

        return saved, Turned(), [rng.normal(size=(1, 3, 2, 4, 5)).astype("f4")]


@case("conv_lstm_2d_initial_state")
def _(k):
    x, h, c = k.Input((3, 4, 4, 2)), k.Input((4, 4, 2)), k.Input((4, 4, 2))
    return [x, h, c], k.layers.ConvLSTM2D(2, 3, padding="same")(x, initial_state=[h, c]), None


@case("rnn_states")
def _(k):
    L = k.layers
    x, h, c, g = k.Input(S), k.Input((4,)), k.Input((4,)), k.Input((3,))
    cell = L.RNN([L.LSTMCell(4), L.GRUCell(3)], return_state=True, return_sequences=True)
    y = cell(x, initial_state=[[h, c], g] if k is keras3 else [h, c, g])
    flat = []
    for one in y:
        flat += list(one) if isinstance(one, (list, tuple)) else [one]
    return [x, h, c, g], flat, None


@case("bidirectional_initial_state")
def _(k):
    x = k.Input(S)
    states = [k.Input((4,)) for _ in range(4)]
    return [x, *states], k.layers.Bidirectional(k.layers.LSTM(4))(x, initial_state=states), None


layer("lstm_options", lambda k, L: L.LSTM(4, use_bias=False, unroll=True, dropout=0.2, recurrent_dropout=0.2), S)
layer("gru_options", lambda k, L: L.GRU(4, use_bias=False, reset_after=False, dropout=0.2), S)
layer("rnn_options", lambda k, L: L.SimpleRNN(4, use_bias=False, go_backwards=True), S)


@case("stateful")
def _(k):
    x = k.Input(batch_shape=(1, *S))
    return [x], k.layers.LSTM(4, stateful=True)(x), None


@case("masked_layers")
def _(k):
    L = k.layers
    a, x, u = masked(k, 5, [1, 4])
    b, y, w = masked(k, 5, [0, 4])
    z = L.Concatenate()([L.Dense(3)(x), L.TimeDistributed(L.Dense(3))(y)])
    z = L.Activation("relu")(L.BatchNormalization()(z))
    return [a, b], [L.LSTM(3)(z), L.GlobalAveragePooling1D()(L.Add()([x, y]))], [u, w]


for cell in ("LSTM", "GRU"):
    for steps in (5, None):
        @case(f"masked_end_bidirectional_{cell}{'_any_length' if steps is None else ''}")
        def _(k, cell=cell, steps=steps):
            L = k.layers
            x = k.Input((steps,))
            y = L.Bidirectional(getattr(L, cell)(3))(L.Embedding(9, 4, mask_zero=True)(x))
            return [x], y, [np.array([[3, 0, 5, 0, 0]], "f4")]


@case("masked_time_distributed")
def _(k):
    L = k.layers
    x = k.Input((4, 3))
    v = np.random.default_rng(3).normal(size=(1, 4, 3)).astype("f4")
    v[0, 2] = 0
    return [x], L.LSTM(3)(L.TimeDistributed(L.Dense(2))(L.Masking()(x))), [v]


# Sequences of any length, run at one that no file mentions
ANY = (None, 3)
for name in ("LSTM", "GRU", "SimpleRNN"):
    for steps in (3, 7):
        def values(steps=steps, shape=(3,)):
            return [np.random.default_rng(steps).normal(size=(1, steps, *shape)).astype("f4")]

        def indices(steps=steps):
            return [np.array([[3, 0, 5, 8, 0, 2, 1, 0, 0][-steps:]], "f4")]
        layer(f"any_length_{name}_{steps}", lambda k, L, n=name: getattr(L, n)(4), ANY, values=values())
        if steps == 7:
            layer(f"any_length_{name}_sequences", lambda k, L, n=name: getattr(L, n)(
                4, return_sequences=True), ANY, values=values())
            layer(f"any_length_{name}_backwards", lambda k, L, n=name: getattr(L, n)(
                4, return_sequences=True, go_backwards=True), ANY, values=values())
        else:
            layer(f"any_length_{name}_bidirectional", lambda k, L, n=name: L.Bidirectional(
                getattr(L, n)(4, return_sequences=True)), ANY, values=values())
        layer(f"any_length_mask_{name}_{steps}", lambda k, L, n=name: k.Sequential([
            L.Embedding(9, 3, mask_zero=True), getattr(L, n)(4, return_sequences=True), getattr(L, n)(2)]),
            (None,), values=indices())
        layer(f"any_length_masking_{name}_{steps}", lambda k, L, n=name: k.Sequential([
            L.Masking(0.5), L.Bidirectional(getattr(L, n)(4, return_sequences=True)), L.Bidirectional(
                getattr(L, n)(2))]), ANY, values=[np.where(np.arange(3 * steps).reshape(1, steps, 3) // 3 % 3 == 1,
                                                           0.5, values()[0]).astype("f4")])
for steps in (5, 8):
    index = [np.array([[3, 1, 5, 8, 4, 2, 1, 6][-steps:]], "f4")]
    layer(f"any_length_conv_{steps}", lambda k, L: k.Sequential([
        L.Embedding(9, 4), L.Conv1D(5, 3, activation="relu"), L.GlobalMaxPooling1D(), L.Dense(2)]), (None,),
        values=index)
    layer(f"any_length_causal_{steps}", lambda k, L: k.Sequential([
        L.Embedding(9, 4), L.Conv1D(5, 3, padding="causal", dilation_rate=2), L.Conv1D(3, 3, padding="same"),
        L.GlobalAveragePooling1D()]), (None,), values=index)
    layer(f"any_length_average_{steps}", lambda k, L: k.Sequential([
        L.Embedding(9, 4, mask_zero=True), L.GlobalAveragePooling1D(), L.Dense(2)]), (None,), values=index)


    @case(f"any_length_attention_{steps}")
    def _(k, index=index):
        L = k.layers
        x = k.Input((None,))
        y = L.Embedding(9, 8)(x)
        y = L.LayerNormalization()(L.Add()([y, L.MultiHeadAttention(2, 4)(y, y)]))
        y = L.Add()([y, L.Attention()([y, y])])
        return [x], L.Dense(3)(L.GlobalAveragePooling1D()(y)), index


@case("any_length_same_strides")
def _(k):
    L = k.layers
    x = k.Input((None, 3))
    y = L.MaxPooling1D(2, padding="same")(L.Conv1D(4, 5, strides=2, padding="same")(x))
    y = L.AveragePooling1D(3, strides=2, padding="same")(y)
    return [x], L.GlobalMaxPooling1D()(y), [np.sin(np.arange(39, dtype="f4")).reshape(1, 13, 3)]


layer("einsum_dense_steps", lambda k, L: L.EinsumDense("abc,cd->abd", output_shape=(None, 7), bias_axes="d"), (4, 6))
layer("einsum_dense_heads", lambda k, L: L.EinsumDense(
    "abc,cde->abde", output_shape=(None, 2, 3), bias_axes="de"), (4, 6))
layer("einsum_dense_merge", lambda k, L: L.EinsumDense(
    "abcd,cde->abe", output_shape=(None, 5), bias_axes="e", activation="relu"), (4, 2, 3))
layer("einsum_dense_ellipsis", lambda k, L: L.EinsumDense("...x,xy->...y", output_shape=7, bias_axes="y"), (4, 6))
layer("einsum_dense_scalar", lambda k, L: L.EinsumDense("ab,b->a", output_shape=(), activation="tanh"), (6,))
layer("einsum_dense_sum", lambda k, L: L.EinsumDense("abc,c->ab", output_shape=(4,)), (4, 6))
layer("einsum_dense_middle", lambda k, L: L.EinsumDense("abc,bd->adc", output_shape=(3, 6), bias_axes="d"), (4, 6))

# Activations
BOTH = ["elu", "exponential", "gelu", "hard_sigmoid", "linear", "mish", "relu", "selu", "sigmoid",
        "softmax", "softplus", "softsign", "swish", "tanh"]
NEW = ["celu", "glu", "hard_shrink", "hard_silu", "hard_swish", "hard_tanh", "leaky_relu", "log_sigmoid",
       "log_softmax", "relu6", "silu", "soft_shrink", "sparse_plus", "sparse_sigmoid", "sparsemax",
       "squareplus", "tanh_shrink", "threshold"]
for name in BOTH + NEW:
    layer(f"activation_{name}", lambda k, L, n=name: L.Activation(
        getattr(k.activations, n) if n in ("threshold",) else n), (4, 6),
        only=None if name in BOTH else "none" if name == "threshold" else "k3",
        values=[np.linspace(-4, 4, 24, dtype="f4").reshape(1, 4, 6)])
for name, make in {
        "relu_all": lambda k, L: L.ReLU(2., negative_slope=0.1, threshold=0.5),
        "relu6": lambda k, L: L.ReLU(6.), "leaky_relu": lambda k, L: L.LeakyReLU(0.2),
        "elu": lambda k, L: L.ELU(0.7)}.items():
    layer("layer_" + name, make, (4, 6), values=[np.linspace(-9, 9, 24, dtype="f4").reshape(1, 4, 6)])
layer("layer_thresholded_relu", lambda k, L: L.ThresholdedReLU(0.7), (4, 6), only="tf2")
@case("gelu_approximate")
def _(k):
    import tensorflow as tf
    x = k.Input((4, 3))
    y = tf.nn.gelu(x, approximate=True) if k is keras2 else k.ops.gelu(x)
    return [x], y, None


layer("dense_gelu", lambda k, L: L.Dense(5, activation="gelu"), (4,))

# Wrappers, sharing
layer("time_distributed_dense", lambda k, L: L.TimeDistributed(L.Dense(3, activation="relu")), (4, 5))
layer("time_distributed_conv", lambda k, L: L.TimeDistributed(L.Conv2D(3, 2)), (3, 4, 5, 2))
layer("time_distributed_model", lambda k, L: L.TimeDistributed(k.Sequential(
    [L.Conv2D(3, 2, activation="relu"), L.MaxPooling2D(2), L.Flatten(), L.Dense(4)])), (3, 6, 7, 2))
layer("time_distributed_flatten", lambda k, L: L.TimeDistributed(L.Flatten()), (3, 4, 5, 2))
layer("time_distributed_lstm", lambda k, L: L.TimeDistributed(L.LSTM(3)), (3, 4, 5))
layer("time_distributed_embedding", lambda k, L: L.TimeDistributed(L.Embedding(9, 3)), (3, 4),
      values=[np.array([[[1, 2, 3, 8], [0, 4, 4, 5], [7, 6, 1, 1]]], "f4")])
layer("identity", lambda k, L: k.Sequential([L.Identity(), L.Dense(2)]), (4,))
layer("dense_volume", lambda k, L: L.Dense(3), (2, 3, 4, 5))
layer("embedding_matrix", lambda k, L: L.Embedding(9, 4), (3, 2), values=[np.array([[[1, 2], [3, 8], [0, 4]]], "f4")])


# What both frameworks save in the same way is made by one.
ONCE = ("broadcast_", "reshape_", "bidirectional_lstm_", "bidirectional_simplernn_", "up_sampling_", "prelu_",
        "merge_", "conv_1d_transpose_", "concatenate_", "softmax_", "permute_", "mask_zero_lstm", "masking_gru",
        "initial_state_simplernn", "maxpooling3d", "globalmax", "dot_", "resizing_", "unit_", "group_norm",
        "any_length_lstm", "any_length_simplernn", "any_length_conv", "any_length_causal", "any_length_average",
        "category_encoding_", "discretization_", "einsum_dense_batch", "einsum_dense_scale", "layer_normalization_v")


def randomize(model):
    """Weights that are neither zeros nor ones."""
    rng = np.random.default_rng(len(model.weights))
    for w in model.weights:
        path = getattr(w, "path", w.name)
        if "seed_generator" in path or "int" in str(w.dtype) or "count" in path:
            continue
        value = rng.normal(0, 0.5, w.shape)
        if "variance" in path or "running_std" in path:
            value = np.abs(value) + 0.5
        elif "gamma" in path:
            value += 1
        elif path.split("/")[-1].startswith("mean"):
            value += 2
        w.assign(value.astype("f4"))


@case("dictionary_outputs")
def dictionary_outputs(k):
    x = k.Input((5,))
    y = k.layers.Dense(4, activation="relu")(x)
    # The keys are not in alphabetical order, and equal shapes hide an exchange.
    return [x], {"zeta": k.layers.Dense(3)(y), "alpha": k.layers.Dense(3)(y)}, None


# Networks of Keras 3 that were refused once. Those of ALSO_H5 are saved in both forms.
ALSO_H5 = ("untrainable_layers", "dense_prelu", "lora_dense", "lora_int8", "lora_conv", "quantized_float8",
           "quantized_int4", "quantized_int4_matrices", "quantized_int8_reversible", "renormalized",
           "example_patches", "example_tokens", "operations_operands")


def network(name, *shapes, values=None, types=None):
    """Registers a function of Keras's layers and operations and the inputs, batch left out."""
    def register(build):
        def made(k):
            inputs = [k.Input(s, dtype=t) for s, t in zip(shapes, types or ["float32"] * len(shapes))]
            return inputs, build(k.layers, k.ops, *inputs), values
        CASES.append((name, "k3", made))
        return build
    return register


@network("time_distributed_steps_flatten", (4, 10, 3))
def _(L, ops, x):
    for inner in (L.Conv1D(5, 3, activation="relu"), L.BatchNormalization(), L.MaxPooling1D(2), L.Flatten()):
        x = L.TimeDistributed(inner)(x)
    return L.LSTM(3)(x)


@network("time_distributed_steps_pooled", (4, 10, 3))
def _(L, ops, x):
    x = L.TimeDistributed(L.Conv1D(5, 3))(x)
    return [L.TimeDistributed(L.GlobalMaxPooling1D())(x), L.TimeDistributed(L.GlobalAveragePooling1D())(x),
            L.TimeDistributed(L.LSTM(2))(x), L.TimeDistributed(L.Reshape((40,)))(x)]


@network("time_distributed_merges", (3, 6, 6, 2))
def _(L, ops, x):
    image = keras3.Input((6, 6, 2))
    a, b = L.Conv2D(2, 3, padding="same")(image), L.Conv2D(2, 1)(image)
    inner = L.Concatenate()([L.Add()([image, a]), L.Subtract()([a, b]), image + a * b])
    return L.LSTM(3)(L.TimeDistributed(keras3.Model(image, L.GlobalAveragePooling2D()(inner)))(x))


@network("time_distributed_merges_steps", (3, 6, 2))
def _(L, ops, x):
    steps = keras3.Input((6, 2))
    a = L.Concatenate(axis=1)([L.Conv1D(4, 3)(steps), L.Conv1D(4, 5)(steps)])
    return L.LSTM(3)(L.TimeDistributed(keras3.Model(steps, L.Flatten()(a)))(x))


@network("untrainable_layers", (6, 3))
def _(L, ops, x):
    # Their configurations have no field `trainable`.
    return L.LSTM(2)(L.Discretization([-0.5, 0.5])(L.SpatialDropout1D(0.2)(x)))


@keras3.saving.register_keras_serializable("Mine")
class Swish(keras3.layers.Layer):
    def __init__(self, beta=1.0, **kwargs):
        super().__init__(**kwargs)
        self.beta = beta

    def call(self, x):
        return x * keras3.ops.sigmoid(self.beta * x)

    def get_config(self):
        return {**super().get_config(), "beta": self.beta}


@network("registered_swish", (4, 5))
def _(L, ops, x):
    return Swish(1.5)(x)


@network("constant_widens", (4, 4, 1), (4, 1), (1,))
def _(L, ops, x, y, z):
    numbers = np.arange(1, 4, dtype="f4")
    return [L.Conv2D(2, 3)(x * numbers.reshape(1, 1, 3)), L.LSTM(2)(y + numbers), L.Dense(2)(z / numbers)]


@network("constant_joined", (5, 3), (4, 4, 2), (3,))
def _(L, ops, x, y, z):
    return [ops.concatenate([x, np.full((1, 5, 2), 0.5, "f4")], -1),
            ops.concatenate([np.arange(32, dtype="f4").reshape(1, 4, 4, 2), y], 1),
            ops.concatenate([np.ones((1, 2), "f4"), z], -1)]


@network("constant_volume", (4, 4, 6), (2, 3, 4, 2))
def _(L, ops, x, y):
    x = ops.reshape(x, (-1, 4, 4, 3, 2))
    return [L.Flatten()(x + np.arange(32, dtype="f4").reshape(1, 4, 4, 1, 2)),
            L.Flatten()(y * np.arange(24, dtype="f4").reshape(2, 3, 4, 1))]


@network("masking_list", (5, 3), values=[np.array(
    [[[1, 2, 3], [0.5, 2, 3], [1, 1, 1], [1, 2, 3], [1, 2, 3]]], "f4")])
def _(L, ops, x):
    return L.LSTM(2)(L.Masking([1.0, 2.0, 3.0])(x))


@network("integer_lookup_adapted", (1,), (1,), types=["int64", "int64"],
         values=[np.array([[7]]), np.array([[5]])])
def _(L, ops, x, y):
    outputs = []
    for mode, one in (("one_hot", x), ("int", y)):
        lookup = L.IntegerLookup(output_mode=mode)
        lookup.adapt(np.array([[5], [7], [7], [9]]))
        outputs.append(lookup(one))
    return L.Concatenate()([outputs[0], ops.cast(outputs[1], "float32")])


layer("resizing_pad_odd", lambda k, L: L.Resizing(5, 5, pad_to_aspect_ratio=True), (8, 5, 2), only="k3")


@network("integer_lookup_masked", (4,), (3,), types=["int64", "int64"],
         values=[np.array([[7, 0, 2, 9]]), np.array([[9, 7, 5]])])
def _(L, ops, x, y):
    masked, known = L.IntegerLookup(mask_token=0), L.IntegerLookup(num_oov_indices=0)
    for lookup in (masked, known):
        lookup.adapt(np.array([[5], [7], [7], [9]]))
    return [ops.cast(masked(x), "float32"), ops.cast(known(y), "float32")]


@network("hsv", (3, 4, 3), (3, 4, 3), values=[
    np.random.default_rng(1).integers(0, 3, (1, 3, 4, 3)).astype("f4") / 2,
    np.random.default_rng(2).random((1, 3, 4, 3), dtype="f4")])
def _(L, ops, x, y):
    return [ops.image.rgb_to_hsv(x), ops.image.hsv_to_rgb(y)]


@network("quotients_of_zeros", (4,), values=[np.array([[-2, 0, 0.25, 4]], "f4")])
def _(L, ops, x):
    positive = ops.relu(x)
    bounded = lambda y: ops.nan_to_num(y, nan=0.5, posinf=3.0, neginf=-3.0)
    return [bounded(y) for y in (x / positive, 2 / x, ops.reciprocal(positive), ops.rsqrt(positive))]


@network("dense_prelu", (6,), (4, 4, 2))
def _(L, ops, x, y):
    return [L.Dense(3, activation=L.PReLU())(x), L.Conv2D(3, 3, activation=L.PReLU(shared_axes=[1, 2]))(y)]


@network("take_one", (5, 3))
def _(L, ops, x):
    return [ops.take(x, [2], axis=1), ops.concatenate([x + 1], -1)]


@network("scalar_inputs", (), (), types=["float32", "int32"], values=[np.array([0.7], "f4"), np.array([3])])
def _(L, ops, x, y):
    x = ops.expand_dims(ops.log(ops.abs(x) + 1.0), -1)
    return L.Dense(2)(L.Concatenate()([x, L.Embedding(5, 3)(y)]))


@network("operations_elements", (4, 6), (4, 6))
def _(L, ops, x, y):
    return [ops.arctan2(x, y), ops.arctan2(x, 0.5), ops.cbrt(x), ops.sinc(x), ops.fmod(x, y),
            ops.nan_to_num(x / 0.0, nan=1.0, posinf=2.0, neginf=-3.0), ops.cast(ops.isfinite(x / 0.0), "float32")]


@network("operations_shapes", (4, 5), (4, 4, 2))
def _(L, ops, x, y):
    return [ops.cumprod(x, axis=1), ops.diagonal(x, offset=1, axis1=1, axis2=2),
            ops.diagonal(x, offset=-2, axis1=1, axis2=2), ops.trace(y, axis1=1, axis2=2), ops.diff(x, axis=1),
            ops.hstack([x, x]), ops.dstack([x, x]), ops.pad(y, [[0, 0], [2, 1], [1, 3], [0, 1]], mode="symmetric"),
            ops.pad(y, [[0, 0], [2, 1], [1, 3], [0, 1]]), ops.image.pad_images(y, 1, 2, target_height=7, target_width=8)]


@network("operations_layers", (6, 6, 3), (6, 3))
def _(L, ops, x, y):
    kernel = np.random.default_rng(1).normal(size=(3, 3, 3, 4)).astype("f4")
    numbers = np.arange(1, 4, dtype="f4")
    return [ops.conv(x, kernel, strides=2, padding="same"), ops.conv(y, kernel[0]),
            ops.depthwise_conv(x, kernel[..., :1], padding="same"),
            ops.separable_conv(x, kernel[..., :2], kernel.reshape(1, 1, 6, 18)),
            ops.batch_normalization(x, numbers, numbers, -1, offset=numbers, scale=numbers),
            ops.layer_normalization(y, numbers, numbers)]


@network("operations_norms", (6, 3))
def _(L, ops, x):
    return [ops.rms_normalization(x + 1.0, np.arange(1, 4, dtype="f4")), ops.rms_normalization(x, epsilon=0.1)]


@network("operations_normalize", (6,), (4, 3), values=[0.05 * np.random.default_rng(8).normal(size=s).astype("f4")
                                                       for s in ((2, 6), (2, 4, 3))])
def _(L, ops, x, y):
    return [ops.normalize(x, epsilon=0.5), ops.normalize(x), ops.normalize(y, axis=1)]


@network("constants_of_items", (5, 3), (4,), values=[np.random.default_rng(6).normal(size=s).astype("f4")
                                                    for s in ((2, 5, 3), (2, 4))])
def _(L, ops, x, y):
    class_token = np.tile(np.arange(3, dtype="f4"), (2, 1, 1))
    return [ops.concatenate([class_token, x], 1), ops.stack([y, np.ones((2, 4), "f4")], 1)]


@network("operations_attention", (5, 2, 4), (5, 2, 4), (5, 2, 4))
def _(L, ops, q, k, v):
    return [ops.dot_product_attention(q, k, v), ops.dot_product_attention(q, k, v, scale=0.3, is_causal=True)]


# What is done to a network before it predicts.
AFTERWARD = {}


@network("quantized_int8", (6,), (5, 4), (5,), types=["float32", "float32", "int32"],
         values=[np.linspace(-2, 3, 6, dtype="f4")[None], np.sin(np.arange(20, dtype="f4")).reshape(1, 5, 4) * 2,
                 np.array([[0, 2, 1, 3, 2]])])
def _(L, ops, x, y, z):
    y = L.EinsumDense("abc,cde->abde", (None, 2, 3), bias_axes="de")(y)
    return [L.Dense(3)(L.Dense(5, activation="relu")(x)), L.EinsumDense("abde,def->abf", (None, 4))(y),
            L.Embedding(4, 3)(z)]


@network("quantized_int8_steps", (5, 4), values=[np.sin(np.arange(20, dtype="f4")).reshape(1, 5, 4) * 2])
def _(L, ops, x):
    return L.TimeDistributed(L.Dense(3, activation="relu"))(x)


@network("quantized_int4", (6,), (5,), types=["float32", "int32"],
         values=[np.linspace(-2, 3, 6, dtype="f4")[None], np.array([[0, 2, 1, 3, 2]])])
def _(L, ops, x, y):
    return [L.Dense(3)(L.Dense(5, activation="relu")(x)), L.Embedding(4, 3)(y)]


@network("quantized_int4_matrices", (5, 4), (5, 6), values=[np.sin(np.arange(20, dtype="f4")).reshape(1, 5, 4) * 2,
                                                           np.cos(np.arange(30, dtype="f4")).reshape(1, 5, 6)])
def _(L, ops, x, y):
    x = L.EinsumDense("abc,cde->abde", (None, 2, 3), bias_axes="de")(x)
    return [L.EinsumDense("abde,def->abf", (None, 5), activation="relu")(x), L.EinsumDense("abc,cd->abd", (None, 3))(y)]


@network("quantized_int4_columns", (3,), (5, 4))
def _(L, ops, x, y):
    int4 = keras3.dtype_policies.QuantizedDTypePolicy("int4", "float32")
    return [L.EinsumDense("ab,bcd->acd", (2, 5), bias_axes="d", dtype=int4)(x),
            L.EinsumDense("abc,dc->abd", (None, 3), dtype=int4)(y)]


@network("quantized_float8", (6,), (5, 4), values=[np.linspace(-2, 3, 6, dtype="f4")[None],
                                                   np.geomspace(1e-4, 9, 20, dtype="f4").reshape(1, 5, 4)])
def _(L, ops, x, y):
    return [L.Dense(3)(L.Dense(5, activation="relu")(x)), L.EinsumDense("abc,cd->abd", (None, 3), bias_axes="d")(y)]


for kind in ("int8", "int4"):
    @network(f"quantized_{kind}_reversible", (5,), types=["int32"], values=[np.array([[0, 2, 1, 3, 2]])])
    def _(L, ops, x):
        tied, untied = L.ReversibleEmbedding(6, 3), L.ReversibleEmbedding(7, 4, tie_weights=False, logit_soft_cap=2)
        return [tied(tied(x), reverse=True), untied(untied(x), reverse=True)]


@network("lora_conv", (6, 3), (5, 6, 3))
def _(L, ops, x, y):
    return [L.Conv1D(4, 3, activation="relu")(x), L.Conv2D(5, (2, 3), padding="same")(y)]


@network("lora_dense", (6,), (5,), types=["float32", "int32"],
         values=[np.linspace(-2, 3, 6, dtype="f4")[None], np.array([[0, 2, 1, 3, 2]])])
def _(L, ops, x, y):
    return [L.Dense(3, activation="relu")(x), L.Embedding(4, 3)(y)]


@network("lora_int8", (6,), values=[np.linspace(-2, 3, 6, dtype="f4")[None]])
def _(L, ops, x):
    return L.Dense(3, activation="relu")(x)


def example(name, fields, build, call):
    """A class of an example on keras.io: its settings, its layers and what it computes."""
    def init(self, **kwargs):
        keras3.layers.Layer.__init__(self, **{k: v for k, v in kwargs.items() if k not in fields})
        self.settings = {k: kwargs[k] for k in fields}
        build(self, keras3.layers, **self.settings)

    def get_config(self):
        return {**keras3.layers.Layer.get_config(self), **self.settings}

    made = type(name, (keras3.layers.Layer,), {"__init__": init, "call": call, "get_config": get_config})
    return keras3.saving.register_keras_serializable("Example")(made)


def patches(self, x):
    size = self.settings["patch_size"]
    taken = keras3.ops.image.extract_patches(x, size=size)
    return keras3.ops.reshape(taken, (-1, taken.shape[1] * taken.shape[2], size * size * x.shape[3]))


def pixels(self, x):
    size = self.settings["block_size"]
    _, height, width, depth = x.shape
    depth //= size * size
    x = keras3.ops.reshape(x, (-1, height, width, size, size, depth))
    return keras3.ops.reshape(keras3.ops.transpose(x, (0, 1, 3, 2, 4, 5)),
                              (-1, height * size, width * size, depth))


def encoder(self, L, num_patches, projection_dim):
    self.projection = L.Dense(projection_dim)
    self.position_embedding = L.Embedding(num_patches, projection_dim)


def tokens(self, L, maxlen, vocab_size, embed_dim):
    self.token_emb = L.Embedding(vocab_size, embed_dim)
    self.pos_emb = L.Embedding(maxlen, embed_dim)


def positions(self, L, sequence_length, vocab_size, embed_dim):
    self.token_embeddings = L.Embedding(vocab_size, embed_dim)
    self.position_embeddings = L.Embedding(sequence_length, embed_dim)


Patches = example("Patches", ["patch_size"], lambda self, L, patch_size: None, patches)
DepthToSpace = example("DepthToSpace", ["block_size"], lambda self, L, block_size: None, pixels)
PatchEncoder = example(
    "PatchEncoder", ["num_patches", "projection_dim"], encoder,
    lambda self, x: self.projection(x) + self.position_embedding(keras3.ops.arange(x.shape[1])[None]))
TokenAndPositionEmbedding = example(
    "TokenAndPositionEmbedding", ["maxlen", "vocab_size", "embed_dim"], tokens,
    lambda self, x: self.token_emb(x) + self.pos_emb(keras3.ops.arange(x.shape[1])))
PositionalEmbeddingOfTokens = example(
    "PositionalEmbedding", ["sequence_length", "vocab_size", "embed_dim"], positions,
    lambda self, x: self.token_embeddings(x) + self.position_embeddings(keras3.ops.arange(x.shape[1])))


@network("example_patches", (6, 6, 2), (3, 2, 8))
def _(L, ops, x, y):
    return [PatchEncoder(num_patches=9, projection_dim=4)(Patches(patch_size=2)(x)), DepthToSpace(block_size=2)(y)]


@network("example_tokens", (5,), (6,), types=["int32", "int32"],
         values=[np.array([[1, 0, 8, 3, 3]]), np.array([[1, 0, 8, 3, 3, 2]])])
def _(L, ops, x, y):
    return [TokenAndPositionEmbedding(maxlen=7, vocab_size=9, embed_dim=4)(x),
            PositionalEmbeddingOfTokens(sequence_length=6, vocab_size=9, embed_dim=4)(y)]


@network("resizing_antialias", (9, 8, 2))
def _(L, ops, x):
    return [L.Resizing(*size, interpolation=kind, antialias=True)(x)
            for size, kind in (((4, 3), "bilinear"), ((3, 11), "bicubic"), ((4, 4), "lanczos3"), ((5, 4), "nearest"))]


@network("renormalized", (4, 3), (5,), (), values=[np.sin(np.arange(12, dtype="f4")).reshape(1, 4, 3),
                                                   np.cos(np.arange(5, dtype="f4"))[None], np.array([2.5], "f4")])
def _(L, ops, x, y, z):
    return [L.BatchNormalization(renorm=True)(x), L.BatchNormalization(renorm=True, scale=False)(y),
            L.Dense(2)(L.Flatten()(z))]


@network("mel_spectrogram", (60,))
def _(L, ops, x):
    own = {"fft_length": 16, "sequence_stride": 7, "sampling_rate": 8000, "num_mel_bins": 5}
    return [L.MelSpectrogram(**own)(x), L.MelSpectrogram(top_db=6.0, ref_power=2.0, window="hamming", **own)(x),
            L.MelSpectrogram(power_to_db=False, mag_exp=1.0, sequence_length=11, min_freq=100.0, **own)(x),
            L.MelSpectrogram(power_to_db=False, window=None, sequence_length=12, max_freq=3000, **own)(x)]


@network("stft_spectrogram", (40, 2), (2, 40))
def _(L, ops, x, y):
    own = {"frame_length": 8, "frame_step": 3, "fft_length": 16}
    return [L.STFTSpectrogram(mode=mode, **own)(x) for mode in ("log", "magnitude", "psd", "angle", "stft")] + [
        L.STFTSpectrogram(mode="real", frame_length=6, padding="same", expand_dims=True, data_format="channels_last")(x),
        L.STFTSpectrogram(mode="imag", expand_dims=True, data_format="channels_first", **own)(y),
        L.STFTSpectrogram(mode="psd", scaling="spectrum", data_format="channels_first", **own)(y),
        L.STFTSpectrogram(mode="log", window="hamming", expand_dims=True, **own)(x[..., :1])]


# Convolutions with channels first, which TensorFlow has for a CPU only in compiled form.
COMPILED = {"stft_spectrogram"}


def with_lora(model):
    for one in model.layers:
        if hasattr(one, "enable_lora"):
            one.enable_lora(2, lora_alpha=3)
    for w in model.weights:
        if "lora" in w.path:
            w.assign(np.random.default_rng(3).normal(0, 0.5, w.shape))


def with_float8(model):
    model.quantize("float8")
    for w in model.weights:
        if "inputs_scale" in w.path or "kernel_scale" in w.path:
            w.assign(0.013 if "inputs" in w.path else 0.004)


def with_codes(model):
    """Layers that are made quantized have codes of zeros."""
    rng = np.random.default_rng(4)
    for w in model.weights:
        if "int8" in str(w.dtype):
            w.assign(rng.integers(-128, 128, w.shape))
        elif "scale" in w.path:
            w.assign(rng.uniform(2, 9, w.shape))


AFTERWARD["quantized_float8"] = with_float8
AFTERWARD["quantized_int8"] = AFTERWARD["quantized_int8_steps"] = lambda model: model.quantize("int8")
AFTERWARD["quantized_int4"] = lambda model: model.quantize("int4")
AFTERWARD["quantized_int4_columns"] = with_codes
AFTERWARD["quantized_int4_matrices"] = AFTERWARD["quantized_int4_reversible"] = AFTERWARD["quantized_int4"]
AFTERWARD["quantized_int8_reversible"] = AFTERWARD["quantized_int8"]
AFTERWARD["lora_dense"] = AFTERWARD["lora_conv"] = with_lora
AFTERWARD["lora_int8"] = lambda model: (model.quantize("int8"), with_lora(model))


def deflate(path):
    """Packs an archive's members as `zip` would; Keras stores them as they are."""
    with zipfile.ZipFile(path) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, contents in members:
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), contents, zipfile.ZIP_DEFLATED)


def make(framework, name, build):
    k = keras2 if framework == "tf2" else keras3
    k.backend.clear_session()
    k.utils.set_random_seed(7)
    inputs, outputs, values = build(k)
    if isinstance(outputs, k.layers.Layer):
        # Two layers with the same weights: one is saved, the other predicts.
        predicted = outputs(values[0])
        model = None
        saved, inputs = inputs, [k.Input(values[0].shape[1:])]
    else:
        model = k.Model(inputs, outputs)
        randomize(model)
        AFTERWARD.get(name, lambda model: None)(model)
        for one in model.layers:
            if hasattr(one, "finalize_state"):
                one.finalize_state()
    rng = np.random.default_rng(5)
    if values is None:
        values = [rng.normal(size=(1, *i.shape[1:])).astype("f4") for i in inputs]
    if model is None:
        weights = saved.get_weights()
        model = k.Sequential([k.layers.InputLayer(values[0].shape[1:]), saved])
        saved.set_weights(weights)
    else:
        call = model
        if name in COMPILED:
            import tensorflow as tf
            call = tf.function(model, jit_compile=True)
        predicted = call(values if len(values) > 1 else values[0], training=False)
    if not isinstance(predicted, dict):
        predicted = list(predicted) if isinstance(predicted, (list, tuple)) else [predicted]
        predicted = {f"output{i + 1}": p for i, p in enumerate(predicted)}
    folder = os.path.join(HERE, framework)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    model.save(path + (".h5" if framework == "tf2" else ".keras"), include_optimizer=False)
    if name in VERSIONS:
        with h5py.File(path + ".h5", "r+") as file:
            file.attrs["keras_version"] = VERSIONS[name]
    # Some stay as Keras writes them.
    if framework == "k3" and not name.startswith("activation_"):
        deflate(path + ".keras")
    if framework == "k3" and name in ALSO_H5:
        model.save(path + ".h5", include_optimizer=False)
    # Keras rounds LoRA's matrices into the weights of such a file.
    if name == "lora_int8":
        os.remove(path + ".keras")
    np.savez(path + ".inputs.npz", **{f"input{i + 1}": v for i, v in enumerate(values)})
    np.savez(path + ".expected.npz", **{n: np.array(p, "f4") for n, p in predicted.items()})

# Products, maxima and minima of Keras 3.4 and later ignore masked steps.
for name in ("Multiply", "Maximum", "Minimum"):
    @case(f"masked_{name}")
    def _(k, name=name):
        L = k.layers
        a, x, u = masked(k, 5, [1, 4], 3)
        b, y, w = masked(k, 5, [0, 4], 3)
        merge = getattr(L, name)
        z = L.Dense(1)(y)
        return [a, b], [merge()([x, y]), merge()([x, L.Conv1D(3, 1)(y)]), merge()([z, x]), merge()([x, z, y]),
                        L.LSTM(2)(merge()([x, y]))], [u, w]


# A call with several tensors gets no mask in Keras 3, unless it states one.
@case("masked_initial_state")
def _(k):
    L = k.layers
    a, x, u = masked(k, 5, [0, 2, 4], 3)
    states = [k.Input((2,)) for _ in range(4)]
    values = [np.random.default_rng(7 + i).normal(size=(1, 2)).astype("f4") for i in range(4)]
    y = L.LSTM(2, return_sequences=True)(x, initial_state=states[:2])
    z = L.Bidirectional(L.LSTM(2, return_sequences=True))(x, initial_state=states)
    return [a, *states], [y, L.GRU(2)(x, initial_state=states[0]), L.SimpleRNN(3)(y), z, L.GRU(2)(z)], [u, *values]


# A mask that a call states takes the place of the input's.
@case("masked_again")
def _(k):
    L = k.layers
    a, x, u = masked(k, 5, [0, 2], 3)
    m = k.Input((5,), dtype="bool")
    return [a, m], [L.LSTM(2)(x, mask=m), L.GlobalAveragePooling1D()(x, mask=m)], [u, np.array([[1, 1, 1, 0, 0]], bool)]


# Since Keras 3.8, MultiHeadAttention removes its inputs' masks: calls with lists, and attention after
# it, find none, while calls of one tensor were recorded with theirs. RMSNormalization has no masks.
@case("masked_attention_blocks", "k3")
def _(k):
    L = k.layers
    a = k.Input((5,), dtype="int32")
    x = L.Embedding(9, 4, mask_zero=True)(a)
    for heads in (1, 2):
        x = L.Add()([x, L.MultiHeadAttention(heads, 3)(x, x)])
    r = L.GlobalAveragePooling1D()(L.RMSNormalization()(x))
    return a, [x, L.Attention()([x, x]), L.GlobalAveragePooling1D()(x), r], [np.array([[3, 7, 2, 0, 0]], "i4")]


# TimeDistributed keeps the mask, whatever its model does with it.
@case("masked_time_distributed_model")
def _(k):
    L = k.layers
    a, x, u = masked(k, 5, [0, 3], 3)
    model = k.Sequential([k.Input((3,)), L.Dense(4), L.Reshape((2, 2)), L.Flatten()])
    return [a], L.LSTM(2)(L.TimeDistributed(model)(x)), [u]


@case("any_length_deviation")
def _(k):
    import tensorflow as tf
    x = k.Input((None, 3))
    values = np.random.default_rng(3).normal(size=(1, 7, 3)).astype("f4")
    y = tf.math.reduce_std(x, 1) if k is keras2 else k.ops.std(x, 1)
    return [x], [y, k.layers.LSTM(2)(x * y[:, None])], [values]


layer("activations_of_tensorflow", lambda k, L: k.Sequential([
    L.Dense(4, activation="leaky_relu"), L.Dense(3, activation="log_softmax")]), (5,), only="tf2")
for axis, shape in ((1, (4, 4)), ([1, 2], (2, 3, 2, 3)), ([2, 1], (3, 3)), (2, (3, 4, 4))):
    layer(f"rms_normalization_{str(axis).strip('[]').replace(', ', '_')}",
          lambda k, L, a=axis: L.RMSNormalization(axis=a), shape, only="k3")
# Windows that are narrower than their distance, and "same" beside dilations
layer("sparse_windows", lambda k, L: k.Sequential([
    L.AveragePooling2D(1, (2, 3), "same"), L.MaxPooling2D((1, 2), 3, "same"),
    L.SeparableConv2D(3, 2, (2, 2), "same")]), (9, 8, 2), only="tf2")
layer("sparse_dilated", lambda k, L: L.SeparableConv2D(3, (1, 3), 3, "same", dilation_rate=2), (3, 7, 3), only="k3")


@network("operations_operands", (2, 3))
def _(L, ops, x):
    return [x - np.array([[1, -2, 3]], "f4"), ops.maximum(x * 2.0, np.array([[1, -2, 3]], "f4"))]


# Models without weights, and with layers that have two
@case("nested_models", "tf2")
def _(k):
    L = k.layers
    x = k.Input((6, 3))
    plain = k.Sequential([k.Input((6, 3)), k.Sequential([k.Input((6, 3)), L.MaxPooling1D(2)])])
    normal = k.Sequential([k.Input((3, 3)), L.LayerNormalization(), L.Dense(2)])
    return [x], L.GRU(2)(normal(plain(x))), None


# The first of the stacked cells has fewer units than the last.
layer("bidirectional_stacked_cells", lambda k, L: L.Bidirectional(
    L.RNN([L.GRUCell(2), L.SimpleRNNCell(4)], return_sequences=True)), S, only="k3")


# Places that only single precision rounds up to the next element
layer("resizing_nearest_places", lambda k, L: L.Resizing(3, 11, interpolation="nearest"), (10, 26, 2))


# Functions whose code is in the file
@network("code_of_activation", (5, 3))
def _(L, ops, x):
    y = L.Dense(4, activation=lambda t: t * 0.5 + 1.5 / (t * t + 1))(x)
    return [y, L.GRU(2, activation=lambda t: t - t ** 3 / 8, return_sequences=True)(y)]


# A mask that operations compute takes the place of the input's, unless it is the same.
@case("masked_by_operations", "k3")
def _(k):
    L, ops = k.layers, k.ops
    a, state = k.Input((6,), dtype="int32"), k.Input((2,))
    x = L.Embedding(9, 4, mask_zero=True)(a)
    m = ops.logical_and(a != 4, a != 2)
    y = L.GRU(2, return_sequences=True)(x, mask=a != 3)
    outputs = [L.LSTM(2)(x, mask=m), L.GRU(2)(x, mask=m, initial_state=state), L.GRU(2)(x, mask=a != 0)]
    values = [np.array([[3, 4, 2, 7, 0, 0]], "i4"), np.array([[0.5, -1.5]], "f4")]
    return [a, state], outputs + [L.SimpleRNN(2)(y), L.GlobalAveragePooling1D()(x, mask=m)], values


# Inside TimeDistributed, operations do not remove the mask.
@case("masked_time_distributed_operations")
def _(k):
    a, x, u = masked(k, 5, [0, 3], 3)
    i = k.Input((3,))
    model = k.Model(i, k.layers.Dense(2)(i * 2.0 + i))
    return [a], k.layers.LSTM(2)(k.layers.TimeDistributed(k.Model(i, model(i) + 0.5))(x)), [u]


# Their axes are those of a step.
@case("time_distributed_axes")
def _(k):
    import tensorflow as tf
    L, steps = k.layers, k.Input((4, 3, 5))

    def largest(x, y):
        return tf.reduce_max(y[:, 1:, ::2], axis=-1) if k is keras2 else k.ops.max(y[:, 1:, ::2], axis=-1)

    def joined(x, y):
        if k is keras2:
            total = tf.reduce_sum(y, axis=1, keepdims=True)
            return tf.concat([tf.where(x > total, x, 0.1 * y), tf.nn.softmax(y, axis=1)], axis=1)
        total = k.ops.sum(y, axis=1, keepdims=True)
        return k.ops.concatenate([k.ops.where(x > total, x, 0.1 * y), k.ops.softmax(y, axis=1)], axis=1)

    def product(x, y):
        return tf.matmul(x, y, transpose_b=True) if k is keras2 else k.ops.matmul((x - y)[:, :, :3], y)

    outputs = []
    for function in (largest, joined, product):
        x = k.Input((3, 5))
        outputs.append(L.TimeDistributed(k.Model(x, function(x, L.Dense(5)(x))))(steps))
    return [steps], outputs, None


# Sums beyond half of half precision's range
for name in ("LSTM", "GRU", "SimpleRNN"):
    values = np.random.default_rng(6).normal(size=(1, 5, 3)).astype("f4") * 3e4
    values[0, 2] = 0
    layer(f"any_length_masking_{name}_large", lambda k, L, n=name: k.Sequential([L.Masking(), getattr(L, n)(4)]), ANY,
          only="k3", values=[values])


# An output that the other one reads in another shape
@case("reshaped_outputs", "k3")
def _(k):
    L = k.layers
    x = k.Input((2,))
    y = L.LayerNormalization()(x)
    z = L.Reshape((1, 1, 2))(y)
    return [x], [y, L.Concatenate(axis=1)([z, L.Activation("tanh")(z)])], None


# As many rows as channels
@case("normalization_rows")
def _(k):
    x = k.Input((3, 4, 3))
    own = {"mean": [-1.0, 0.5, 2.0], "variance": [0.5, 1.0, 2.0]}
    return [x], [k.layers.Normalization(axis=1, **own)(x), k.layers.Normalization(axis=1, invert=True, **own)(x)], None


# Keras runs the calls with the most calls after them first, and of equal ones those that lead to
# the last outputs: those before MultiHeadAttention have the mask, and the others have none.
@case("masked_attention_order", "k3")
def _(k):
    L = k.layers
    a = k.Input((5,), dtype="int32")
    x, y = L.Embedding(9, 4, mask_zero=True)(a), L.Embedding(9, 4, mask_zero=True)(a)
    i = k.Input((5, 4))
    nested = k.Model(i, L.MultiHeadAttention(1, 3)(i, i))
    outputs = [L.GroupQueryAttention(3, 4, 2)(x, x), L.MultiHeadAttention(2, 3)(x, x), L.AdditiveAttention()([x, x])]
    return [a], outputs + [L.Attention()([y, y]), nested(y), L.Attention(use_scale=True)([y, y])], [
        np.array([[3, 7, 0, 2, 0]], "i4")]


@case("attention_scores_masked", "k3")
def _(k):
    L = k.layers
    a, x, u = masked(k, 5, [0, 3], 4)
    m = k.Input((5, 5), dtype="bool")
    outputs = [*L.MultiHeadAttention(2, 3, sliding_window=2)(x, x, attention_mask=m, return_attention_scores=True)]
    outputs += [L.GroupQueryAttention(3, 4, 2, use_bias=False)(x, x, use_causal_mask=True)]
    b = k.Input((5,), dtype="bool")
    c = k.Input((5, 2))
    y = L.Dense(4)(c)
    outputs += [L.Attention()([y, y], mask=[b, None]), L.AdditiveAttention()([y, y], mask=[None, b])]
    return [a, m, b, c], outputs, [u, np.arange(25).reshape(1, 5, 5) % 3 > 0, np.array([[1, 1, 0, 1, 0]], bool),
                                   np.random.default_rng(5).normal(size=(1, 5, 2)).astype("f4")]


if __name__ == "__main__":
    wanted = sys.argv[1:]
    for framework in ("tf2", "k3"):
        if wanted and framework not in wanted and ({"tf2", "k3"} & set(wanted)):
            continue
        for name, only, build in CASES:
            name = name.lower()
            if only not in (None, framework) or framework == "k3" and only is None and name.startswith(ONCE):
                continue
            names = [w for w in wanted if w not in ("tf2", "k3")]
            if names and not any(w in name for w in names):
                continue
            try:
                make(framework, name, build)
            except Exception as error:
                print(f"{framework}/{name}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
