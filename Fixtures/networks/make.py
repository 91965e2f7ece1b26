#!/usr/bin/env python3
"""Writes the fixtures beside it: small networks as today's Keras and tf_keras save them, and what
they themselves predict. Needs tensorflow (with Keras 3), tf_keras and h5py; the files are
committed, so that tests need none of them.

    make.py [NAME ...]      all networks, or only these

A network is one function with @network, which gets the package (`keras` or `tf_keras`) and returns
a model. For FRAMEWORK-NAME there is the model, FRAMEWORK-NAME.inputs.npz and
FRAMEWORK-NAME.expected.npz, whose arrays are named input1, output1, …; a test converts every model
that has an .expected.npz, runs it and compares. Weights and inputs are drawn anew here with a seed
of the network's name, larger than Keras' initializers would have them, so that every weight counts."""
import io
import json
import os
import sys
import zipfile
import zlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
HERE = os.path.dirname(os.path.abspath(__file__))
NETWORKS = {}


def network(files=("keras",), frameworks=("keras3", "tfkeras"), inputs=None):
    """files: 'keras', 'h5' (whole models), 'json' (architecture with weights by object),
    'json+h5' (architecture with weights by layer). inputs: function of a numpy generator that gives
    the list of inputs where standard normal ones do not fit."""
    def add(function):
        NETWORKS[function.__name__] = (function, files, frameworks, inputs)
        return function
    return add


# MARK: files


EVERY_FILE = ("keras", "h5", "json", "json+h5")


def mixed(keras, trainable=True):
    """Layers of one class in several models, so that all the ways of naming weights matter."""
    L = keras.layers
    inner = keras.Sequential(
        [L.Conv2D(3, 3, padding="same", name="inner_a"), L.BatchNormalization(name="inner_b")],
        name="inner")
    inner.trainable = trainable
    image = keras.Input((6, 6, 2), name="image")
    x = L.Conv2D(3, 3, padding="same", activation="relu", name="b")(image)
    x = L.Add(name="sum")([inner(x), x])
    x = L.BatchNormalization(name="a")(x)
    x = L.Dropout(0.5)(x)
    x = L.Conv2D(2, 1, name="c")(x)
    x = L.Flatten()(x)
    return keras.Model(image, L.Dense(2, name="d")(x), name="mixed")


@network(frameworks=("keras3",))
def cube(keras):
    """Twice an input whose axes are all of one length: a wrong order of them has the right shape."""
    L = keras.layers
    x = keras.Input((3, 3, 3), name="x")
    return keras.Model(x, L.GlobalAveragePooling2D(name="mean")(L.Add(name="double")([x, x])))


@network(EVERY_FILE)
def nested(keras):
    return mixed(keras)


@network(("keras", "h5"))
def nested_frozen(keras):
    return mixed(keras, trainable=False)


@network(EVERY_FILE)
def sequential(keras):
    L = keras.layers
    return keras.Sequential([L.Input((4,)), L.Dense(3, activation="tanh"), L.Dropout(0.1), L.Dense(2)])


@network(("keras", "h5"))
def sequential_without_input(keras):
    L = keras.layers
    model = keras.Sequential([L.Dense(3, activation="tanh"), L.Dense(2)])
    model.build((None, 4))
    return model


@network(("keras", "h5"))
def compiled(keras):
    L = keras.layers
    model = keras.Sequential([L.Input((4,)), L.Dense(3, activation="relu"), L.Dense(2)])
    model.compile("adam", "mse", metrics=["mae"])
    import numpy as np
    model.fit(np.ones((4, 4)), np.ones((4, 2)), verbose=0)
    return model


@network(("keras", "h5"))
def deeply_nested(keras):
    L = keras.layers
    model = keras.Sequential([L.Input((3,)), L.Dense(3, activation="tanh", name="d0")], name="level0")
    for level in range(1, 4):
        i = keras.Input((3,))
        x = L.Dense(3, name=f"before{level}")(i)
        x = model(x)
        x = L.Dense(3, name=f"after{level}", activation="tanh")(x)
        model = keras.Model(i, x, name=f"level{level}")
    return model


