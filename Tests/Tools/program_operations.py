#!/usr/bin/env python3
"""program_operations.py ASSAY FOLDER [NAME…] — the operations of our programs beside coremltools'.

Saves Keras networks with random weights in FOLDER (once), with an input and what Keras answers;
converts each with `ASSAY convert` and, where coremltools is installed, with coremltools for iOS 17 in
single precision; and prints for each program the operations of all blocks (constants apart), the total
and the largest size of the intermediate values as declared, in KiB, and the largest difference from
Keras relative to its largest output. Exits with 1 if a difference exceeds 1e-5, if an adjacent pair of
operations that move axes cancels, or if ours exceeds the operations of LIMITS.

Needs TensorFlow with its Keras to make the networks. With TensorFlow 2.15, coremltools 9 converts all of
them; of later versions it lacks operations."""
import os
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

LIMITS = {"mobilenet_v2": 106, "efficientnet_b0": 200, "convnext_tiny": 145}
MOVING = ("transpose", "reshape", "squeeze", "expand_dims")


# Networks

def block(x, heads, width, keras, causal=False):
    """A transformer block that normalizes before its parts."""
    layers = keras.layers
    y = layers.LayerNormalization(epsilon=1e-6)(x)
    y = layers.MultiHeadAttention(heads, x.shape[-1] // heads)(y, y, use_causal_mask=causal)
    x = layers.Add()([x, y])
    y = layers.LayerNormalization(epsilon=1e-6)(x)
    y = layers.Dense(width, activation="gelu")(y)
    return layers.Add()([x, layers.Dense(x.shape[-1])(y)])


def tokens(keras, count=32):
    entry = keras.Input((count,), dtype="int32", name="tokens")
    return entry, keras.layers.Embedding(1000, 64)(entry)


def encoder(keras, count=32):
    entry, x = tokens(keras, count)
    for _ in range(2):
        x = block(x, 4, 256, keras)
    return keras.Model(entry, keras.layers.Dense(10, activation="softmax")(
        keras.layers.GlobalAveragePooling1D()(x)))


def decoder(keras):
    entry, x = tokens(keras)
    for _ in range(2):
        x = block(x, 4, 256, keras, causal=True)
    return keras.Model(entry, keras.layers.Dense(1000)(keras.layers.LayerNormalization()(x)))


def vit(keras):
    layers = keras.layers
    entry = keras.Input((32, 32, 3), name="image")
    x = layers.Conv2D(64, 8, strides=8)(entry)
    x = layers.Reshape((16, 64))(x)
    for _ in range(2):
        x = block(x, 4, 256, keras)
    x = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x))
    return keras.Model(entry, layers.Dense(10, activation="softmax")(x))


def bilstm(keras):
    entry, x = tokens(keras)
    x = keras.layers.Bidirectional(keras.layers.LSTM(32, return_sequences=True))(x)
    x = keras.layers.Bidirectional(keras.layers.LSTM(32))(x)
    return keras.Model(entry, keras.layers.Dense(5, activation="softmax")(x))


def text_cnn(keras):
    layers = keras.layers
    entry, x = tokens(keras)
    parts = [layers.GlobalMaxPooling1D()(layers.Conv1D(32, k, activation="relu")(x)) for k in (3, 4, 5)]
    return keras.Model(entry, layers.Dense(5, activation="softmax")(layers.Concatenate()(parts)))


def gru_attention(keras):
    layers = keras.layers
    entry, x = tokens(keras)
    x = layers.GRU(64, return_sequences=True)(x)
    x = layers.Attention()([x, x])
    return keras.Model(entry, layers.Dense(5, activation="softmax")(layers.GlobalAveragePooling1D()(x)))


def unet(keras):
    layers = keras.layers

    def pair(x, filters):
        for _ in range(2):
            x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
            x = layers.ReLU()(layers.BatchNormalization()(x))
        return x

    entry = keras.Input((64, 64, 3), name="image")
    a = pair(entry, 16)
    b = pair(layers.MaxPooling2D()(a), 32)
    x = pair(layers.MaxPooling2D()(b), 64)
    x = pair(layers.Concatenate()([layers.Conv2DTranspose(32, 2, strides=2)(x), b]), 32)
    x = pair(layers.Concatenate()([layers.UpSampling2D()(x), a]), 16)
    return keras.Model(entry, layers.Conv2D(1, 1, activation="sigmoid")(x))


