import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras import layers


def squash(vectors, axis=-1):
    squared = tf.reduce_sum(tf.square(vectors), axis, keepdims=True)
    return vectors * squared / (1 + squared) / tf.sqrt(squared + K.epsilon())


class CapsuleLayer(layers.Layer):
    def __init__(self, capsules, dimension, routings=3, **kwargs):
        super(CapsuleLayer, self).__init__(**kwargs)
        self.capsules = capsules
        self.dimension = dimension
        self.routings = routings

    def build(self, input_shape):
        self.inputs, self.input_dimension = input_shape[1], input_shape[2]
        self.W = self.add_weight(
            shape=[self.capsules, self.inputs, self.dimension, self.input_dimension],
            initializer="glorot_uniform", name="W")

    def call(self, inputs, training=None):
        predictions = tf.einsum("jiop,bip->bjio", self.W, inputs)
        logits = tf.zeros(shape=[tf.shape(inputs)[0], self.capsules, self.inputs])
        for i in range(self.routings):
            coupling = tf.nn.softmax(logits, axis=1)
            outputs = squash(tf.reduce_sum(coupling[..., tf.newaxis] * predictions, axis=2))
            if i < self.routings - 1:
                logits += tf.reduce_sum(predictions * outputs[:, :, None, :], axis=-1)
        return outputs

    def compute_output_shape(self, input_shape):
        return tuple([None, self.capsules, self.dimension])

    def get_config(self):
        config = super(CapsuleLayer, self).get_config()
        config.update({"capsules": self.capsules, "dimension": self.dimension, "routings": self.routings})
        return config


class Length(layers.Layer):
    def call(self, inputs, **kwargs):
        return tf.sqrt(tf.reduce_sum(tf.square(inputs), -1) + K.epsilon())
