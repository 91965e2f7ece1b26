import keras
from keras import layers, ops


class Block(layers.Layer):
    def __init__(self, filters, **kwargs):
        super().__init__(**kwargs)
        self.filters = filters
        self.conv = layers.Conv2D(filters, 3, padding="same")
        self.norm = layers.BatchNormalization()

    def build(self, input_shape):
        self.conv.build(input_shape)
        self.norm.build((*input_shape[:-1], self.filters))

    def call(self, x, training=None):
        return ops.relu(self.norm(self.conv(x), training=training))


@keras.saving.register_keras_serializable(package="sources")
class SmallClassifier(keras.Model):
    def __init__(self, widths=(4, 6), classes=3, **kwargs):
        super().__init__(**kwargs)
        self.widths, self.classes = list(widths), classes
        self.blocks = [Block(width) for width in widths]
        self.pool = layers.MaxPooling2D(2)
        self.head = keras.Sequential([layers.GlobalAveragePooling2D(), layers.Dense(classes)], name="head")

    def call(self, inputs, training=None):
        x = inputs
        for block in self.blocks:
            x = self.pool(block(x, training=training))
        return ops.softmax(self.head(x))

    def get_config(self):
        return {"widths": self.widths, "classes": self.classes}
