#!/usr/bin/env python3
"""Writes small networks of keras-bert 0.89 and keras-transformer 0.40 with their predictions.

    make_bert.py

Needs tensorflow 2.15. The last two steps of the inputs are padding.
"""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import keras_bert
import keras_transformer
import numpy as np
from tensorflow import keras

HERE = os.path.dirname(os.path.abspath(__file__))


def save(name, model, arrays):
    generator = np.random.default_rng(len(name))
    for weight in model.weights:
        spread = generator.normal(0, 0.4, weight.shape)
        weight.assign(1 + spread if "gamma" in weight.name else spread)
    path = os.path.join(HERE, name)
    model.save(path + ".h5", include_optimizer=False)
    np.savez(path + ".inputs.npz", **{f"input{i + 1}": a for i, a in enumerate(arrays)})
    np.savez(path + ".expected.npz", output1=model.predict(arrays, verbose=0))


def indices(*numbers):
    return np.array([numbers], np.float32)


inputs, steps = keras_bert.get_model(
    token_num=20, pos_num=8, seq_len=8, embed_dim=6, transformer_num=2, head_num=2,
    feed_forward_dim=10, feed_forward_activation="gelu", training=False)
first = keras_bert.layers.Extract(index=0)(steps)
save("bert", keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(first)),
     [indices(7, 3, 19, 3, 4, 11, 0, 0), indices(0, 0, 0, 1, 1, 1, 0, 0)])

keras.backend.clear_session()
config = keras_transformer.get_model(
    token_num=12, embed_dim=6, encoder_num=1, decoder_num=1, head_num=2, hidden_dim=8,
    attention_activation="relu", feed_forward_activation="relu").get_config()
for layer in config["layers"]:  # Sequences of known length, which its positions need.
    if layer["class_name"] == "InputLayer":
        layer["config"]["batch_input_shape"] = (None, 6 if "Encoder" in layer["name"] else 4)
save("transformer", keras.Model.from_config(config, keras_transformer.get_custom_objects()),
     [indices(5, 2, 9, 9, 0, 0), indices(1, 7, 4, 0)])