@network(("keras", "h5"))
def shared(keras):
    L = keras.layers
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    dense = L.Dense(3, activation="tanh")
    inner = keras.Sequential([L.Input((3,)), L.Dense(2, activation="sigmoid")], name="both")
    x = L.Concatenate()([inner(dense(a)), inner(dense(b))])
    return keras.Model([a, b], [L.Dense(2)(x), x])


@network(("keras", "h5"))
def several_inputs_and_outputs(keras):
    L = keras.layers
    a, b = keras.Input((4,), name="second"), keras.Input((5, 3), name="first")
    i, j = keras.Input((3,)), keras.Input((3,))
    inner = keras.Model([i, j], [L.Dense(2)(L.Add()([i, j])), L.Dense(2)(j)], name="inner")
    x, y = inner([L.Dense(3)(a), L.GlobalMaxPooling1D()(b)])
    return keras.Model([a, b], [y, L.Multiply()([x, y])])


@network(("keras", "h5"))
def steps_of_a_model(keras):
    L = keras.layers
    inner = keras.Sequential(
        [L.Input((6, 6, 2)), L.Conv2D(3, 3, activation="relu"), L.BatchNormalization(), L.MaxPooling2D(),
         L.Flatten(), L.Dense(3)], name="inner")
    i = keras.Input((4, 6, 6, 2))
    x = L.TimeDistributed(inner, name="steps")(i)
    return keras.Model(i, L.LSTM(2)(x))


@network(("keras", "h5"))
def recurrent(keras):
    L = keras.layers
    i = keras.Input((5, 3))
    x = L.Bidirectional(L.LSTM(4, return_sequences=True))(i)
    x = L.LSTM(3, return_sequences=True)(x)
    x = L.TimeDistributed(L.Dense(3, activation="relu"))(x)
    return keras.Model(i, L.SimpleRNN(2)(x))


@network()
def activations_as_objects(keras):
    L = keras.layers
    i = keras.Input((5,))
    x = L.Dense(4, activation=L.ReLU(max_value=1.5))(i)
    x = L.Dense(4, activation=keras.activations.softplus)(x)
    return keras.Model(i, L.Dense(3, activation=keras.activations.softmax)(x))


@network(("keras", "h5"))
def activations_without_name(keras):
    """Functions of layers `Activation`, stored as code."""
    image = keras.Input((5, 6, 2))
    x = keras.layers.Conv2D(3, 2)(image)
    x = keras.layers.Activation(lambda x: abs(x) * 2 + 1)(x)
    return keras.Model(image, keras.layers.Activation(lambda x: x * x / 3)(x))


@network(("keras", "h5"))
def dictionary_of_inputs(keras):
    L = keras.layers
    i, j = keras.Input((3,), name="z"), keras.Input((4,), name="y")
    inner = keras.Model({"z": i, "y": j}, {"out2": L.Dense(2)(j), "out1": L.Dense(3)(i)}, name="inner")
    a, b = keras.Input((4,), name="b"), keras.Input((3,), name="a")
    x = inner({"y": a, "z": b})
    return keras.Model([a, b], L.Concatenate()([x["out2"], x["out1"]]))


@network(("keras", "h5"))
def initial_states(keras):
    L = keras.layers
    i, h, c = keras.Input((5, 3)), keras.Input((4,)), keras.Input((4,))
    x, y, z = L.LSTM(4, return_sequences=True, return_state=True)(i, initial_state=[h, c])
    return keras.Model([i, h, c], [L.LSTM(4)(x, initial_state=[y, z]), z])


@network(("keras", "h5"))
def attention_by_keyword(keras):
    L = keras.layers
    q, v = keras.Input((5, 4)), keras.Input((3, 4))
    x = L.MultiHeadAttention(2, 3)(query=q, value=v) if keras.__name__ == "keras" else (
        L.MultiHeadAttention(2, 3)(q, value=v))
    return keras.Model([q, v], L.LayerNormalization()(L.Add()([x, q])))


