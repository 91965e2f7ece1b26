from tensorflow import keras
from tensorflow.keras import backend as K
from tensorflow.keras import layers, regularizers


class Shift(layers.Layer):
    """Adds a weight for each channel."""

    def __init__(self, amount, start="zeros", **kwargs):
        super().__init__(**kwargs)
        self.amount = amount
        self.start = start

    def build(self, input_shape):
        self.shift = self.add_weight(name="shift", shape=(input_shape[-1],), initializer=self.start)

    def call(self, inputs):
        return inputs + self.amount * self.shift


def conv(x, filters, strides=1, name=None, **options):
    x = layers.Conv2D(filters, 3, strides=strides, padding="same", use_bias=False,
                      kernel_regularizer=regularizers.l2(1e-4), name=name, **options)(x)
    return layers.BatchNormalization(name=name and f"{name}_bn")(x)


def residual(x, filters, stage):
    shortcut = x
    strides = 2 if stage else 1
    x = layers.ReLU()(conv(x, filters, strides, name="stage%d" % stage))
    x = Shift(0.5)(conv(x, filters))
    if strides > 1 or shortcut.shape[-1] != filters:
        shortcut = layers.Conv2D(filters, 1, strides=strides)(shortcut)
    return layers.Activation("relu")(layers.add([x, shortcut]))


def features(shape, widths):
    if K.image_data_format() == "channels_first":
        shape = shape[-1:] + shape[:-1]
    inputs = x = keras.Input(shape, name="image")
    for stage, filters in enumerate(widths):
        x = residual(x, filters, stage)
    # Two branches whose layers Keras counts in another order than they are made in.
    near = layers.Conv2D(4, 1)(x)
    far = layers.Conv2D(4, 1)(layers.ReLU()(layers.Conv2D(4, 1)(x)))
    x = layers.concatenate([far, near])
    return keras.Model(inputs, layers.GlobalAveragePooling2D()(x), name="features")


def build_twins(shape=(16, 16, 3), widths=[8, 16], classes=2):
    """Two images, one network for both, and how far they are from each other."""
    base = features(shape, widths)
    base.get_layer("stage0").trainable = False
    head = keras.Sequential([layers.Dense(6, activation="tanh"), layers.Dropout(0.2), layers.Dense(classes)], name="head")
    left, right = keras.Input(shape), keras.Input(shape)
    a, b = base(left), base(right)
    distance = layers.Lambda(lambda pair: (pair[0] - pair[1]) ** 2)([a, b])
    model = keras.Model(inputs=[left, right], outputs=[head(distance), 1 - a * 2])
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["accuracy"])
    model.summary()
    return model, base
