import keras

from heads_helper import normalized


class Heads(keras.layers.Layer):
    """Several results of one tensor; a function of another file computes each."""

    def __init__(self, sizes, **kwargs):
        super().__init__(**kwargs)
        self.sizes = sizes
        self.heads = {name: keras.layers.Dense(size, name=name) for name, size in sizes.items()}

    def call(self, inputs):
        return [normalized(self.heads[name](inputs), order=2) for name in sorted(self.sizes)]

    def get_config(self):
        return {**super().get_config(), "sizes": dict(self.sizes)}