@network()
def mixed_precision_policy(keras):
    # The policy's name alone matters here: the computation is as precise as ever.
    L = keras.layers
    i = keras.Input((4,))
    x = L.Dense(3, dtype=keras.mixed_precision.Policy("float32") if keras.__name__ == "tf_keras"
                else keras.DTypePolicy("float32"))(i)
    return keras.Model(i, L.Dense(2)(x))


# MARK: operations


def ops(keras):
    """Functions of one name in both packages."""
    if keras.__name__ == "keras":
        return keras.ops
    import types
    import tensorflow as tf
    return types.SimpleNamespace(
        abs=tf.abs, sqrt=tf.sqrt, exp=tf.exp, log=tf.math.log, square=tf.square, maximum=tf.maximum,
        minimum=tf.minimum, relu=tf.nn.relu, relu6=tf.nn.relu6, sigmoid=tf.sigmoid, tanh=tf.tanh,
        softmax=tf.nn.softmax, silu=tf.nn.silu, mean=tf.reduce_mean, sum=tf.reduce_sum,
        max=tf.reduce_max, min=tf.reduce_min, reshape=tf.reshape, transpose=tf.transpose,
        concatenate=tf.concat, stack=tf.stack, split=tf.split, expand_dims=tf.expand_dims,
        squeeze=tf.squeeze, pad=tf.pad, clip=tf.clip_by_value, power=tf.pow, tile=tf.tile,
        leaky_relu=tf.nn.leaky_relu, softplus=tf.nn.softplus, rsqrt=tf.math.rsqrt, elu=tf.nn.elu)


@network(("keras", "h5"))
def operators(keras):
    o, i = ops(keras), keras.Input((4, 5, 3))
    x = 2.0 - i * 3.0
    y = i / 4.0 + x
    z = 1.0 / (o.abs(y) + 1.0)
    z = z - x / (o.square(y) + 0.5)
    return keras.Model(i, [-z, o.abs(x) ** 1.5, x ** 2.0, 2.0 ** y])


@network()
def operations_unary(keras):
    o, i = ops(keras), keras.Input((6,))
    x = o.sqrt(o.abs(i)) + o.exp(i * 0.1) + o.log(o.square(i) + 1.0)
    x = x + o.relu(i) + o.relu6(i * 4.0) + o.sigmoid(i) + o.tanh(i) + o.silu(i) + o.softplus(i)
    y = o.clip(i, -0.5, 0.75) + o.maximum(i, 0.1) + o.minimum(i, 0.2)
    y = y + o.leaky_relu(i, 0.1) + o.elu(i) + o.rsqrt(o.abs(i) + 0.5)
    return keras.Model(i, [x, y, o.softmax(i)])


@network()
def operations_of_two(keras):
    o, a, b = ops(keras), keras.Input((4, 5, 3)), keras.Input((4, 5, 3))
    c = o.maximum(a, b) * o.minimum(a, b) + (a - b) / (o.abs(b) + 1.0)
    w = o.mean(a, axis=[1, 2], keepdims=True)
    return keras.Model([a, b], [c, a * w, o.power(o.abs(a) + 0.1, b)])


@network()
def operations_reducing(keras):
    o, i, s = ops(keras), keras.Input((4, 5, 3)), keras.Input((6, 3))
    outputs = [o.mean(i, axis=[1, 2]), o.sum(i, axis=-1), o.max(i, axis=[1, 2], keepdims=True),
               o.min(i, axis=1), o.mean(i, axis=[1, 2, 3], keepdims=True)]
    outputs += [o.mean(s, axis=1), o.sum(s, axis=2), o.max(s, axis=1, keepdims=True), o.mean(s, axis=[1, 2])]
    return keras.Model([i, s], outputs)


