#!/usr/bin/env python3
"""Writes the fixtures beside it: files as several versions of Keras lay them out, with weights that
count up in quarters from 0. Needs h5py and numpy; the files are committed, so that tests need
neither. The layouts follow keras/engine/saving.py (2.x), keras/models.py (1.2) and
tensorflow/python/keras/saving/hdf5_format.py."""
import json
import os
import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def ramp(*shape, start=0.0):
    return (start + np.arange(int(np.prod(shape)), dtype="<f4") / 4).reshape(shape)


def dense(name, units, inputs=None, **more):
    config = {"name": name, "trainable": True, "units": units, "activation": "linear", "use_bias": True}
    if inputs:
        config["batch_input_shape"] = [None, inputs]
    return {"class_name": "Dense", "config": {**config, **more}}


def functional(layers, inputs, outputs, name="model_1", cls="Model"):
    return {"class_name": cls, "config": {"name": name, "layers": layers,
                                          "input_layers": [[i, 0, 0] for i in inputs],
                                          "output_layers": outputs}}


def group(root, layer, weights, chunks=False):
    """One layer's group; `weights` maps names to arrays."""
    g = root.create_group(layer)
    names = [n.encode() for n in weights]
    if chunks:
        for i, n in enumerate(names):
            g.attrs["weight_names%d" % i] = np.array([n])
    else:
        g.attrs["weight_names"] = np.array(names) if names else np.array([], "f8")
    for n, values in weights.items():
        g.create_dataset(n, data=values)


def save(path, config, groups, version="2.2.4", backend="tensorflow", whole=True, chunks=False):
    with h5py.File(os.path.join(HERE, path), "w") as f:
        root = f.create_group("model_weights") if whole else f
        if whole:
            f.attrs["model_config"] = json.dumps(config).encode()
        for target in {f, root}:
            if version:
                target.attrs["keras_version"] = version.encode()
            if backend:
                target.attrs["backend"] = backend.encode()
        names = [n.encode() for n in groups]
        if chunks:
            root.attrs["layer_names0"] = np.array(names[:1])
            root.attrs["layer_names1"] = np.array(names[1:])
        else:
            root.attrs["layer_names"] = np.array(names)
        for layer, weights in groups.items():
            group(root, layer, weights, chunks)


def pair(layer, i, o, start=0.0, prefix=None):
    prefix = prefix or layer
    return {prefix + "/kernel:0": ramp(i, o, start=start), prefix + "/bias:0": ramp(o, start=100 + start)}


two = {"class_name": "Sequential", "config": {"name": "sequential_1", "layers": [
    dense("dense_1", 2, 3, activation="relu"), {"class_name": "Dropout", "config": {"name": "dropout_1", "rate": 0.5}},
    dense("dense_2", 1)]}}
two_groups = {"dense_1": pair("dense_1", 3, 2), "dropout_1": {}, "dense_2": pair("dense_2", 2, 1)}
save("sequential.h5", two, two_groups)
save("chunked_attributes.h5", two, two_groups, chunks=True)
save("weights_only.h5", two, two_groups, whole=False)
save("other_names_weights.h5", two, {"a": pair("a", 3, 2), "b": pair("b", 2, 1)}, whole=False)
save("left_over_weights.h5", two, {**two_groups, "dense_3": pair("dense_3", 2, 1)}, whole=False)
save("misshapen_weights.h5", two, {**two_groups, "dense_2": pair("dense_2", 3, 1)}, whole=False)
json.dump({**two, "keras_version": "2.2.4", "backend": "tensorflow"}, open(os.path.join(HERE, "architecture.json"), "w"))

# Keras 1.2: a list of layers, Keras 1's field names, no version of the backend.
one = {"class_name": "Sequential", "config": [
    {"class_name": "Convolution2D", "config": {
        "name": "convolution2d_1", "trainable": True, "batch_input_shape": [None, 4, 4, 1], "nb_filter": 2, "nb_row": 3,
        "nb_col": 3, "activation": "linear", "border_mode": "same", "subsample": [1, 1], "dim_ordering": "tf", "bias": True}},
    {"class_name": "Flatten", "config": {"name": "flatten_1", "trainable": True}},
    {"class_name": "Dense", "config": {"name": "dense_1", "trainable": True, "output_dim": 1, "activation": "linear", "bias": False}}]}
save("keras1.h5", one, {
    "convolution2d_1": {"convolution2d_1_W:0": ramp(3, 3, 1, 2), "convolution2d_1_b:0": ramp(2)},
    "flatten_1": {}, "dense_1": {"dense_1_W:0": ramp(32, 1)}}, version="1.2.2", backend=None)

# A nested model: all its weights are in one group, the trainable ones first.
inner = functional([
    {"name": "input_2", "class_name": "InputLayer", "config": {"name": "input_2", "batch_input_shape": [None, 2]}, "inbound_nodes": []},
    {"name": "bn", "class_name": "BatchNormalization", "config": {"name": "bn", "trainable": True, "axis": -1, "epsilon": 0.0},
     "inbound_nodes": [[["input_2", 0, 0, {}]]]},
    {**dense("inner", 1), "name": "inner", "inbound_nodes": [[["bn", 0, 0, {}]]]}],
    ["input_2"], [["inner", 0, 0]], name="nested")
nested = functional([
    {"name": "input_1", "class_name": "InputLayer", "config": {"name": "input_1", "batch_input_shape": [None, 2]}, "inbound_nodes": []},
    {**inner, "name": "nested", "inbound_nodes": [[["input_1", 0, 0, {}]]]}],
    ["input_1"], [["nested", 1, 0]], cls="Functional")
save("nested.h5", nested, {"input_1": {}, "nested": {
    "bn/gamma:0": ramp(2, start=1), "bn/beta:0": ramp(2, start=2), "inner/kernel:0": ramp(2, 1), "inner/bias:0": ramp(1, start=9),
    "bn/moving_mean:0": ramp(2, start=4), "bn/moving_variance:0": np.array([1, 4], "<f4")}}, version="2.4.0")
