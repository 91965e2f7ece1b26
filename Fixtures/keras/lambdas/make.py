#!/usr/bin/env python3
"""Writes a small network for each usual Lambda, with TensorFlow's own prediction.

    make.py [NAME…]

Beside `NAME.h5` are the inputs `input1`… and the predictions `output1`…. Needs tensorflow 2.15; the
functions are stored as the bytecode of the Python that runs this.
"""
import json
import math
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import h5py
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import backend as K

HERE = os.path.dirname(os.path.abspath(__file__))
IMAGE, STEPS, VECTOR = (4, 6, 8), (5, 6), (7,)
CASES = []


def case(name, function, *shapes, values=None, **arguments):
    CASES.append((name, function, shapes or (IMAGE,), values, arguments))


# Constants beside the elements of an image, and what networks expect of images
case("coordinates_broadcast", lambda x: tf.concat(
    [x, tf.broadcast_to(tf.reshape(tf.linspace(-1.0, 1.0, 6), [1, 1, 6, 1]), [tf.shape(x)[0], 4, 6, 1])], -1))
case("coordinates_tiled", lambda x: tf.concat(
    [x, tf.tile(tf.reshape(tf.linspace(-1.0, 1.0, 5), [1, 5, 1]), [tf.shape(x)[0], 1, 1])], -1), STEPS)
case("coordinates_grid", lambda x: tf.concat(
    [x, tf.tile(tf.expand_dims(tf.stack(tf.meshgrid(tf.linspace(-1.0, 1.0, 6), tf.linspace(0.0, 1.0, 4)), -1), 0),
                [tf.shape(x)[0], 1, 1, 1])], -1))
for name in ("vgg16", "mobilenet_v2", "densenet"):
    case(f"preprocess_input_{name}", getattr(keras.applications, name).preprocess_input, (4, 6, 3))

# Sizes
case("tf_image_resize", lambda x: tf.image.resize(x, (8, 9)))
case("tf_image_resize_nearest", lambda x: tf.image.resize(x, [7, 12], method="nearest"))
case("tf_image_resize_to_shape", lambda x: tf.image.resize(x[0], tf.shape(x[1])[1:3]), IMAGE, (8, 9, 2))
case("resize_images", lambda x: K.resize_images(x, 2, 3, "channels_last"))
case("resize_images_bilinear",
     lambda x: K.resize_images(x, 2, 2, data_format="channels_last", interpolation="bilinear"))
case("resize_bilinear_of_version_1",
     lambda x: tf.compat.v1.image.resize_bilinear(x, size=(7, 11)))
case("resize_bilinear_corners",
     lambda x: tf.compat.v1.image.resize_bilinear(x, size=(7, 11), align_corners=True))
case("resize_images_of_version_1",
     lambda x: tf.compat.v1.image.resize_images(x, (9, 9), align_corners=True))
case("resize_nearest_of_version_1",
     lambda x: tf.compat.v1.image.resize_nearest_neighbor(x, (9, 4)))


def interpolate(x, shape):
    from tensorflow.keras import backend as K
    return tf.image.resize(x, [int(shape[0]), int(shape[1])])


case("resize_by_argument", interpolate, shape=[8, 12])


def resize_like(inputs):
    x, reference = inputs
    _, height, width, _ = K.int_shape(reference)
    return tf.image.resize(x, (height, width))


case("resize_like", resize_like, IMAGE, (6, 9, 3))

# Blocks
case("depth_to_space", lambda x: tf.nn.depth_to_space(x, 2))
case("space_to_depth", lambda x: tf.compat.v1.space_to_depth(x, block_size=2))


def space_to_depth_x2(x):
    import tensorflow as tf
    return tf.nn.space_to_depth(x, block_size=2)


case("space_to_depth_x2", space_to_depth_x2)


def channel_shuffle(x, groups):
    height, width, in_channels = K.int_shape(x)[1:]
    channels_per_group = in_channels // groups
    x = K.reshape(x, [-1, height, width, groups, channels_per_group])
    x = K.permute_dimensions(x, (0, 1, 2, 4, 3))
    return K.reshape(x, [-1, height, width, in_channels])


case("channel_shuffle", channel_shuffle, groups=2)