@network()
def operations_on_shapes(keras):
    o, i, s, v = ops(keras), keras.Input((4, 5, 3)), keras.Input((6, 3)), keras.Input((8,))
    outputs = [o.reshape(i, (-1, 60)), o.reshape(v, (-1, 2, 4)), o.reshape(i, (-1, 20, 3)),
               o.reshape(v, (-1, 2, 2, 2)), o.transpose(i, (0, 2, 1, 3)), o.transpose(i, (0, 3, 1, 2)),
               o.transpose(s, (0, 2, 1)), o.expand_dims(v, 1), o.expand_dims(s, -1),
               o.squeeze(o.expand_dims(v, 1), 1), o.tile(v, (1, 2)), o.tile(s, (1, 2, 1))]
    return keras.Model([i, s, v], outputs)


@network()
def operations_joining(keras):
    o, i, s, v = ops(keras), keras.Input((4, 5, 3)), keras.Input((6, 3)), keras.Input((8,))
    outputs = [o.concatenate([i, i * 2.0], -1), o.concatenate([i, i * 2.0], 1), o.concatenate([s, -s], 1),
               o.stack([v, v * 2.0], 1), o.stack([s, -s], -1)]
    outputs += list(o.split(i, 3, axis=-1)) + list(o.split(v, 2, axis=1)) + list(o.split(s, 3, axis=1))
    return keras.Model([i, s, v], [x + 1.0 for x in outputs])


@network(("h5",))
def operations_slicing(keras):
    i, s, v = keras.Input((4, 5, 3)), keras.Input((6, 3)), keras.Input((8,))
    outputs = [i[:, 1:3], i[:, ::2, 1:, :2], i[..., 0], i[:, 0], i[:, -1, 1:], s[:, -1, :], s[:, 1:-1],
               s[:, ::2], s[..., 1:], v[:, 2:5], v[:, None, :], i[:, 1, 2]]
    return keras.Model([i, s, v], outputs)


@network()
def operations_padding(keras):
    o, i, s = ops(keras), keras.Input((4, 5, 3)), keras.Input((6, 3))
    outputs = [o.pad(i, [[0, 0], [1, 2], [3, 0], [0, 0]]), o.pad(s, [[0, 0], [1, 2], [0, 0]]),
               o.pad(i, [[0, 0], [0, 0], [0, 0], [1, 2]]), o.pad(i, [[0, 0], [1, 2], [3, 0], [0, 0]], "reflect")]
    return keras.Model([i, s], outputs)


@network()
def operations_with_arrays(keras):
    import numpy as np
    i, s = keras.Input((4, 5, 3)), keras.Input((6, 3))
    mean = np.array([0.1, 0.2, 0.3], "float32")
    plane = (np.arange(20, dtype="float32") / 10).reshape(4, 5, 1)
    return keras.Model([i, s], [(i - mean) / (mean + 1), i * plane, s + mean])


@network(frameworks=("tfkeras",))
def operations_of_tensorflow(keras):
    import tensorflow as tf
    i, v = keras.Input((4, 6, 4)), keras.Input((8,))
    size = tf.shape(i)
    outputs = [tf.reshape(i, (size[0], -1)), tf.reshape(i, tf.stack([size[0], size[1], size[2] * size[3]])),
               tf.nn.depth_to_space(i, 2), tf.nn.space_to_depth(i, 2), tf.gather(v, [0, 2, 5], axis=1),
               tf.math.l2_normalize(v, axis=-1), tf.math.l2_normalize(i, axis=-1), tf.nn.bias_add(i, [1.0, 2.0, 3.0, 4.0]),
               tf.math.squared_difference(v, v * 2.0), tf.unstack(i, axis=-1)[1], tf.matmul(v, tf.ones((8, 2)) * 0.5),
               tf.image.rgb_to_grayscale(i[:, :, :, :3]), tf.math.log1p(tf.abs(v)), tf.cast(v, "float32") + 1.0]
    return keras.Model([i, v], outputs)


@network(frameworks=("tfkeras",))
def constants_of_steps(keras):
    """Attention to earlier steps alone, by a constant with another row for each step."""
    import tensorflow as tf
    steps = keras.Input((6, 4))
    scores = tf.matmul(keras.layers.Dense(4)(steps), steps, transpose_b=True)
    earlier = tf.linalg.band_part(tf.ones((6, 6)), -1, 0)
    return keras.Model(steps, tf.matmul(tf.nn.softmax(scores * earlier - 1e4 * (1 - earlier)), steps))


