# Layers of keras-unet-collection 0.1, keras-vision-transformer 0.1 and the examples on keras.io between images and
# sequences of patches.
import numpy as np
import tensorflow as tf
from keras import ops
from keras.layers import Conv2D, Dense, Embedding, Layer, LayerNormalization

def tokens(image):
    return ops.reshape(image, (-1, image.shape[1] * image.shape[2], image.shape[3]))

def blocks(image, size):
    return tf.nn.space_to_depth(image, size) if size > 1 else image

def grid(sequence, size):
    return ops.reshape(sequence, (-1, size[0], size[1], sequence.shape[2]))

class patch_extract(Layer):
    """Square patches of an image as a sequence.
    Becomes: reorganizeData, reshape
    Options: `patch_size`; Patches of the examples on keras.io
    Refused: sizes that are not multiples of a patch"""
    def __init__(self, patch_size):
        super().__init__()
        self.size = patch_size if isinstance(patch_size, int) else patch_size[0]

    def call(self, image):
        return tokens(blocks(image, self.size))

class Patches(patch_extract):
    pass

class patch_embedding(Layer):
    """A product with a matrix, and a row of a table for each patch.
    Becomes: innerProduct, loadConstant, add
    Options: `num_patch`, `embed_dim`"""
    def __init__(self, num_patch, embed_dim):
        super().__init__()
        self.count = num_patch
        self.proj = Dense(embed_dim)
        self.pos_embed = Embedding(num_patch, embed_dim)

    def call(self, patches):
        return self.proj(patches) + self.pos_embed(np.arange(self.count))

class PatchEncoder(Layer):
    """A product with a matrix, and a row of a table for each patch.
    Becomes: innerProduct, loadConstant, add
    Options: `num_patches`, `projection_dim`; of the examples on keras.io"""
    def __init__(self, num_patches, projection_dim):
        super().__init__()
        self.num_patches = num_patches
        self.projection = Dense(projection_dim)
        self.position_embedding = Embedding(num_patches, projection_dim)

    def call(self, patches):
        return self.projection(patches) + self.position_embedding(np.arange(self.num_patches))

class patch_merging(Layer):
    """Four neighboring patches side by side times a matrix.
    Becomes: reshape, reorganizeData, innerProduct
    Options: `num_patch`, `embed_dim`"""
    def __init__(self, num_patch, embed_dim):
        super().__init__()
        self.size = num_patch
        self.linear_trans = Dense(2 * embed_dim, use_bias=False)

    def call(self, patches):
        # The patches of a column come first.
        image = ops.transpose(grid(patches, self.size), (0, 2, 1, 3))
        image = ops.transpose(tf.nn.space_to_depth(image, 2), (0, 2, 1, 3))
        return self.linear_trans(tokens(image))

class patch_expanding(Layer):
    """A product with a matrix, and blocks of channels as patches.
    Becomes: reshape, convolution, reorganizeData
    Options: `num_patch`, `embed_dim`, `upsample_rate`, `return_vector`"""
    def __init__(self, num_patch, embed_dim, upsample_rate, return_vector=True):
        super().__init__()
        self.size, self.rate, self.is_vector = num_patch, upsample_rate, return_vector
        self.linear_trans1 = Conv2D(upsample_rate * embed_dim, 1, use_bias=False)

    def call(self, patches):
        image = tf.nn.depth_to_space(self.linear_trans1(grid(patches, self.size)), self.rate)
        return tokens(image) if self.is_vector else image

