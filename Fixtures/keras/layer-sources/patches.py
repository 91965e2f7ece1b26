import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class Patches(layers.Layer):
    def __init__(self, patch_size, **kwargs):
        super().__init__(**kwargs)
        self.patch_size = patch_size

    def call(self, images):
        batch = tf.shape(images)[0]
        patches = tf.image.extract_patches(
            images=images, sizes=[1, self.patch_size, self.patch_size, 1],
            strides=[1, self.patch_size, self.patch_size, 1], rates=[1, 1, 1, 1], padding="VALID")
        return tf.reshape(patches, [batch, -1, patches.shape[-1]])

    def get_config(self):
        return {**super().get_config(), "patch_size": self.patch_size}


class PatchEncoder(layers.Layer):
    def __init__(self, patches, width, **kwargs):
        super().__init__(**kwargs)
        self.patches, self.width = patches, width
        self.projection = layers.Dense(units=width)
        self.positions = layers.Embedding(input_dim=patches, output_dim=width)

    def call(self, patch):
        positions = tf.range(start=0, limit=self.patches, delta=1)
        return self.projection(patch) + self.positions(positions)

    def get_config(self):
        return {**super().get_config(), "patches": self.patches, "width": self.width}