@network()
def operations_in_a_nested_model(keras):
    L, o = keras.layers, ops(keras)
    i = keras.Input((4, 5, 3))
    gate = keras.Model(i, o.sigmoid(L.Dense(3)(o.mean(i, axis=[1, 2], keepdims=True)) + 0.5), name="gate")
    x = keras.Input((4, 5, 3))
    return keras.Model(x, L.Conv2D(2, 1)(x * gate(x)))


@network(frameworks=("tfkeras",))
def conditions_of_tensorflow(keras):
    import tensorflow as tf
    a, b = keras.Input((4, 5, 3)), keras.Input((4, 5, 3))
    f = lambda x: tf.cast(x, "float32")
    outputs = [tf.where(a > b, a, b * 2.0), tf.where(tf.logical_and(a > 0.0, b <= 0.5), a, 0.0),
               f(tf.equal(tf.round(a), 0.0)), f(a >= 0.25) - f(b < a), f(tf.math.logical_not(a > b)),
               a // 0.5, a % 0.75, tf.math.floormod(a, b), tf.math.divide_no_nan(a, tf.nn.relu(b)), tf.round(a) ** tf.abs(tf.round(b)), tf.cast(tf.cast(a * 3.0, "int32"), "float32"),
               f(tf.reduce_any(a > 1.0, axis=[1, 2])), f(tf.reduce_all(a > -1.5, axis=-1))]
    return keras.Model([a, b], outputs)


@network(frameworks=("keras3",))
def conditions(keras):
    o, a, b = keras.ops, keras.Input((4, 5, 3)), keras.Input((4, 5, 3))
    f = lambda x: o.cast(x, "float32")
    outputs = [o.where(a > b, a, b * 2.0), o.where(o.logical_and(a > 0.0, b <= 0.5), a, 0.0),
               f(o.equal(o.round(a), 0.0)), f(a >= 0.25) - f(b < a), f(o.logical_not(a > b)),
               o.floor_divide(a, 0.5), o.mod(a, 0.75), f(o.logical_xor(a > 0.0, b > 0.0)),
               o.trunc(a * 3.0), f(o.any(a > 1.0, axis=[1, 2])), f(o.all(a > -1.5, axis=-1)),
               o.nn.threshold(a, 0.5, -1.0), o.logaddexp(a, b), o.hypot(a, b)]
    return keras.Model([a, b], outputs)


@network(frameworks=("tfkeras",))
def orders_of_tensorflow(keras):
    import tensorflow as tf
    s, v = keras.Input((6, 3)), keras.Input((8,))
    f = lambda x: tf.cast(x, "float32")
    values, places = tf.math.top_k(v, 3)
    outputs = [f(tf.argmax(v, axis=-1)), f(tf.argmin(s, axis=1)), values, f(places), tf.sort(v),
               tf.sort(s, axis=1, direction="DESCENDING"), f(tf.argsort(v)), tf.cumsum(v, axis=1),
               tf.cumsum(s, axis=1, exclusive=True, reverse=True),
               tf.one_hot(tf.argmax(s, axis=-1), 3), tf.reverse(s, axis=[1]), tf.roll(v, 3, axis=1),
               tf.repeat(s, 2, axis=1), tf.gather([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], tf.argmax(s, axis=-1))]
    return keras.Model([s, v], outputs)


@network(frameworks=("keras3",))
def orders(keras):
    o, s, v = keras.ops, keras.Input((6, 3)), keras.Input((8,))
    f = lambda x: o.cast(x, "float32")
    values, places = o.top_k(v, 3)
    outputs = [f(o.argmax(v, axis=-1)), f(o.argmin(s, axis=1)), values, f(places), o.sort(v, axis=-1),
               o.sort(s, axis=1), f(o.argsort(v, axis=-1)), o.cumsum(v, axis=1), o.cumsum(s, axis=1),
               o.one_hot(o.argmax(s, axis=-1), 3), o.flip(s, axis=1), o.roll(v, 3, axis=1),
               o.repeat(s, 2, axis=1), o.take_along_axis(s, o.argsort(s, axis=1), axis=1)]
    return keras.Model([s, v], outputs)


