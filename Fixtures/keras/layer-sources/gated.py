import tensorflow as tf
from tensorflow.keras import layers


class Gated(layers.Layer):
    """What a gate lets through; subclasses say which activation it has."""

    activation = "sigmoid"

    def __init__(self, units):
        super(Gated, self).__init__()
        self.units = units
        self.linear = layers.Dense(units)
        self.gate = layers.Dense(units, activation=self.activation)

    def call(self, inputs):
        return self.linear(inputs) * self.gate(inputs)


class TanhGated(Gated):
    activation = "tanh"

    def call(self, inputs):
        return super().call(inputs) + 1.0


class GatedResidual(layers.Layer):
    def __init__(self, units, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.elu = layers.Dense(units, activation="elu")
        self.linear = layers.Dense(units)
        self.dropout = layers.Dropout(dropout)
        self.gates = {"sigmoid": Gated(units), "tanh": TanhGated(units)}
        self.norm = layers.LayerNormalization()
        self.project = layers.Dense(units)

    def call(self, inputs, training=False):
        x = self.dropout(self.linear(self.elu(inputs)), training=training)
        if inputs.shape[-1] != self.units:
            inputs = self.project(inputs)
        for name in ("sigmoid", "tanh"):
            inputs = inputs + self.gates[name](x)
        return self.norm(inputs)
