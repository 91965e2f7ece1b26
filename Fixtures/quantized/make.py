#!/usr/bin/env python3
"""Small networks quantised by coremltools in every mode and width that it has, and the numbers that it
reads from them again.

    pip install coremltools scikit-learn && python make.py

Made with coremltools 9.0 and scikit-learn 1.9. expected.npz holds each weight after coremltools' own
dequantisation, under `MODE_BITS/LAYER/FIELD`.
"""
import contextlib
import os

import coremltools as ct
import numpy as np
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder, quantization_utils

here = os.path.dirname(os.path.abspath(__file__))


def network():
    rng = np.random.default_rng(7)

    def values(*shape):
        return rng.normal(size=shape).astype(np.float32)

    builder = NeuralNetworkBuilder(
        [("in", datatypes.Array(3, 6, 5))], [("out", datatypes.Array(7))],
        disable_rank5_shape_mapping=False)
    builder.add_convolution(
        "convolution", 3, 5, 3, 2, 1, 1, "same", 1, W=values(3, 2, 3, 5), b=values(5), has_bias=True,
        input_name="in", output_name="a")
    builder.add_convolution(
        "deconvolution", 5, 3, 2, 2, 2, 2, "valid", 1, W=values(2, 2, 5, 3), b=None, has_bias=False,
        is_deconv=True, input_name="a", output_name="b")
    # Between, since coremltools 9.0 cannot fold a batch normalisation into a convolution.
    builder.add_activation("activation", "TANH", "b", "b2")
    builder.add_batchnorm(
        "batchnorm", 3, values(3), values(3), values(3), np.abs(values(3)) + 1, input_name="b2",
        output_name="c")
    builder.add_flatten("flatten", 0, "c", "d")
    builder.add_inner_product(
        "innerProduct", values(7, 360), values(7), 360, 7, True, input_name="d", output_name="out")
    return builder.spec


def weights(layer):
    kind = layer.WhichOneof("layer")
    parameters = getattr(layer, kind)
    for field, value in parameters.ListFields():
        if field.message_type is not None and field.message_type.name == "WeightParams":
            yield field.name, value


def lut(bits, values):
    """A table of the caller's own: powers of two of either sign."""
    half = 1 << bits - 1
    table = np.concatenate([-(2.0 ** -np.arange(half)), 2.0 ** -np.arange(half)])
    codes = np.argmin(np.abs(np.ravel(values)[:, None] - table[None, :]), axis=1)
    return table, codes.astype(np.uint8)


def kmeans(bits, values):
    """What coremltools 9.0 computes for kmeans_lut, but cannot write with a current numpy."""
    table, codes = quantization_utils._get_kmeans_lookup_table_and_weight(bits, values)
    return np.ravel(table), np.ravel(codes).astype(np.uint8)


TABLES = {"custom_lut": lut, "kmeans_lut": kmeans}


def main():
    expected = {}
    jobs = [("float", 16)] + [("linear_symmetric", 8), ("custom_lut", 3)]
    jobs += [(mode, bits) for mode in ("linear", "linear_lut", "kmeans_lut") for bits in range(1, 9)]
    for mode, bits in jobs:
        model = ct.models.MLModel(network(), skip_model_load=True)
        with open(os.devnull, "w") as quiet, contextlib.redirect_stdout(quiet):
            quantized = quantization_utils.quantize_weights(
                model, bits,
                "linear" if mode == "float" else "custom_lut" if mode in TABLES else mode,
                **({"lut_function": TABLES[mode]} if mode in TABLES else {}))
            spec = quantized.get_spec() if hasattr(quantized, "get_spec") else quantized
            ct.utils.save_spec(spec, f"{here}/{mode}_{bits}.mlmodel")
            if bits != 16:
                plain = quantization_utils.quantize_weights(
                    ct.models.MLModel(spec, skip_model_load=True), None, "dequantization").get_spec()
        for index, layer in enumerate(spec.neuralNetwork.layers):
            for name, value in weights(layer):
                if bits == 16:
                    numbers = np.frombuffer(value.float16Value, np.float16).astype(np.float32)
                else:
                    numbers = np.array(
                        getattr(getattr(plain.neuralNetwork.layers[index],
                                        layer.WhichOneof("layer")), name).floatValue, np.float32)
                expected[f"{mode}_{bits}/{layer.name}/{name}"] = numbers
    np.savez_compressed(f"{here}/expected.npz", **expected)


if __name__ == "__main__":
    main()