def swin(keras):
    """Attention in windows of 4 × 4, then in windows that are shifted by 2."""
    layers = keras.layers
    entry = keras.Input((16, 16, 3), name="image")
    x = layers.LayerNormalization()(layers.Conv2D(32, 2, strides=2)(entry))
    for shifted in (False, True):
        y = layers.LayerNormalization()(x)
        if shifted:
            y = layers.ZeroPadding2D(((0, 4), (0, 4)))(layers.Cropping2D(((2, 2), (2, 2)))(y))
        y = layers.Reshape((2, 4, 2, 4 * 32))(y)
        y = layers.Reshape((4, 16, 32))(layers.Permute((1, 3, 2, 4))(y))
        y = layers.MultiHeadAttention(4, 8, attention_axes=(2,))(y, y)
        y = layers.Permute((1, 3, 2, 4))(layers.Reshape((2, 2, 4, 4 * 32))(y))
        x = layers.Add()([x, layers.Reshape((8, 8, 32))(y)])
        y = layers.Dense(128, activation="gelu")(layers.LayerNormalization()(x))
        x = layers.Add()([x, layers.Dense(32)(y)])
    return keras.Model(entry, layers.Dense(10)(layers.GlobalAveragePooling2D()(x)))


def application(name, size=224):
    def make(keras):
        return getattr(keras.applications, name)(weights=None, input_shape=(size, size, 3))
    return make


NETWORKS = {
    "mobilenet_v2": application("MobileNetV2"), "efficientnet_b0": application("EfficientNetB0"),
    "convnext_tiny": application("ConvNeXtTiny"), "resnet50": application("ResNet50"),
    "encoder": encoder, "vit": vit, "bilstm": bilstm, "text_cnn": text_cnn,
    "gru_attention": gru_attention, "decoder": decoder, "unet": unet, "swin": swin,
}


def saved(name, folder):
    """The network's file, with NAME.inputs.npz and NAME.expected.npz beside it."""
    import numpy as np
    import keras
    path = os.path.join(folder, name + (".keras" if keras.__version__ >= "3" else ".h5"))
    if os.path.exists(os.path.join(folder, name + ".expected.npz")):
        return path
    keras.utils.set_random_seed(1)
    keras.backend.clear_session()
    network = NETWORKS[name](keras)
    random = np.random.default_rng(1)
    for layer in network._flatten_layers():
        if isinstance(layer, (keras.layers.BatchNormalization, keras.layers.LayerNormalization)):
            # Trained statistics, so that folding them has something to fold.
            for weight in layer.weights:
                kind = getattr(weight, "path", weight.name)
                low = 0.5 if "gamma" in kind or "variance" in kind else -0.5
                weight.assign(random.uniform(low, low + 1, weight.shape))
    entry = network.inputs[0]
    shape = (1,) + tuple(entry.shape[1:])
    x = random.integers(0, 1000, shape).astype("int32") if entry.dtype == "int32" \
        else random.uniform(0, 255 if shape[1] == 224 else 1, shape).astype("float32")
    y = network.predict(x, verbose=0)
    network.save(path)
    np.savez(os.path.join(folder, name + ".inputs.npz"), input1=x)
    np.savez(os.path.join(folder, name + ".expected.npz"), **{network.output_names[0]: y})
    return path


# Programs

def ours(assay, path, folder, name):
    """The operations of the program that Assay writes, and its largest difference from Keras."""
    import coremltools
    package = os.path.join(folder, name + ".mlpackage")
    subprocess.run(["rm", "-rf", package], check=True)
    subprocess.run([assay, "convert", path, "-o", package, "--target", "iOS17", "-q"], check=True)
    specification = coremltools.utils.load_spec(package)
    body = specification.mlProgram.functions["main"].block_specializations["CoreML7"]
    found = []

    def sizes(value):
        return [d.constant.size for d in value.type.tensorType.dimensions]

    def walk(block):
        for operation in block.operations:
            inputs = [a.name for argument in operation.inputs.values() for a in argument.arguments]
            found.append((operation.type, inputs, [(o.name, sizes(o)) for o in operation.outputs]))
            for inner in operation.blocks:
                walk(inner)

    walk(body)
    return found, difference(assay, package, folder, name)


def difference(assay, package, folder, name):
    import numpy as np
    result = os.path.join(folder, name + ".result.npz")
    subprocess.run([assay, "run", package, os.path.join(folder, name + ".inputs.npz"), "-q",
                    "-o", result], check=True)
    with np.load(os.path.join(folder, name + ".expected.npz")) as file:
        expected = file[file.files[0]]
    with np.load(result) as file:
        found = next(file[key] for key in file.files if file[key].size == expected.size)
    return np.abs(found.ravel() - expected.ravel()).max() / np.abs(expected).max()


