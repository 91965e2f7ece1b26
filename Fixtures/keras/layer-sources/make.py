#!/usr/bin/env python3
"""Writes a small network for each of the classes and functions beside this file, with Keras's own prediction.

    make.py [NAME…]

The classes were written for this folder, after the kinds of layer that layers.tsv lists. `NAME.py` has the classes or
the function, and for a function `NAME.call.txt` says how it was called. `NAME.keras` and `NAME.h5` are the network with
random weights as Keras 3 writes it, `NAME.weights.h5` a function's weights. `NAME_tf_keras.*` are the same of tf_keras,
whose `save_weights` wrote `NAME_tf_keras.h5` for a function.
`*.inputs.npz` and `*.expected.npz` are the inputs and what Keras predicts.
Needs keras 3.15.1, tf_keras 2.21.0 and tensorflow 2.21. Tests/Tools/layer_source_lists.py describes the lists.
"""
import importlib
import os
import pathlib
import subprocess
import sys

import numpy as np

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0", CUDA_VISIBLE_DEVICES="-1")
HERE = pathlib.Path(__file__).parent
IMAGE, STEPS = (8, 8, 4), (6, 8)

# Name: the shapes of the inputs, and the network of the classes (layer by layer, or a function of layers and classes)
CASES = {
    "scale": ([IMAGE], lambda c, x: c.ScaleAndShift(0.5)(c.ScaleAndShift(shift=False)(x))),
    "attention_pooling": ([STEPS], lambda c, x: c.AttentionPooling(5)(x)),
    "squeeze_excite": ([IMAGE], lambda c, x: c.SqueezeExcite(2)(x)),
    "residual": ([IMAGE], lambda c, x: c.ResidualBlock(6, (1, 3, 3), stride=2)(c.ResidualBlock(4)(x))),
    "positional": ([STEPS], lambda c, x: c.PositionalEncoding()(x)),
    "patches": ([IMAGE], lambda c, x: c.PatchEncoder(16, 6)(c.Patches(2)(x))),
    "class_token": ([STEPS], lambda c, x: c.TakeToken()(c.ClassToken()(x) ** 2)),
    "gated": ([(5,)], lambda c, x: c.GatedResidual(6)(x)),
    "moving": ([IMAGE], lambda c, x: c.MovingNormalization()(x)),
    "shuffle": ([IMAGE], lambda c, x: c.ResizeTo((12, 10))(c.PixelShuffle(2)(x))),
    "transformer": ([STEPS], lambda c, x: c.TransformerBlock(8, 2, 12)(x)),
    "graph": ([(5, 6), (5, 5)], lambda c, x, a: c.GraphConvolution(4, activation="relu")([x, a])),
    "capsule": ([(6, 4)], lambda c, x: c.Length()(c.CapsuleLayer(3, 5)(x))),
    "spectral": ([(12, 3)], lambda c, x: c.SpectralPooling(5)(x)),
    "classifier": ([IMAGE], None),
    "mean_of_words": ([(7,)], None),
    "heads": ([(6,)], lambda c, x: c.Heads({"large": 5, "small": 2})(x)),
    "layer_normalization": ([STEPS], lambda c, x: c.LayerNormalization()(x)),
    "lstm_reader": ([STEPS], lambda c, x: c.LSTMReader()(x)),
    "gru_gate": ([STEPS], lambda c, x: c.GRUGate(3, reset_after=False, name="gate")(x) + c.GRUGate(3)(x)),
    "simple_steps": ([STEPS], lambda c, x: c.SimpleSteps([4, 3])(x)),
    "both_ways": ([STEPS], lambda c, x: c.BothWays()(x)),
    "sized": ([IMAGE], lambda c, x: c.Sized()(x)[0]),
    "tracked": ([(5,)], None),
    "known_values": ([(4, 5, 4)], lambda c, x: c.Rotary()(c.Blur()(x))),
    "token_masks": ([(7,), STEPS], None),
    "masked_blocks": ([(7,)], None),
    "masked_cells": ([(7,)], None),
    "standardized": ([IMAGE], lambda c, x: c.ScaledDense(3, activation="relu")(c.StandardizedConv(5, 3, strides=2, padding="same")(x))),
    "unrolled": ([STEPS], lambda c, x: c.Unrolled(3)(x)),
    "wide_and_deep": ([IMAGE, (5,)], None),
    "wrapped": ([STEPS], None),
    "comparisons": ([(6, 4)], lambda c, x: c.Comparisons()(x)),
    "unet": ([(8, 8, 3)], "build_unet(shape=(8, 8, 3), size='small', depth=2, classes=3)"),
    "stacked": ([(20, 3)], "build_model(width=4)"),
    "twins": ([(8, 8, 3), (8, 8, 3)], "build_twins(shape=(8, 8, 3), widths=[4, 6])"),
}
ONLY_OF_TF_KERAS = ["sized"]  # Keras 3 takes no layer that gives numbers.
MODELS = {"classifier": "SmallClassifier", "tracked": "Tracked", "wide_and_deep": "WideAndDeep"}
ALSO_OF_TF_KERAS = ["attention_pooling", "residual", "positional", "graph", "capsule", "layer_normalization", "unet", "stacked", "twins",
                    "lstm_reader", "gru_gate", "simple_steps", "both_ways", "standardized", "unrolled", "wrapped", "masked_cells"]


