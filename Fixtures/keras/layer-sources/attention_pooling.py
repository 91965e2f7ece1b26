from tensorflow.keras import backend as K
from tensorflow.keras.layers import Layer


class AttentionPooling(Layer):
    """The mean of the steps, weighted by what a small network says of each."""

    def __init__(self, units=None, return_weights=False, **kwargs):
        self.units = units
        self.return_weights = return_weights
        super(AttentionPooling, self).__init__(**kwargs)

    def build(self, input_shape):
        steps, features = int(input_shape[1]), int(input_shape[-1])
        units = self.units or features
        self.W = self.add_weight(name="{}_W".format(self.name), shape=(features, units), initializer="glorot_uniform")
        self.b = self.add_weight(name="{}_b".format(self.name), shape=(steps, units), initializer="zeros")
        self.u = self.add_weight(name="{}_u".format(self.name), shape=(units, 1), initializer="glorot_uniform")
        super(AttentionPooling, self).build(input_shape)

    def call(self, x, mask=None):
        scores = K.squeeze(K.dot(K.tanh(K.dot(x, self.W) + self.b), self.u), -1)
        weights = K.exp(scores - K.max(scores, axis=-1, keepdims=True))
        if mask is not None:
            weights *= K.cast(mask, K.floatx())
        weights /= K.cast(K.sum(weights, axis=1, keepdims=True) + K.epsilon(), K.floatx())
        pooled = K.sum(x * K.expand_dims(weights), axis=1)
        if self.return_weights:
            return [pooled, weights]
        return pooled

    def compute_mask(self, inputs, mask=None):
        return None

    def compute_output_shape(self, input_shape):
        return input_shape[0], input_shape[-1]

    def get_config(self):
        config = {"units": self.units, "return_weights": self.return_weights}
        base = super(AttentionPooling, self).get_config()
        return dict(list(base.items()) + list(config.items()))
