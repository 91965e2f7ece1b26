#!/usr/bin/env python3
"""Writes networks whose layers are called with a mask or with training=True, small enough to be
computed by hand: `NAME.h5`, `NAME.inputs.npz` and `NAME.expected.npz`, whose values are derived
below from keras/layers/rnn/bidirectional.py, time_distributed.py and
keras/layers/normalization/batch_normalization.py of the version in the file. Networks that must be
refused have no expected values. Needs h5py and numpy; the files are committed.

The files in `framework` were written by tf_keras 2.21, which also predicted their expected values:
pix2pix's BatchNormalization()(x, training=True), GaussianNoise()(x, training=True),
Bidirectional(…, return_sequences=True) behind Embedding(mask_zero=True), and words with characters
in TimeDistributed(Embedding(mask_zero=True)) and TimeDistributed(LSTM).
"""
import json
import os

import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def layer(class_name, name, nodes=None, training=None, **config):
    """A layer of a model; `nodes` are the names of its inputs, of a chain's layer nothing."""
    value = {"class_name": class_name, "config": {"name": name, "trainable": True, **config}}
    if nodes is not None:
        keywords = {} if training is None else {"training": training}
        value["name"] = name
        value["inbound_nodes"] = [[[node, 0, 0, keywords] for node in nodes]] if nodes else []
    return value


def tensors(nodes):
    """The arguments of a call as Keras 3 writes them."""
    return [{"class_name": "__keras_tensor__", "config": {"keras_history": [node, 0, 0]}} for node in nodes]


def sequential(name, *layers):
    return {"class_name": "Sequential", "config": {"name": name, "layers": list(layers)}}


def functional(name, layers):
    first, last = layers[0]["config"]["name"], layers[-1]["config"]["name"]
    return {"class_name": "Functional", "config": {
        "name": name, "layers": layers, "input_layers": [[first, 0, 0]], "output_layers": [[last, 0, 0]]}}


def keras3(model):
    """Calls as in Keras 3."""
    for one in model["config"]["layers"]:
        for node in one.get("inbound_nodes", []):
            one["inbound_nodes"] = [{
                "args": tensors([node[0][0]]), "kwargs": node[0][3]}]
    return model


def write(name, model, version, weights, x=None, expected=None):
    with h5py.File(os.path.join(HERE, name + ".h5"), "w", libver="earliest") as file:
        file.attrs["model_config"] = json.dumps(model)
        file.attrs["keras_version"] = version
        file.attrs["backend"] = "tensorflow"
        root = file.create_group("model_weights")
        root.attrs["layer_names"] = np.array([n.encode() for n in weights])
        for group, arrays in weights.items():
            child = root.create_group(group)
            child.attrs["weight_names"] = np.array([n.encode() for n in arrays])
            for path, values in arrays.items():
                child.create_dataset(path, data=np.array(values, "f4"))
    if expected is not None:
        np.savez(os.path.join(HERE, name + ".inputs.npz"), input1=np.array(x, "f4")[None])
        np.savez(os.path.join(HERE, name + ".expected.npz"), output1=np.array(expected, "f4")[None])


# A SimpleRNN of one unit without an activation: h = x + recurrent · h.
def rnn(name, sequences, nodes=None, **more):
    return layer("SimpleRNN", name, nodes, units=1, activation="linear", use_bias=False,
                 return_sequences=sequences, **more)


def rnn_weights(prefix, recurrent):
    return {f"{prefix}/kernel:0": [[1]], f"{prefix}/recurrent_kernel:0": [[recurrent]]}


