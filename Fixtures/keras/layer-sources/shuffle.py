import tensorflow as tf


class PixelShuffle(tf.keras.layers.Layer):
    def __init__(self, scale=2, **kwargs):
        super().__init__(**kwargs)
        self.scale = scale

    def call(self, x):
        _, height, width, channels = x.get_shape().as_list()
        r, depth = self.scale, channels // self.scale ** 2
        x = tf.reshape(x, [-1, height, width, r, r, depth])
        x = tf.transpose(x, perm=[0, 1, 3, 2, 4, 5])
        return tf.reshape(x, [-1, height * r, width * r, depth])


class ResizeTo(tf.keras.layers.Layer):
    def __init__(self, size, method="bilinear", **kwargs):
        super().__init__(**kwargs)
        self.size, self.method = size, method

    def call(self, x):
        resized = tf.image.resize(x, self.size, method=self.method)
        return tf.pad(resized, [[0, 0], [1, 1], [2, 2], [0, 0]], "REFLECT")