def network(name, keras):
    shapes, build = CASES[name]
    classes = importlib.import_module(name)
    if isinstance(build, str):
        model = eval(build, vars(classes))
        return model[0] if isinstance(model, tuple) else model
    if name in MODELS:
        model = getattr(classes, MODELS[name])()
        zeros = [np.zeros((1, *shape), "f4") for shape in shapes]
        model(zeros if len(zeros) > 1 else zeros[0])
        return model
    if name == "mean_of_words":
        words = keras.Input(shapes[0], dtype="int32")
        return keras.Model(words, classes.MeanOfWords()(keras.layers.Embedding(9, 4, mask_zero=True)(words)))
    if name == "wrapped":
        steps = keras.Input(shapes[0])
        read = keras.layers.RNN(classes.Blend(3), return_sequences=True, go_backwards=True)(steps)
        pair = keras.Sequential([keras.Input(shapes[0][1:]), keras.layers.Dense(4), classes.Shift()])
        each = keras.layers.TimeDistributed(classes.Shift())(keras.layers.TimeDistributed(pair)(steps))
        parts = classes.Parts()({"read": read, "each": each})
        return keras.Model(steps, [parts["whole"], parts["first"]])
    if name == "masked_cells":
        words, L = keras.Input(shapes[0], dtype="int32"), keras.layers
        x = L.Embedding(9, 4, mask_zero=True)(words)
        pooled = lambda y: L.GlobalAveragePooling1D()(y)
        sequences = dict(return_sequences=True)
        # Bidirectional copies its layer by its configuration.
        keras.utils.get_custom_objects().update(Leaky=classes.Leaky, Pair=classes.Pair)
        start = L.Dense(3)(pooled(x))
        return keras.Model(words, [
            L.RNN(classes.Leaky(3), **sequences)(x, initial_state=start), classes.Sum()(x, L.Embedding(9, 4, mask_zero=True)(words)),
            pooled(L.RNN(classes.Leaky(3), **sequences)(x)), L.RNN(classes.Pair(2), **sequences, go_backwards=True, zero_output_for_mask=True)(x),
            L.RNN([classes.Leaky(3), L.LSTMCell(2), classes.Pair(2)])(x), L.Bidirectional(L.RNN(classes.Leaky(3), **sequences))(x),
            L.Bidirectional(L.RNN(classes.Pair(2)), merge_mode="ave")(x), L.TimeDistributed(classes.Scaled())(x),
            pooled(L.TimeDistributed(classes.Scaled())(x)),
            pooled(L.Bidirectional(L.RNN([L.GRUCell(2), classes.Leaky(2)], **sequences), backward_layer=L.RNN([L.GRUCell(2), classes.Leaky(2, 0.5)], **sequences, go_backwards=True), merge_mode="mul")(x))])
    if name == "masked_blocks":
        words = keras.Input(shapes[0], dtype="int32")
        outputs = []
        for is_first in (True, False):
            # The readers outside run before the layer, or after it.
            x, y = (keras.layers.Embedding(9, 4, mask_zero=True)(words) for _ in range(2))
            outputs += [classes.MaskedBlock(2, is_first)(x), keras.layers.Attention(use_scale=True)([x, x])]
            outputs += [keras.layers.AdditiveAttention()([y, y]), classes.MaskedBlock(1, is_first)(y)]
        return keras.Model(words, outputs)
    if name == "token_masks":
        words, steps = keras.Input(shapes[0], dtype="int32"), keras.Input(shapes[1])
        read = classes.Reader(3)(classes.Tokens(9, 4, 7)(words))
        return keras.Model([words, steps], [keras.layers.GlobalAveragePooling1D()(read), keras.layers.LSTM(2)(classes.SkipZeros()(steps))])
    tensors = [keras.Input(shape, batch_size=1 if name == "sized" else None) for shape in shapes]
    return keras.Model(tensors, build(classes, *tensors))


