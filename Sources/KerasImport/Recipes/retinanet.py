# Layers of keras-retinanet 1.0 that compute boxes: left, top, right, bottom, in pixels.
import math
import numpy as np
import tensorflow as tf
from keras import ops
from keras.layers import Layer

class Anchors(Layer):
    """The boxes of several shapes and sizes around each place of an image.
    Becomes: loadConstant
    Options: `size`, `stride`, `ratios`, `scales`; from keras-retinanet"""
    def __init__(self, size, stride, ratios, scales):
        super().__init__()
        self.size, self.stride, self.ratios, self.scales = size, stride, ratios, scales

    def call(self, image):
        height, width = image.shape[1:3]
        boxes = []
        for ratio in self.ratios:
            for scale in self.scales:
                half = self.size * scale / math.sqrt(ratio) / 2
                boxes.append([-half, -half * ratio, half, half * ratio])
        x, y = np.meshgrid((np.arange(width) + 0.5) * self.stride, (np.arange(height) + 0.5) * self.stride)
        places = np.reshape(np.stack([x, y, x, y], axis=-1), (-1, 1, 4))
        return np.reshape(places + np.array(boxes), (1, -1, 4))

class RegressBoxes(Layer):
    """Boxes whose sides are moved by fractions of their width and height.
    Becomes: slices, concat, multiply, add
    Options: `mean`, `std`; from keras-retinanet"""
    def __init__(self, mean=None, std=None):
        super().__init__()
        self.mean, self.std = np.array(mean or [0.0] * 4), np.array(std or [0.2] * 4)

    def call(self, inputs):
        boxes, offsets = inputs
        size = boxes[..., 2:] - boxes[..., :2]
        return boxes + (offsets * self.std + self.mean) * ops.concatenate([size, size], axis=-1)

class ClipBoxes(Layer):
    """Boxes with their corners moved into an image.
    Becomes: max, min
    Options: from keras-retinanet"""
    def call(self, inputs):
        image, boxes = inputs
        height, width = image.shape[1:3]
        return ops.minimum(ops.maximum(boxes, 0), np.array([width - 1.0, height - 1.0] * 2))

class UpsampleLike(Layer):
    """The first input resized to the rows and columns of the second.
    Becomes: upsample; two 1 × 1 convolutions if the factors are not whole
    Options: from keras-retinanet
    Refused: unknown sizes"""
    def __init__(self, data_format="channels_last"):
        super().__init__()
        self.is_first = data_format == "channels_first"

    def call(self, inputs):
        image, target = inputs
        if self.is_first:
            image = ops.transpose(image, (0, 2, 3, 1))
        size = target.shape[2:4] if self.is_first else target.shape[1:3]
        image = tf.compat.v1.image.resize_nearest_neighbor(image, size)
        return ops.transpose(image, (0, 3, 1, 2)) if self.is_first else image
