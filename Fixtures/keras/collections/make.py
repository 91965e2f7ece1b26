#!/usr/bin/env python3
"""Writes small networks of layers that collections define, with the collections' own predictions.

    make.py

Beside `NAME.h5` are the inputs `input1`… and the predictions `output1`…. Needs tensorflow 2.15,
keras-tcn 3.5.0 and keras-unet-collection 0.1.13.
"""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import numpy as np
from keras_unet_collection import transformer_layers as patches
from tcn import TCN
from tensorflow import keras

HERE = os.path.dirname(os.path.abspath(__file__))


def save(name, inputs, output):
    model = keras.Model(inputs, output)
    generator = np.random.default_rng(len(name))
    for weight in model.weights:
        # Biases and statistics differ from their initial zeros and ones.
        if "kernel" not in weight.name:
            weight.assign(generator.uniform(0.5, 1.5, weight.shape))
    array = generator.standard_normal((1, *inputs.shape[1:])).round(3).astype(np.float32)
    path = os.path.join(HERE, name)
    model.save(path + ".h5", include_optimizer=False)
    np.savez(path + ".inputs.npz", input1=array)
    np.savez(path + ".expected.npz", output1=model.predict(array, verbose=0))


def tcn(name, **settings):
    keras.backend.clear_session()
    inputs = keras.Input((12, 3))
    save(name, inputs, TCN(nb_filters=4, **settings)(inputs))


tcn("tcn", kernel_size=3, dilations=(1, 2, 4))
tcn("tcn_sequence", kernel_size=2, dilations=(1, 2), return_sequences=True, nb_stacks=2,
    use_skip_connections=False)
tcn("tcn_batch_normalization", kernel_size=2, dilations=(1, 2), use_batch_norm=True, padding="same")
tcn("tcn_layer_normalization", kernel_size=2, dilations=(1, 2), use_layer_norm=True, activation="elu")
tcn("tcn_backwards", kernel_size=2, dilations=(1, 2), go_backwards=True, return_sequences=True)

keras.backend.clear_session()
image = keras.Input((8, 8, 3))
x = patches.patch_extract((2, 2))(image)
x = patches.patch_embedding(16, 6)(x)
x = patches.patch_merging((4, 4), 6)(x)
x = patches.patch_expanding((2, 2), 12, 2, return_vector=True)(x)
x = patches.patch_expanding((4, 4), 6, 2, return_vector=False)(x)
save("patches", image, x)