@network()
def products(keras):
    import tensorflow as tf
    o = keras.ops if keras.__name__ == "keras" else tf
    a, b = keras.Input((4, 3)), keras.Input((3, 5))
    x, y = keras.Input((2, 4, 3)), keras.Input((2, 3, 5))
    if keras.__name__ == "tf_keras":
        # It saves einsum without its tensors.
        return keras.Model([a, b, x, y], [o.matmul(a, b), o.matmul(x, y), o.matmul(a, b * 2.0, transpose_a=False),
                                          o.matmul(b, a, transpose_a=True, transpose_b=True)])
    outputs = [o.matmul(a, b), o.matmul(x, y), o.einsum("bij,bjk->bik", a, b), o.einsum("bij,bjk->bki", a, b),
               o.einsum("bhij,bhjk->bihk", x, y), o.einsum("bij,bhjk->bhik", a, y),
               o.einsum("bhij,bhjk->bk", x, y), o.einsum("bij->bji", a), o.einsum("bhij->bj", x)]
    return keras.Model([a, b, x, y], outputs)


@network()
def functions(keras):
    import tensorflow as tf
    i = keras.Input((4, 6))
    if keras.__name__ == "keras":
        o = keras.ops
        outputs = [o.sin(i) + o.cos(i), o.tan(i * 0.5), o.arcsin(o.tanh(i)), o.arccos(o.tanh(i)), o.arctan(i),
                   o.sinh(i) + o.cosh(i), o.arcsinh(i), o.arctanh(o.tanh(i) * 0.9), o.erf(i),
                   o.sign(i) * o.floor(i) + o.ceil(i), o.log2(o.abs(i) + 1.0) + o.log10(o.abs(i) + 1.0),
                   o.var(i, axis=-1), o.std(i, axis=1, keepdims=True), o.logsumexp(i, axis=-1), o.norm(i, axis=-1),
                   o.nn.sparsemax(i), o.moveaxis(i, 1, 2), o.tril(i), o.zeros_like(i) + o.ones_like(i),
                   o.average(i, axis=-1) if False else o.mean(i, axis=-1), o.clip(i, -0.5, 0.5), o.swapaxes(i, 1, 2),
                   i[:, ::-1], i[:, -2::-2, 1:]]
    else:
        outputs = [tf.sin(i) + tf.cos(i), tf.tan(i * 0.5), tf.asin(tf.tanh(i)), tf.acos(tf.tanh(i)), tf.atan(i),
                   tf.sinh(i) + tf.cosh(i), tf.asinh(i), tf.atanh(tf.tanh(i) * 0.9), tf.math.erf(i),
                   tf.sign(i) * tf.floor(i) + tf.math.ceil(i), tf.math.reduce_variance(i, axis=-1),
                   tf.math.reduce_std(i, axis=1, keepdims=True), tf.reduce_logsumexp(i, axis=-1),
                   tf.norm(i, axis=-1), tf.zeros_like(i) + tf.ones_like(i), tf.clip_by_value(i, -0.5, 0.5),
                   i[:, ::-1], i[:, -2::-2, 1:]]
    return keras.Model(i, outputs)


@network(frameworks=("tfkeras",))
def images_of_tensorflow(keras):
    import tensorflow as tf
    i = keras.Input((6, 8, 3))
    outputs = [tf.image.flip_left_right(i), tf.image.flip_up_down(i), tf.image.crop_to_bounding_box(i, 1, 2, 3, 4),
               tf.image.per_image_standardization(i), tf.nn.max_pool2d(i, 2, 2, "VALID"),
               tf.nn.avg_pool2d(i, [3, 2], [2, 1], "SAME"), tf.nn.local_response_normalization(i, 2, 1.0, 0.1, 0.75),
               tf.image.grayscale_to_rgb(i[:, :, :, :1]), tf.image.resize(i, (9, 5)),
               tf.image.adjust_brightness(i, 0.25), *tf.nn.moments(i, axes=[1, 2])]
    return keras.Model(i, outputs)


