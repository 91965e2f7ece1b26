# Layers of ssd_keras.
import math
import sys
import numpy as np
from keras import ops
from keras.layers import Layer

class AnchorBoxes(Layer):
    """The boxes of several shapes around each place of an image, each followed by four variances.
    Becomes: loadConstant, reshape
    Options: `img_height`, `img_width`, `this_scale`, `next_scale`, `aspect_ratios`, `two_boxes_for_ar1`, `clip_boxes`, `variances`, `coords`, `normalize_coords`; `this_steps`, `this_offsets` if the file has them (the class does not save them); from ssd_keras
    Refused: unknown sizes"""
    def __init__(self, img_height, img_width, this_scale, next_scale, aspect_ratios=(0.5, 1, 2), two_boxes_for_ar1=True,
                 this_steps=None, this_offsets=None, clip_boxes=False, variances=(0.1, 0.1, 0.2, 0.2),
                 coords="centroids", normalize_coords=False):
        super().__init__()
        self.size = [img_height, img_width]
        self.steps, self.offsets = this_steps, this_offsets or [0.5, 0.5]
        self.clips, self.normalizes, self.coords, self.variances = clip_boxes, normalize_coords, coords, variances
        if len(variances) != 4:
            raise ValueError(f"variances: {len(variances)} of them, not four")
        for name, pair in ("this_steps", this_steps), ("this_offsets", this_offsets):
            numbers = pair if isinstance(pair, (list, tuple)) else [pair or 1] * 2
            if len(numbers) != 2 or min(numbers) <= 0:
                raise ValueError(f"{name}: {pair} is not supported")
        if coords not in ("centroids", "corners", "minmax"):
            raise ValueError(f"coords: '{coords}' is not supported")
        side = min(img_height, img_width)
        self.boxes = []
        for ratio in aspect_ratios:
            root = math.sqrt(ratio)
            self.boxes.append([this_scale * side / root, this_scale * side * root])
            if ratio == 1 and two_boxes_for_ar1:
                self.boxes.append([math.sqrt(this_scale * next_scale) * side] * 2)

    def ends(self, axis, count):
        """Where the boxes begin and end along the rows or the columns."""
        spacing = self.size[axis] / count
        steps, offsets = [
            pair if isinstance(pair, (list, tuple)) else [pair, pair] for pair in (self.steps, self.offsets)]
        centers = (np.arange(count) + offsets[axis]) * (spacing if self.steps is None else steps[axis])
        lengths = np.array([box[axis] for box in self.boxes])
        result = []
        for sign in -0.5, 0.5:
            end = np.reshape(centers, (-1, 1)) + lengths * sign
            if self.clips:
                outside = end >= self.size[axis]
                end = np.maximum(end * (1 - outside) + (self.size[axis] - 1) * outside, 0)
            result.append(end / self.size[axis] if self.normalizes else end)
        return result

    def call(self, image):
        height, width = image.shape[1:3]
        if self.steps is None and (self.size[0] % height or self.size[1] % width):
            sys.stderr.write(
                f"the file does not store 'this_steps', so the boxes are {self.size[0] / height} × "
                f"{self.size[1] / width} pixels apart, as in Keras when it loads the file; if the network was built with "
                "other steps, add them to the layer's configuration")
        count = len(self.boxes)
        top, bottom = [np.tile(np.reshape(y, (height, 1, count)), (1, width, 1)) for y in self.ends(0, height)]
        left, right = [np.tile(np.reshape(x, (1, width, count)), (height, 1, 1)) for x in self.ends(1, width)]
        if self.coords == "corners":
            numbers = [left, top, right, bottom]
        elif self.coords == "minmax":
            numbers = [left, right, top, bottom]
        else:
            numbers = [(left + right) / 2, (top + bottom) / 2, right - left, bottom - top]
        numbers = numbers + [left * 0 + variance for variance in self.variances]
        return np.expand_dims(np.stack(numbers, axis=-1), 0)

class L2Normalization(Layer):
    """gamma · x / √(max(Σ x², 1e-12)) along the channels.
    Becomes: a sum of squares, a reciprocal square root, products
    Options: from SSD networks: along the last axis"""
    def __init__(self, axis=-1):
        super().__init__()
        if axis not in (-1, 3, [-1], [3]):
            raise ValueError("axis: only the last axis is supported")

    def build(self, shape):
        self.gamma = self.add_weight(shape=(shape[-1],), name="gamma")

    def call(self, x):
        return x * ops.rsqrt(ops.maximum(ops.sum(ops.square(x), axis=-1, keepdims=True), 1e-12)) * self.gamma

class Normalize2D(L2Normalization):
    pass

class Normalize(L2Normalization):
    def __init__(self, axis=-1, scale=None):
        super().__init__(axis)
        if scale is None:
            raise ValueError("only the class of SSD networks, with a scale, is supported")
