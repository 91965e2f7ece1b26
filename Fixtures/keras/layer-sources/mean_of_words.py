import keras
from keras import ops


class MeanOfWords(keras.layers.Layer):
    """The mean of the words that the mask keeps."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs, mask=None):
        if mask is None:
            return ops.mean(inputs, axis=1)
        kept = ops.expand_dims(ops.cast(mask, inputs.dtype), -1)
        return ops.sum(inputs * kept, axis=1) / ops.maximum(ops.sum(kept, axis=1), 1.0)

    def compute_mask(self, inputs, mask=None):
        return None