def shuffle_of_list(x):
    height, width, channels = x.shape.as_list()[1:]
    x = tf.reshape(x, [-1, height, width, 2, channels // 2])
    x = tf.transpose(x, [0, 1, 2, 4, 3])
    return tf.reshape(x, [-1, height, width, channels])


case("channel_shuffle_of_tensorflow", shuffle_of_list)

# Shapes
case("pad", lambda x: tf.pad(x, [[0, 0], [1, 2], [3, 1], [0, 0]]))
case("pad_reflect", lambda x: tf.pad(x, [[0, 0], [2, 2], [1, 1], [0, 0]], "REFLECT"))
case("spatial_padding", lambda x: K.spatial_2d_padding(x, padding=((1, 0), (2, 1))))
case("pad_channels", lambda x: tf.pad(x, [[0, 0], [0, 0], [0, 0], [2, 3]]))
case("transpose", lambda x: tf.transpose(x, perm=[0, 3, 1, 2]))
case("permute_dimensions", lambda x: K.permute_dimensions(x, (0, 2, 1)), STEPS)
case("reshape", lambda x: tf.reshape(x, (-1, 24, 8)))
case("reshape_by_shape", lambda x: K.reshape(x, (K.shape(x)[0], -1, K.shape(x)[3])))
case("concat_slices", lambda x: tf.concat([x[:, ::2, ::2], x[:, 1::2, 1::2]], axis=-1))
case("concatenate", lambda t: K.concatenate([t[0], 2 * t[1]], axis=1), STEPS, (3, 6))
case("split", lambda x: tf.split(x, 2, axis=-1))
case("split_sum", lambda x: tf.add_n(tf.split(x, num_or_size_splits=4, axis=3)))
case("stack", lambda t: K.stack(t, axis=1), VECTOR, VECTOR)
case("stack_means", lambda x: tf.stack([tf.reduce_mean(x, axis=-1), K.max(x, axis=-1)], axis=-1))
case("unstack", lambda x: sum(tf.unstack(x, axis=1)), STEPS)
case("tile", lambda x: K.tile(x, [1, 2, 1]), STEPS)
case("tile_vector", lambda x: tf.tile(tf.expand_dims(tf.expand_dims(x, 1), 1), [1, 3, 4, 1]), VECTOR)
case("reverse", lambda x: K.reverse(x, 1), STEPS)
case("reverse_slice", lambda x: x[:, ::-1, :], STEPS)
case("batch_flatten", lambda x: K.batch_flatten(x))
case("repeat", lambda x: K.repeat(x, 3), VECTOR)
case("repeat_elements", lambda x: K.repeat_elements(x, rep=2, axis=2))
case("slice", lambda x: tf.slice(x, [0, 1, 2, 0], [-1, 2, 3, -1]))
case("strided_slice", lambda x: tf.strided_slice(x, [0, 0, 1], [2**30, 4, 6], [1, 2, 1]), STEPS)
case("squeeze", lambda x: K.squeeze(x, axis=1), (1, 6, 3))
case("expand_dims", lambda x: K.expand_dims(x, -1), STEPS)
case("flip", lambda x: tf.image.flip_left_right(x))

# Products
case("matmul", lambda t: tf.matmul(t[0], t[1], transpose_b=True), STEPS, (4, 6))
case("batch_dot", lambda t: K.batch_dot(t[0], t[1], axes=[2, 2]), STEPS, (4, 6))
case("batch_dot_plain", lambda t: K.batch_dot(t[0], K.permute_dimensions(t[1], (0, 2, 1))), STEPS, (4, 6))
case("batch_dot_vectors", lambda t: K.batch_dot(t[0], t[1], axes=1), VECTOR, VECTOR)


def attention(inputs):
    queries, keys, values = inputs
    scores = K.batch_dot(queries, keys, axes=[2, 2]) / math.sqrt(6.0)
    return K.batch_dot(K.softmax(scores), values, axes=[2, 1])


def gram(x):
    features = K.reshape(x, (-1, x.shape[1] * x.shape[2], x.shape[3]))
    return tf.matmul(features, features, transpose_a=True) / float(x.shape[1] * x.shape[2])


case("gram", gram)

# Places
case("argmax", lambda x: K.cast(K.argmax(x, axis=-1), "float32"))
case("one_hot", lambda x: K.one_hot(K.argmax(x), 6), STEPS)
case("one_hot_of_tensorflow", lambda x: tf.one_hot(tf.argmax(x, 1), depth=7), VECTOR)
case("top_k", lambda x: tf.nn.top_k(x, k=3)[0], VECTOR)

# Several inputs
case("weighted_sum", lambda t: t[0] * 0.25 + t[1] * 0.75, IMAGE, IMAGE)
case("scale_by_gate", lambda t: t[0] * K.expand_dims(K.expand_dims(t[1], 1), 1), IMAGE, (8,))
case("distance", lambda t: K.sqrt(K.maximum(K.sum(K.square(t[0] - t[1]), axis=1, keepdims=True), K.epsilon())),
     VECTOR, VECTOR)
case("cosine", lambda t: K.sum(K.l2_normalize(t[0], axis=-1) * K.l2_normalize(t[1], axis=-1), axis=-1,
                               keepdims=True), VECTOR, VECTOR)

# Known loops, branches and values


def group_sums(x, groups=4):
    size = K.int_shape(x)[-1] // groups
    parts = []
    for group in range(groups):
        part = x[:, :, :, group * size:(group + 1) * size]
        if group % 2 == 0:
            part = -part
        parts.append(part)
    return K.concatenate(parts, axis=-1)


case("loop", group_sums, groups=2)


def slice_tensor(x, start, stop, axis):
    if axis == 3:
        return x[:, :, :, start:stop]
    elif axis == 1:
        return x[:, start:stop, :, :]
    else:
        raise ValueError("Slice axis should be in (1, 3), got {}.".format(axis))


case("slice_tensor", slice_tensor, start=2, stop=5, axis=3)


def expand_dims(x, channels_axis):
    if channels_axis == 3:
        return x[:, None, None, :]
    elif channels_axis == 1:
        return x[:, :, None, None]
    raise ValueError("Slice axis should be in (1, 3), got {}.".format(channels_axis))


case("expand_dims_by_argument", expand_dims, VECTOR, channels_axis=3)


def pyramid(bins):
    def pool(x):
        height, width = x.shape[1], x.shape[2]
        levels = [tf.image.resize(
            tf.nn.avg_pool2d(x, [height // n, width // n], [height // n, width // n], "VALID"),
            (height, width)) for n in bins]
        return tf.concat([x] + levels, axis=-1)
    return pool


case("closure", pyramid((1, 2)), (4, 4, 3))


def scaled(factor, offset=1.5):
    return lambda x: x * factor + offset


case("closure_of_numbers", scaled(2.5))


def normalize(x, mean=(103.939, 116.779, 123.68)):
    x = x[..., ::-1]
    return x - K.constant(list(mean))


case("subtract_mean", normalize, (4, 4, 3))
case("divide_by_list", lambda x: (x - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225], (4, 4, 3))
case("numpy", lambda x: x * np.array([0.5, 2.0, 4.0]) + np.sqrt(2.0), (4, 4, 3))
case("global_maximum", lambda x: K.max(K.max(x, axis=1), axis=1))
case("moments", lambda x: (x - tf.nn.moments(x, [1, 2], keepdims=True)[0])
     / tf.sqrt(tf.nn.moments(x, [1, 2], keepdims=True)[1] + 1e-3))
case("comprehension", lambda x: K.concatenate([K.pow(x, n) for n in range(1, 4)]), STEPS)
case("inner_function", lambda x: (lambda y, a=2.0: y * a + 1)(x))
case("condition", lambda x: K.switch(K.greater(x, 0.5), x, K.zeros_like(x)))
case("soft_argmax", lambda x: K.sum(K.softmax(x * 100) * K.arange(0, 7, dtype="float32"), axis=-1,
                                    keepdims=True), VECTOR)
case("pool", lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"))
case("pool_of_keras", lambda x: K.pool2d(x, (2, 2), strides=(2, 2), pool_mode="max"))
case("pool_of_keras_average",
     lambda x: K.pool2d(x, (3, 2), strides=(2, 2), padding="same", pool_mode="avg"))
case("image_patches", lambda x: tf.image.extract_patches(
    x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"))
case("bias_add", lambda x: K.bias_add(x, K.constant([1.0, -2.0, 3.0, 0.5, -0.25, 4.0, 0.0, -1.0])))
case("log_softmax", lambda x: tf.nn.log_softmax(x))
case("attention", attention, STEPS, (4, 6), (4, 3))
case("ternary", lambda x: x if K.ndim(x) == 3 else K.expand_dims(x, 1), VECTOR)
case("einsum", lambda t: tf.einsum("bij,bkj->bik", t[0], t[1]), STEPS, (4, 6))
case("cumsum", lambda x: K.cumsum(x, axis=1), STEPS)
case("gather", lambda x: tf.gather(x, [0, 2, 3], axis=2), STEPS)


def last_step(x):
    return x[:, -1, :]


case("last_step", last_step, STEPS)


def yolo_head(feats):
    anchors = [(1.0, 2.0), (3.0, 1.5)]
    count = len(anchors)
    tensor = K.reshape(K.constant(anchors), [1, 1, 1, count, 2])
    height, width = K.int_shape(feats)[1:3]
    feats = K.reshape(feats, [-1, height, width, count, 4])
    return K.reshape(K.exp(feats[..., 2:4]) * tensor, [-1, height, width, count * 2])


case("yolo_head", yolo_head)


# Steps that do not count are moved far down. The offset takes no digits from the others.
MASKED = (STEPS, (5, 1))
case("masked_maximum", lambda x: K.max(x[0] - (1 - K.sigmoid(1000 * x[1])) * 1e10, axis=1), *MASKED)
case("masked_maximum_by_sum", lambda x: K.max(x[0] + (1e12 * K.sigmoid(1000 * x[1]) - 1e12), axis=1), *MASKED)
case("masked_softmax", lambda x: K.softmax(x[0] + -1e9 * (1 - K.round(K.sigmoid(x[1]))), axis=1), *MASKED)
case("numpy_numbers", lambda x: (x - np.array([1.0, 2, 3, 4, 5, 6, 7, 8])) / np.float32(2))


# Python's own functions and methods
def lists(x):
    shape = list(K.int_shape(x))
    size = shape.pop()
    shape.insert(1, size)
    shape.reverse()
    shape.pop()
    rest = []
    rest.extend(shape)
    return K.reshape(x, [-1] + rest) * rest.index(4) + len(rest)


def numbers(x):
    largest, least = max(2, 3.5), min([4, -1, 2])
    return x * largest + abs(least) * round(1.6) + float("0.25") - abs(-2.5) + round(2.5)


def settings(x, options):
    factor = options.get("factor", 1) * options.get("missing", 2)
    for _, value in options.items():
        factor = factor + value
    return x * factor


def types(x, size):
    if isinstance(size, (list, tuple)):
        size = size[0]
    return x * size if isinstance(size, int) else x


def phases(x):
    axis = -1 if K.image_data_format() == "channels_last" else 1
    factor = 2 if tf.is_tensor(x) else 3
    return K.in_train_phase(x, K.max(x * factor, axis=axis, keepdims=True))


case("lists", lists)
case("numbers", numbers)
case("settings", settings, options={"factor": 3, "other": 4})
case("types_of_list", types, size=[3, 4])
case("types_of_number", types, size=0.5)
case("texts", lambda x, mode: x + 1 if mode.lower().startswith("add") else x * 2, mode="Added")
case("texts_in_capitals", lambda x, mode: x + 1 if mode.upper() == "ADD" else x * 2, mode="mul")
case("mapped", lambda x: x * sum(map(lambda n: n * n, (1, 2, 3))))
case("phases", phases)


# Functions that some versions of Keras store by their names alone
def slice_tensor(x, axis, start, stop):
    return x[:, :, :, start:stop] if axis == 3 else x[:, start:stop]


def expand_dims(x, channels_axis):
    return x[:, :, None, None] if channels_axis == 1 else x[:, None, None, :]


def space_to_depth_x4(x):
    return tf.nn.space_to_depth(x, block_size=4)


NAMED = {
    "named_slice_tensor": "slice_tensor", "named_expand_dims": "expand_dims",
    "named_space_to_depth_x2": "space_to_depth_x2", "named_space_to_depth_x4": "space_to_depth_x4",
    "named_channel_shuffle": "channel_shuffle",
}
case("named_slice_tensor", slice_tensor, axis=3, start=2, stop=5)
case("named_expand_dims", expand_dims, VECTOR, channels_axis=3)
case("named_space_to_depth_x2", space_to_depth_x2)
case("named_space_to_depth_x4", space_to_depth_x4, (8, 4, 3))
case("named_channel_shuffle", channel_shuffle, groups=4)


def name_function(path, name):
    """Leaves the name of the Lambda's function only, as Keras stores functions with a name."""
    with h5py.File(path, "r+") as file:
        config = json.loads(file.attrs["model_config"])
        for layer in config["config"]["layers"]:
            if layer["class_name"] == "Lambda":
                layer["config"].update(function=name, function_type="function")
        file.attrs["model_config"] = json.dumps(config)


def main(names):
    for position, (name, function, shapes, values, arguments) in enumerate(CASES):
        if names and name not in names:
            continue
        keras.backend.clear_session()
        inputs = [keras.Input(shape) for shape in shapes]
        outputs = keras.layers.Lambda(function, arguments=arguments)(
            inputs[0] if len(inputs) == 1 else inputs)
        model = keras.Model(inputs, outputs)
        generator = np.random.default_rng(position)
        arrays = [generator.standard_normal((1, *shape)).round(3).astype(np.float32)
                  for shape in shapes]
        answers = model.predict(arrays, verbose=0)
        answers = answers if isinstance(answers, list) else [answers]
        path = os.path.join(HERE, name)
        model.save(path + ".h5", include_optimizer=False)
        if name in NAMED:
            name_function(path + ".h5", NAMED[name])
        np.savez(path + ".inputs.npz", **{f"input{i + 1}": a for i, a in enumerate(arrays)})
        np.savez(path + ".expected.npz", **{
            f"output{i + 1}": np.asarray(a, np.float32) for i, a in enumerate(answers)})


if __name__ == "__main__":
    main(sys.argv[1:])