def bidirectional():
    # Of 1, 0, 2, the second step is masked. Forwards: 1, masked, 1 + 2 = 3. Backwards: 2, masked,
    # 2 + 1 = 3. A masked step repeats the step before it; since TensorFlow 2.1, whose files and
    # those of 2.0 say 2.2.4-tf, it is 0.
    repeated, zero = [[1, 3], [1, 2], [3, 2]], [[1, 3], [0, 0], [3, 2]]
    for name, version, values in [
            ("bidirectional_keras_2.3", "2.3.1", repeated), ("bidirectional_tf_2.2", "2.3.0-tf", zero),
            ("bidirectional_tf_2.0", "2.2.4-tf", repeated), ("bidirectional_tf_2.15", "2.15.0", zero)]:
        for mode in ("concat", "sum", "ave", "mul"):
            function = {"concat": lambda a, b: [a, b], "sum": lambda a, b: [a + b],
                        "ave": lambda a, b: [(a + b) / 2], "mul": lambda a, b: [a * b]}[mode]
            model = sequential(
                "s", layer("Masking", "masking", mask_value=0.0, batch_input_shape=[None, 3, 1]),
                layer("Bidirectional", "b", merge_mode=mode, layer=rnn("r", True)))
            weights = {"masking": {}, "b": {**rnn_weights("b/forward_r", 1), **rnn_weights("b/backward_r", 1)}}
            write(f"{name}_{mode}", model, version, weights, [[1], [0], [2]],
                  [function(*pair) for pair in values])


def time_distributed():
    # Words of two characters. The characters' network has h = x + 2 · h, the words' too.
    # With masks, the words are 1, 0 and 2 · 2 + 1 = 5, and the second one is masked: 1, 1, 2 + 5 = 7.
    # Character 0 counts 10 without: 12, 30, 5, and 12, 24 + 30 = 54, 108 + 5 = 113.
    # In a model of its own, only the characters have masks: 1, 2, 4 + 5 = 9.
    words = [[1, 0], [0, 0], [2, 1]]
    table = {"embeddings:0": [[10], [1], [2]]}
    embedding = layer("Embedding", "e", input_dim=3, output_dim=1, mask_zero=True)
    recurrences = {"t": rnn_weights("t", 2), "w": rnn_weights("w", 2)}

    def network(first, version, name, expected, weights=table, x=words, keep=False, isLast=True):
        shape = [None, 3, 2] if np.ndim(x) == 2 else [None, 3, 2, 1]
        layers = [
            layer("InputLayer", "x", [], batch_input_shape=shape),
            {**first, "name": "f", "inbound_nodes": [[["x", 0, 0, {}]]]},
            layer("TimeDistributed", "t", ["f"], layer=rnn("c", False)), rnn("w", True, ["t"])]
        if not isLast:
            layers.pop()
        model = functional("m", layers)
        weights = {"f": weights, **recurrences}
        if not isLast:
            del weights["w"]
        write(name, keras3(model) if version[0] == "3" else model, version, weights, x, expected)

    def stepwise(inner):
        return layer("TimeDistributed", "f", layer=inner)

    masked, unmasked = [[1], [1], [7]], [[12], [54], [113]]
    network(stepwise(embedding), "2.15.0", "words_tf_2.15", masked)
    network(stepwise(embedding), "2.2.4", "words_keras_2.2", masked)
    network(stepwise(embedding), "2.1.6", "words_keras_2.1", unmasked)
    network(stepwise(embedding), "3.8.0", "words_keras_3", unmasked)
    plain = {**embedding, "config": {**embedding["config"], "name": "f"}}
    network(plain, "2.15.0", "embedding_tf_2.15", masked)
    # Keras 3 gives the words' network the mask of the characters, which it refuses.
    network(plain, "3.8.0", "embedding_keras_3", [[1], [0], [5]], isLast=False)
    masking = layer("Masking", "mask", mask_value=0.0)
    numbers = np.array(words)[..., None].tolist()
    network(stepwise(masking), "2.15.0", "masking_tf_2.15", masked, {}, numbers)
    # Without a mask, a 0 counts as 0: 2, 0, 5, and 2, 4, 13.
    network(stepwise(masking), "3.8.0", "masking_keras_3", [[2], [4], [13]], {}, numbers)

    # A Sequential in TimeDistributed: the embedding and the characters' network.
    inner = sequential("s", layer("Embedding", "e", input_dim=3, output_dim=1, mask_zero=True,
                                  batch_input_shape=[None, 2]), rnn("c", False))
    for version, name in [("2.15.0", "model_tf_2.15"), ("3.8.0", "model_keras_3")]:
        model = functional("m", [
            layer("InputLayer", "x", [], batch_input_shape=[None, 3, 2]),
            layer("TimeDistributed", "t", ["x"], layer=inner), rnn("w", True, ["t"])])
        write(name, keras3(model) if version[0] == "3" else model, version,
              {"t": {"e/embeddings:0": [[10], [1], [2]], **rnn_weights("c", 2)}, "w": rnn_weights("w", 2)},
              words, [[1], [2], [9]])


