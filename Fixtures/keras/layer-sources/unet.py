from tensorflow.keras.layers import (
    BatchNormalization, Activation, Concatenate, Conv2D, Conv2DTranspose, Input, MaxPooling2D)
from tensorflow.keras.models import Model

WIDTHS = {"small": 4, "large": 16}


def block(x, filters, normalize=True, **options):
    for _ in range(2):
        x = Conv2D(filters, (3, 3), padding="same", use_bias=not normalize, **options)(x)
        if normalize:
            x = BatchNormalization()(x)
        x = Activation("relu")(x)
    return x


def build_unet(shape=(16, 16, 3), size="large", depth=3, classes=1):
    """Halves the size `depth` times, and doubles it again beside what was there."""
    width = WIDTHS[size]
    inputs = Input(shape)
    x, kept = inputs, []
    for level in range(depth):
        x = block(x, width * 2 ** level)
        kept.append(x)
        x = MaxPooling2D((2, 2))(x)
    x = block(x, width * 2 ** depth, normalize=False)
    for level, skip in zip(reversed(range(depth)), kept[::-1]):
        x = Conv2DTranspose(width * 2 ** level, 2, strides=2, padding="same")(x)
        x = block(Concatenate()([x, skip]), width * 2 ** level)
    outputs = Conv2D(classes, 1, activation="sigmoid" if classes == 1 else "softmax")(x)
    return Model(inputs=[inputs], outputs=[outputs], name="unet")
