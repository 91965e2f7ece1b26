#!/usr/bin/env python3
"""Writes small networks of layers that collections for Keras 3 define, with their own predictions.

    make3.py [NAME…]

Beside `NAME.keras` are the inputs `input1`… and the predictions `output1`…. Needs tensorflow 2.21,
keras 3.15, keras-hub 0.32, classification-models-3d 1.1 and keras-tcn 3.5.6.
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import keras
import keras_hub
import numpy as np
from classification_models_3D.models._DepthwiseConv3D import DepthwiseConv3D
from keras import layers
from keras_hub.layers import (FNetEncoder, PositionEmbedding, RotaryEmbedding, SinePositionEncoding, TokenAndPositionEmbedding,
                               TransformerDecoder, TransformerEncoder)

HERE = os.path.dirname(os.path.abspath(__file__))


def save(name, inputs, output, *arrays):
    if sys.argv[1:] and name not in sys.argv[1:]:
        return
    inputs = inputs if isinstance(inputs, list) else [inputs]
    model = keras.Model(inputs, output)
    generator = np.random.default_rng(len(name))
    for weight in model.weights:
        spread = 0.3 if len(weight.shape) > 1 else 0.5
        center = 1 if weight.path.endswith("gamma") else 0
        weight.assign(generator.normal(center, spread, weight.shape))
    if not arrays:
        arrays = [generator.standard_normal((1, *x.shape[1:])).round(3).astype(np.float32) for x in inputs]
    path = os.path.join(HERE, name)
    model.save(path + ".keras")
    np.savez(path + ".inputs.npz", **{f"input{i + 1}": a for i, a in enumerate(arrays)})
    np.savez(path + ".expected.npz", output1=model.predict(list(arrays), verbose=0))


indices = np.array([[3, 1, 0, 4, 2]], np.float32)
padding = np.array([[1, 1, 1, 0, 0]], np.float32)

tokens, mask = keras.Input((5,)), keras.Input((5,))
x = layers.Embedding(6, 8)(tokens)
x = x + PositionEmbedding(sequence_length=7)(x)
x = TransformerEncoder(intermediate_dim=6, num_heads=2, activation="gelu", dropout=0.1)(x, padding_mask=mask)
x = TransformerEncoder(intermediate_dim=5, num_heads=4, normalize_first=True)(x)
save("transformer_encoder", [tokens, mask], x, indices, padding)

tokens, mask, encoded = keras.Input((5,)), keras.Input((5,)), keras.Input((3, 6))
x = TokenAndPositionEmbedding(6, 9, 6)(tokens)
x = TransformerDecoder(intermediate_dim=7, num_heads=2)(x, decoder_padding_mask=mask)
x = TransformerDecoder(intermediate_dim=5, num_heads=3, normalize_first=True)(x, encoded)
save("transformer_decoder", [tokens, mask, encoded], x, indices, padding,
     np.random.default_rng(3).standard_normal((1, 3, 6)).round(3).astype(np.float32))

from tcn import TCN

sequence = keras.Input((6, 3))
save("tcn_of_keras3", sequence, TCN(4, kernel_size=2, dilations=(1, 2), use_layer_norm=True)(sequence))

sequence = keras.Input((5, 6))
save("fourier_encoder", sequence, FNetEncoder(intermediate_dim=4)(sequence))

# As in keras-hub's BERT and GPT-2.
from keras_hub.src.utils.keras_utils import gelu_approximate

save("transformer_with_gelu", sequence,
     TransformerEncoder(intermediate_dim=7, num_heads=2, activation=gelu_approximate)(sequence))

heads = keras.Input((5, 3, 4))
x = RotaryEmbedding()(sequence) + SinePositionEncoding(max_wavelength=50)(sequence)
y = layers.Reshape((5, 12))(RotaryEmbedding(max_wavelength=70, scaling_factor=2.0)(heads))
save("rotary_embedding", [sequence, heads], layers.Concatenate()([x, y]))

backbone = keras_hub.models.ViTBackbone(
    image_shape=(8, 8, 3), patch_size=4, num_layers=2, num_heads=2, hidden_dim=6, mlp_dim=5)
save("vision_transformer_of_keras_hub", backbone.inputs, backbone.outputs)

volume = keras.Input((5, 4, 6, 3))
x = DepthwiseConv3D((3, 2, 3), padding="same", depth_multiplier=2, activation="relu", use_bias=False)(volume)
x = DepthwiseConv3D(2, strides=(2, 1, 2), use_bias=False)(x)
save("volume_by_channel", volume, x)

# A result of size 1, and groups of several channels.
volume = keras.Input((5, 5, 5, 4))
x = layers.Conv3D(6, 3, groups=2, padding="same")(volume)
save("volume_to_one", volume, layers.Conv3D(3, 5, strides=2)(x))

# The file has this function's name alone.
from classification_models_3D.models._common_blocks import expand_dims

volume = keras.Input((3, 2, 4, 5))
x = layers.Lambda(expand_dims, arguments={"channels_axis": 4})(layers.GlobalAveragePooling3D()(volume))
save("volume_with_excitation", volume, layers.multiply([volume, layers.Conv3D(5, 1, activation="sigmoid")(x)]))
