"""Layers of Keras 2, with weights by name."""
from tf_keras.layers import Dense, Layer
from tf_keras import backend as K
import tensorflow as tf


class AttentionLayer(Layer):
    def __init__(self, units=None, **kwargs):
        self.units = units
        super(AttentionLayer, self).__init__(**kwargs)

    def build(self, input_shape):
        assert len(input_shape) == 3
        self.W = self.add_weight(name="att_W", shape=(int(input_shape[-1]), self.units), initializer="glorot_uniform")
        self.b = self.add_weight(name="att_b", shape=(self.units,), initializer="normal")
        self.u = self.add_weight("att_u", (self.units,), initializer="normal")
        super(AttentionLayer, self).build(input_shape)

    def call(self, x, mask=None):
        uit = K.tanh(K.dot(x, self.W) + self.b)
        ait = K.sum(uit * self.u, axis=-1)
        a = K.exp(ait)
        if mask is not None:
            a *= K.cast(mask, K.floatx())
        a /= K.cast(K.sum(a, axis=1, keepdims=True) + K.epsilon(), K.floatx())
        a = K.expand_dims(a)
        return K.sum(x * a, axis=1)

    def compute_output_shape(self, input_shape):
        return input_shape[0], input_shape[-1]

    def get_config(self):
        config = super().get_config()
        config["units"] = self.units
        return config


class Conv(Layer):
    def __init__(self, filters, strides=(1, 1), **kwargs):
        super().__init__(**kwargs)
        self.filters = filters
        self.strides = tuple(strides)

    def build(self, input_shape):
        self.kernel = self.add_weight("kernel", shape=[3, 3, input_shape[-1], self.filters])
        self.offset = self.add_weight("offset", shape=[self.filters], initializer="ones", trainable=False)
        self.gamma = self.add_weight("gamma", shape=[self.filters], initializer="ones")

    def call(self, inputs):
        y = tf.nn.conv2d(inputs, self.kernel, strides=[1, self.strides[0], self.strides[1], 1], padding="SAME")
        return tf.nn.relu(y * self.gamma + self.offset)

    def get_config(self):
        return {**super().get_config(), "filters": self.filters, "strides": self.strides}


class Two(Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.first = Dense(units, activation="relu")
        self.second = [Dense(units), Dense(units)]

    def call(self, inputs):
        a, b = inputs
        x = self.first(tf.concat([a, b], axis=-1))
        return tf.add_n([layer(x) for layer in self.second])

    def get_config(self):
        return {**super().get_config(), "units": self.units}