class WindowAttention(Layer):  # of SwinTransformerBlock
    def __init__(self, dim, window, heads, qkv_bias, qk_scale):
        super().__init__()
        self.window, self.heads, self.scale = window, heads, qk_scale or (dim // heads) ** -0.5
        self.table = self.add_weight(shape=((2 * window - 1) ** 2, heads), name="attn_pos")
        self.index = self.add_weight(shape=(window**2, window**2), trainable=False, name="attn_pos_ind")
        self.qkv = Dense(3 * dim, use_bias=qkv_bias)
        self.proj = Dense(dim)

    def call(self, x, mask):
        count, places, dim = x.shape[1:]
        parts = ops.reshape(self.qkv(x), (-1, count, places, 3 * self.heads, dim // self.heads))
        parts = ops.transpose(parts, (0, 1, 3, 2, 4))
        query, key, value = [
            ops.reshape(part, (-1, count * self.heads, places, dim // self.heads)) for part in ops.split(parts, 3, axis=2)]
        y, x = np.arange(places) // self.window, np.arange(places) % self.window
        distance = (y[:, None] - y + self.window - 1) * (2 * self.window - 1) + x[:, None] - x + self.window - 1
        terms = np.reshape(np.take(self.table, np.reshape(distance, (-1,)), axis=0), (places, places, self.heads))
        terms = np.transpose(terms, (2, 0, 1)) + np.reshape(mask, (-1, 1, places, places))
        terms = np.reshape(terms + np.zeros((count, 1, 1, 1)), (-1, places, places))
        scores = ops.matmul(query * self.scale, ops.transpose(key, (0, 1, 3, 2))) + terms
        result = ops.reshape(ops.matmul(ops.softmax(scores), value), (-1, count, self.heads, places, dim // self.heads))
        return self.proj(ops.reshape(ops.transpose(result, (0, 1, 3, 2, 4)), (-1, count, places, dim)))

class SwinTransformerBlock(Layer):
    """Attention within windows of an image, and a network of two matrices, each added to its input.
    Becomes: reorganizeData, innerProducts, matrix products, batchedMatmul; before specification 4 repeated, multiplied and summed, softmax
    Options: `num_patch`, `num_heads`, `window_size`, `shift_size`, `num_mlp`, `qkv_bias`, `qk_scale`; of keras-unet-collection and keras-vision-transformer"""
    def __init__(self, dim, num_patch, num_heads, window_size=7, shift_size=0, num_mlp=1024, qkv_bias=True, qk_scale=None):
        super().__init__()
        self.size, self.window, self.shift = num_patch, window_size, shift_size
        if num_patch[0] % window_size or num_patch[1] % window_size or shift_size >= window_size:
            raise ValueError(f"window_size: {window_size} does not divide {num_patch[0]} × {num_patch[1]} patches")
        self.norm1 = LayerNormalization(epsilon=1e-5)
        self.attn = WindowAttention(dim, window_size, num_heads, qkv_bias, qk_scale)
        self.norm2 = LayerNormalization(epsilon=1e-5)
        self.fc1, self.fc2 = Dense(num_mlp, activation="gelu"), Dense(dim)
        self.count, self.places = num_patch[0] * num_patch[1] // window_size**2, window_size**2
        if shift_size:
            self.attn_mask = self.add_weight(shape=(self.count, self.places, self.places), trainable=False, name="mask")

    def mask(self):
        """−100 between places that were no neighbors before the image was shifted."""
        rows, columns = [
            np.array([0.0 if place < size - self.window else 1.0 if place < size - self.shift else 2.0 for place in range(size)])
            for size in self.size]
        window, (height, width) = self.window, self.size
        parts = np.reshape(3 * rows[:, None] + columns, (height // window, window, width // window, window))
        parts = np.reshape(np.transpose(parts, (0, 2, 1, 3)), (self.count, self.places))
        return -100 * np.minimum(np.abs(parts[:, :, None] - parts[:, None, :]), 1)

    def call(self, inputs):
        (height, width), window, channels = self.size, self.window, inputs.shape[2]
        x = grid(self.norm1(inputs), self.size)
        if self.shift:
            x = ops.roll(x, shift=(-self.shift, -self.shift), axis=(1, 2))
        x = ops.reshape(blocks(x, window), (-1, self.count, self.places, channels))
        x = self.attn(x, self.mask() if self.shift else np.zeros((1, self.places, self.places)))
        x = ops.reshape(x, (-1, height // window, width // window, self.places * channels))
        if window > 1:
            x = tf.nn.depth_to_space(x, window)
        if self.shift:
            x = ops.roll(x, shift=(self.shift, self.shift), axis=(1, 2))
        x = inputs + tokens(x)
        return x + self.fc2(self.fc1(self.norm2(x)))
