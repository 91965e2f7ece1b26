"""Writes the small models of the C library's tests, whose answers follow from their definitions.

Made with coremltools 9.0: python make.py
"""

import os

import numpy as np

from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder
from coremltools.proto import FeatureTypes_pb2

HERE = os.path.dirname(os.path.abspath(__file__))


def write(name, builder):
    for feature in [*builder.spec.description.input, *builder.spec.description.output]:
        if feature.type.WhichOneof("Type") == "multiArrayType":
            feature.type.multiArrayType.dataType = FeatureTypes_pb2.ArrayFeatureType.FLOAT32
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(builder.spec.SerializeToString(deterministic=True))


# y = 2 x + 1
builder = NeuralNetworkBuilder(
    [("x", datatypes.Array(2, 3))], [("y", datatypes.Array(2, 3))],
    disable_rank5_shape_mapping=True)
builder.add_activation("linear", "LINEAR", "x", "y", params=[2, 1])
builder.spec.description.input[0].shortDescription = "any numbers"
write("line.mlmodel", builder)

# An image's mean red, green and blue, divided by 255, through softmax.
builder = NeuralNetworkBuilder(
    [("image", datatypes.Array(3, 2, 4))], [("color", datatypes.Array(3))], mode="classifier")
builder.add_pooling("mean", 2, 4, 1, 1, "AVERAGE", "VALID", "image", "means", is_global=True)
builder.add_softmax("softmax", "means", "color")
builder.set_pre_processing_parameters(["image"], image_scale=1 / 255)
builder.set_class_labels(["red", "green", "blue"], "best", prediction_blob="color")
write("color.mlmodel", builder)

# h = max(0, x + h): the sum of all steps so far, of numbers above 0.
builder = NeuralNetworkBuilder(
    [("x", datatypes.Array(1)), ("sum_in", datatypes.Array(1))],
    [("y", datatypes.Array(1)), ("sum_out", datatypes.Array(1))])
one = np.ones((1, 1), np.float32)
builder.add_simple_rnn(
    "sum", one, one, None, 1, 1, "RELU", ["x", "sum_in"], ["y", "sum_out"])
builder.spec.description.input[1].type.isOptional = True
write("sum.mlmodel", builder)

# y = 2 x + 1 for so many numbers that several threads compute it.
builder = NeuralNetworkBuilder(
    [("x", datatypes.Array(1 << 18))], [("y", datatypes.Array(1 << 18))],
    disable_rank5_shape_mapping=True)
builder.add_activation("linear", "LINEAR", "x", "y", params=[2, 1])
write("wide.mlmodel", builder)