def enliven(model, generator):
    """Random weights near those that Keras sets; variances stay positive."""
    for weight in model.weights:
        value = np.asarray(weight)
        is_variance = "variance" in getattr(weight, "path", weight.name)
        weight.assign(generator.uniform(0.5, 1.5, value.shape) if is_variance else value + generator.normal(0, 0.2, value.shape))


def arrays(values, prefix):
    values = [values] if hasattr(values, "shape") else [part for value in values for part in (value if isinstance(value, list) else [value])]
    return {f"{prefix}{i + 1}": np.asarray(value) for i, value in enumerate(values)}


def write(name, is_old):
    import tf_keras, keras
    keras = tf_keras if is_old else keras
    keras.utils.set_random_seed(51)
    model = network(name, keras)
    generator = np.random.default_rng(51)
    enliven(model, generator)
    is_function = isinstance(CASES[name][1], str)
    generator = np.random.default_rng(52)
    if name in ["mean_of_words", "token_masks", "masked_blocks", "masked_cells"]:
        values = [np.array([[3, 0, 8, 0, 0, 5, 0] if name == "masked_cells" else [3, 1, 8, 2, 0, 0, 0]], "int32")]
        if name == "token_masks":
            values.append(generator.normal(0, 1, (1, *STEPS)) * (np.arange(6) < 4)[:, None])
    else:
        values = [generator.normal(0, 1, (1, *shape)).astype("f4") for shape in CASES[name][0]]
    # For batches of a known size, TimeDistributed of tf_keras repeats the outputs of masked steps, and passes no mask on.
    predict = model.predict if is_old and name == "masked_cells" else lambda x: model(x, training=False)
    predicted = predict(values if len(values) > 1 else values[0])
    file = name + "_tf_keras" * is_old
    np.savez(HERE / f"{file}.inputs.npz", **arrays(values, "input"))
    np.savez(HERE / f"{file}.expected.npz", **arrays(predicted, "output"))
    if is_function:
        model.save_weights(HERE / (f"{file}.h5" if is_old else f"{file}.weights.h5"))
        (HERE / f"{name}.call.txt").write_text(CASES[name][1] + "\n")
    elif is_old:
        model.save(HERE / f"{file}.h5")
    else:
        model.save(HERE / f"{name}.keras")
        if name not in MODELS:  # Keras writes no h5 of subclassed models.
            model.save(HERE / f"{name}.h5")


def main():
    sys.path.insert(0, str(HERE))
    if sys.argv[1:2] == ["--old"]:
        for name in sys.argv[2:]:
            write(name, True)
        return
    names = sys.argv[1:] or list(CASES)
    for name in names:
        if name not in ONLY_OF_TF_KERAS:
            write(name, False)
    old = [name for name in names if name in ALSO_OF_TF_KERAS + ONLY_OF_TF_KERAS]
    if old:
        environment = {**os.environ, "TF_USE_LEGACY_KERAS": "1"}
        subprocess.run([sys.executable, __file__, "--old", *old], check=True, env=environment)


main()