def training():
    # The mean of 1, 3, 5, 7 is 4, their variance 5; with epsilon 4, gamma 3 and beta 1 the result
    # is (x - 4) / 3 · 3 + 1 = x - 3. With the stored mean 0 and variance 5, it is x + 1.
    x = np.array([[1, 3], [5, 7]], "f4")
    weights = {"gamma:0": [3], "beta:0": [1], "moving_mean:0": [0], "moving_variance:0": [5]}

    def normalization(nodes, training=None, **more):
        return layer("BatchNormalization", "n", nodes, training, axis=[-1], momentum=0.9, epsilon=4.0,
                     center=True, scale=True, **more)

    def image(nodes=[], shape=(2, 2, 1)):
        return layer("InputLayer", "x", nodes, batch_input_shape=[None, *shape])

    def network(name, version, expected, *, outer=True, inner=None, shape=(2, 2, 1), **more):
        if inner is None:
            model = functional("m", [image(shape=shape), normalization(["x"], outer, **more)])
        else:
            nested = functional("n", [image(), normalization(["x"], inner["training"], **more)])
            model = functional("m", [image(), {**nested, "name": "n", "inbound_nodes": [
                [["x", 0, 0, {} if outer is None else {"training": outer}]]]}])
        arrays = {"n/" + key: value for key, value in weights.items()}
        write(name, keras3(model) if version[0] == "3" else model, version, {"n": arrays},
              x.reshape(shape), np.reshape(expected, shape))

    network("training", "2.15.0", x - 3)
    network("training_number", "2.15.0", x - 3, outer=1)
    network("training_false", "2.15.0", x + 1, outer=False)
    network("training_sequence", "2.15.0", x - 3, shape=(4, 1))
    network("training_frozen", "2.15.0", x + 1, trainable=False)
    network("training_frozen_keras_2.2", "2.2.4", x - 3, trainable=False)
    network("training_model", "2.15.0", x - 3, inner={"training": None})
    network("training_model_false", "2.15.0", x + 1, inner={"training": False})
    # predict() of Keras 3 passes training=False to all layers.
    network("training_keras_3", "3.8.0", x + 1)

    def other(name, class_name, expected=None, shape=(2, 2, 1), arrays={}, version="2.15.0", **config):
        model = functional("m", [image(shape=shape), layer(class_name, "n", ["x"], True, **config)])
        write(name, keras3(model) if version[0] == "3" else model, version, {"n": arrays}, x.reshape(shape),
              None if expected is None else np.reshape(expected, shape))

    recurrent = {"n/kernel:0": np.ones((1, 4)), "n/recurrent_kernel:0": np.ones((1, 4)), "n/bias:0": np.ones(4)}
    lstm = dict(units=1, activation="tanh", recurrent_activation="sigmoid", dropout=0.0)
    other("random_dropout", "Dropout", rate=0.5)
    other("random_noise", "GaussianNoise", stddev=0.1)
    other("random_alpha", "AlphaDropout", rate=0.1)
    other("random_spatial", "SpatialDropout2D", rate=0.1)
    other("random_flip", "RandomFlip", mode="horizontal")
    other("random_lstm", "LSTM", shape=(4, 1), arrays=recurrent, **{**lstm, "recurrent_dropout": 0.2})
    other("random_bidirectional", "Bidirectional", shape=(4, 1), merge_mode="concat", layer=layer(
        "LSTM", "l", **{**lstm, "dropout": 0.2}), arrays={
            f"n/{way}_l/{key[2:]}": value for way in ("forward", "backward") for key, value in recurrent.items()})
    other("random_steps", "TimeDistributed", shape=(4, 1), layer=layer("Dropout", "d", rate=0.5))
    nested = functional("n", [image(), layer("Dropout", "d", ["x"], rate=0.5)])
    write("random_model", functional("m", [image(), {**nested, "name": "n", "inbound_nodes": [
        [["x", 0, 0, {"training": True}]]]}]), "2.15.0", {"n": {}})
    # A rate of 0 drops nothing.
    other("training_dropout_0", "Dropout", x, rate=0.0)
    other("training_dropout_keras_3", "Dropout", x, version="3.8.0", rate=0.5)


bidirectional()
time_distributed()
training()