def masked_inputs(generator):
    return [generator.normal(size=(1, 6, 3)).astype("float32"),
            (generator.uniform(size=(1, 6)) > 0.4).astype("float32")]


@network(inputs=masked_inputs)
def mask_of_its_own(keras):
    """A mask that the model is given, or computes."""
    import tensorflow as tf
    L = keras.layers
    greater = keras.ops.greater if keras.__name__ == "keras" else tf.greater
    x, m = keras.Input((6, 3)), keras.Input((6,))
    mask = greater(m, 0.5)
    return keras.Model([x, m], [L.LSTM(4)(x, mask=mask), L.GRU(3, return_sequences=True)(x, mask=mask),
                                L.GlobalAveragePooling1D()(x, mask=mask)])


def any_length(generator):
    return [generator.normal(size=(1, 7, 3)).astype("float32")]


@network(inputs=any_length)
def parts_of_any_length(keras):
    i = keras.Input((None, 3))
    return keras.Model(i, [i[:, -1, :] * 2.0, i[:, 1:] + 1.0, i[:, ::-1] - 1.0, i[:, -3:-1] * 3.0, i[:, 0] * 4.0])


@network(files=("h5",), frameworks=("tfkeras",))
def operations_of_a_graph(keras):
    """What tf.keras 2.0 to 2.3 stored: layers that hold a node of a graph."""
    import numpy as np
    from tf_keras.src.engine.base_layer import TensorFlowOpLayer
    types = {"float": {"type": "DT_FLOAT"}, "int": {"type": "DT_INT32"}}

    def node(op, inputs, constants=None, count=None, **attributes):
        constants = {k: np.array(v) for k, v in (constants or {}).items()}
        total = len(inputs) + len(constants)
        definition = {"name": f"n{node.number}", "op": op, "input": [f"i{k}" for k in range(total)],
                      "attr": {"T": types["float"], **attributes}}
        node.number += 1
        return TensorFlowOpLayer(node_def=definition, name=definition["name"], constants=constants)(
            inputs if len(inputs) > 1 else inputs[0])
    node.number = 0
    i, j = keras.Input((4, 5, 3)), keras.Input((4, 5, 3))
    index = {"Tidx": types["int"]}
    outputs = [
        node("AddV2", [i, j]), node("Mul", [i], {1: np.float32(2.5)}), node("Sub", [i], {0: np.float32(1.0)}),
        node("Mean", [i], {1: np.int32([1, 2])}, keep_dims={"b": True}, **index),
        node("ConcatV2", [i, j], {2: np.int32(-1)}, N={"i": "2"}, **index), node("Relu6", [i]),
        node("Transpose", [i], {1: np.int32([0, 2, 1, 3])}, Tperm=types["int"]),
        node("Reshape", [i], {1: np.int32([-1, 20, 3])}, Tshape=types["int"]),
        node("StridedSlice", [i], {1: np.int32([0, 1, 0, 0]), 2: np.int32([0, 3, 0, 1]), 3: np.int32([1, 1, 2, 1])},
             Index=types["int"], begin_mask={"i": "5"}, end_mask={"i": "5"}, shrink_axis_mask={"i": "8"},
             ellipsis_mask={"i": "0"}, new_axis_mask={"i": "0"}),
        node("Maximum", [i, j]), node("Softmax", [i]),
        node("Pad", [i], {1: np.int32([[0, 0], [1, 0], [0, 2], [0, 0]])}, Tpaddings=types["int"])]
    return keras.Model([i, j], [keras.layers.Activation("linear")(x) for x in outputs])


# MARK: making them


def deflated(path):
    """The archive with its members compressed, as `zip` would pack it anew."""
    with zipfile.ZipFile(path) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, contents in members:
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), contents,
                             zipfile.ZIP_DEFLATED)


