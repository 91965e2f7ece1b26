from tensorflow.keras import activations, backend as K, initializers, regularizers
from tensorflow.keras.layers import Layer


class GraphConvolution(Layer):
    """A layer of a graph network: features of the nodes, and which are neighbors."""

    def __init__(self, units, activation=None, use_bias=True, kernel_initializer="glorot_uniform",
                 kernel_regularizer=None, **kwargs):
        if "input_shape" not in kwargs and "input_dim" in kwargs:
            kwargs["input_shape"] = (kwargs.pop("input_dim"),)
        super(GraphConvolution, self).__init__(**kwargs)
        self.units = units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)

    def build(self, input_shape):
        features, adjacency = input_shape
        assert len(features) >= 2
        self.kernel = self.add_weight(
            shape=(features[-1], self.units), initializer=self.kernel_initializer, name="kernel",
            regularizer=self.kernel_regularizer)
        if self.use_bias:
            self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")
        else:
            self.bias = None
        self.built = True

    def call(self, inputs, mask=None):
        features, adjacency = inputs
        degree = K.sum(adjacency, axis=-1, keepdims=True)
        output = K.batch_dot(adjacency / K.maximum(degree, 1.0), K.dot(features, self.kernel))
        if self.use_bias:
            output = K.bias_add(output, self.bias)
        return self.activation(output)

    def get_config(self):
        config = {"units": self.units, "activation": activations.serialize(self.activation), "use_bias": self.use_bias,
                  "kernel_initializer": initializers.serialize(self.kernel_initializer),
                  "kernel_regularizer": regularizers.serialize(self.kernel_regularizer)}
        base = super(GraphConvolution, self).get_config()
        return dict(list(base.items()) + list(config.items()))