def theirs(path):
    """The operations of the program that coremltools makes."""
    import coremltools
    import keras
    import tensorflow as tf
    if keras.__version__ >= "3":
        from keras.src.backend.tensorflow import nn
        # coremltools does not know TensorFlow's erfc, which Keras uses since 3.
        nn.gelu = lambda x, approximate=True: 0.5 * x * (1 + tf.math.erf(x / 2 ** 0.5))
    else:
        from keras.src.layers.convolutional.base_conv import Conv
        # Grouped convolutions are calls of compiled functions, which coremltools does not know.
        Conv._jit_compiled_convolution_op = lambda layer, x, kernel: layer.convolution_op(x, kernel)
    from keras.src.applications.convnext import LayerScale
    network = keras.saving.load_model(
        path, compile=False, custom_objects={"LayerScale": LayerScale})
    entry = network.inputs[0]
    call = tf.function(lambda x: network(x, training=False))
    function = call.get_concrete_function(
        tf.TensorSpec((1,) + tuple(entry.shape[1:]), entry.dtype, name="x"))
    program = coremltools.convert(
        [function], source="tensorflow", convert_to="milinternal",
        minimum_deployment_target=coremltools.target.iOS17,
        compute_precision=coremltools.precision.FLOAT32)
    found = []

    def sizes(value):
        try:
            return [int(d) if str(d).isdigit() else 0 for d in value.shape or ()]
        except ValueError:  # a list
            return [0]

    def walk(block):
        for operation in block.operations:
            inputs = [v.name for argument in operation.inputs.values()
                      for v in (argument if isinstance(argument, (list, tuple)) else [argument])]
            outputs = [(o.name, sizes(o)) for o in operation.outputs]
            found.append((operation.op_type, inputs, outputs))
            for inner in operation.blocks:
                walk(inner)

    walk(program.functions["main"])
    return found


def figures(operations):
    """The number of operations, and the total and largest size of what they compute, in KiB."""
    sizes = []
    computed = [o for o in operations if o[0] != "const" and not o[0].startswith("constexpr_")]
    for _, _, outputs in computed:
        for _, shape in outputs:
            size = 4
            for length in shape:
                size *= length
            sizes.append(size / 1024)
    return len(computed), sum(sizes), max(sizes)


def cancelling(operations):
    """Neighboring operations that move axes and together change nothing."""
    producers = {name: o for o in operations for name, _ in o[2]}
    shapes = {name: shape for o in operations for name, shape in o[2]}

    def units(shape):
        return [size for size in shape if size != 1]

    found = []
    for operation in operations:
        before = producers.get(operation[1][0]) if operation[1] else None
        if operation[0] not in MOVING or before is None or before[0] not in MOVING:
            continue
        first = shapes.get(before[1][0])
        if "transpose" not in (operation[0], before[0]) and first == operation[2][0][1]:
            found.append((before[2][0][0], operation[2][0][0]))
        elif (operation[0], before[0]) != ("transpose", "reshape") and first is not None \
                and operation[0] == before[0] and operation[0] != "transpose":
            found.append((before[2][0][0], operation[2][0][0]))
    return found


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    assay, folder = sys.argv[1], sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    failed = []
    print("| network | operations | coremltools | KiB | coremltools | largest | coremltools | error |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name in sys.argv[3:] or NETWORKS:
        path = saved(name, folder)
        operations, error = ours(assay, path, folder, name)
        own = figures(operations)
        try:
            other = figures(theirs(path))
        except Exception as problem:  # whatever coremltools cannot convert
            print(f"coremltools: {name}: {str(problem)[:200]}", file=sys.stderr)
            other = None
        cells = [name]
        for index, form in enumerate(("{:d}", "{:.0f}", "{:.0f}")):
            cells += [form.format(own[index]), form.format(other[index]) if other else "refused"]
        print("| " + " | ".join(cells + [f"{error:.1e}"]) + " |", flush=True)
        pairs = cancelling(operations)
        if error > 1e-5:
            failed.append(f"{name}: the error is {error:.1e}")
        if own[0] > min(LIMITS.get(name, own[0]), other[0] if other else own[0]):
            failed.append(f"{name}: {own[0]} operations")
        if pairs:
            failed.append(f"{name}: {pairs[0][0]} and {pairs[0][1]} cancel")
    print("\n".join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