def fill(model, generator):
    import numpy as np
    for weight in model.weights:
        name = getattr(weight, "path", weight.name)
        shape = tuple(weight.shape)
        if "float" not in str(weight.dtype):
            continue
        values = generator.normal(size=shape) * (0.6 if len(shape) < 2 else 1.2 / np.sqrt(np.prod(shape[:-1])))
        if "variance" in name:
            values = np.abs(values) + 0.5
        if "gamma" in name:
            values = values + 1
        weight.assign(values.astype("float32"))


def make(name, framework):
    import numpy as np
    keras = __import__({"keras3": "keras", "tfkeras": "tf_keras"}[framework])
    function, files, frameworks, inputs = NETWORKS[name]
    if framework not in frameworks:
        return
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    keras.backend.clear_session()
    model = function(keras)
    fill(model, generator)
    if inputs:
        arrays = inputs(generator)
    else:
        arrays = [generator.normal(size=(1,) + tuple(s or 5 for s in i.shape[1:])).astype("float32")
                  for i in model.inputs]
    outputs = model.predict(arrays if len(arrays) > 1 else arrays[0], verbose=0)
    if isinstance(outputs, dict):
        outputs = [outputs[key] for key in sorted(outputs)]
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    stem = os.path.join(HERE, f"{framework}-{name}")
    np.savez_compressed(stem + ".inputs.npz", **{f"input{i + 1}": a for i, a in enumerate(arrays)})
    np.savez_compressed(stem + ".expected.npz", **{f"output{i + 1}": a for i, a in enumerate(outputs)})
    for kind in files:
        if kind == "keras":
            model.save(stem + ".keras")
            deflated(stem + ".keras")
        elif kind == "h5":
            model.save(stem + ".h5")
        else:
            with open(stem + ".json", "w") as out:
                out.write(model.to_json())
            if kind == "json":
                model.save_weights(stem + ".weights.h5")
            else:
                save_by_layer(model, stem + ".layers.h5")
    print(stem, files)


def save_by_layer(model, path):
    """Weights of Keras 2's form, which Keras 3 reads but no longer writes by itself."""
    import h5py
    with h5py.File(path, "w") as file:
        if "tf_keras" in type(model).__module__:
            from tf_keras.src.saving.legacy import hdf5_format
            hdf5_format.save_weights_to_hdf5_group(file, model)
        else:
            from keras.src.legacy.saving import legacy_h5_format
            legacy_h5_format.save_weights_to_hdf5_group(file, model)


def rewrite(source, target, groups):
    """The archive with other names for the groups of its weights; `groups` maps old paths to new."""
    import h5py
    with zipfile.ZipFile(os.path.join(HERE, source)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    weights = io.BytesIO()
    with h5py.File(io.BytesIO(members["model.weights.h5"])) as old, h5py.File(weights, "w") as new:
        def copy(name, item):
            if isinstance(item, h5py.Dataset):
                group, variable = name.rsplit("/vars/", 1)
                new.require_group(groups(group)).require_group("vars")[variable] = item[()]
        old.visititems(copy)
    members["model.weights.h5"] = weights.getvalue()
    target = os.path.join(HERE, target)
    with zipfile.ZipFile(target, "w") as archive:
        for name, contents in members.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), contents)
    deflated(target)


def rewrite_all():
    """As Keras 2.12 wrote archives: layers under _layer_checkpoint_dependencies, where those with
    weights stood twice and were counted twice; and as it did on Windows, with backslashes."""
    import re

    def doubled(path):
        parts = path.replace("layers/", "_layer_checkpoint_dependencies/").split("/")
        return "/".join(re.sub(r"^(conv2d|dense|batch_normalization)_(\d+)$",
                               lambda m: f"{m[1]}_{2 * int(m[2])}", part) for part in parts)
    rewrite("tfkeras-nested.keras", "2_12-nested.keras", doubled)
    rewrite("tfkeras-nested.keras", "windows-nested.keras", lambda path: path.replace("/", "\\"))


if __name__ == "__main__":
    for name in sys.argv[1:] or NETWORKS:
        for framework in ("keras3", "tfkeras"):
            make(name, framework)
    if not sys.argv[1:] or "nested" in sys.argv[1:]:
        rewrite_all()
