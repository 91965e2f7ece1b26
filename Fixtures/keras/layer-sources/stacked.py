import tensorflow as tf
from tensorflow.keras.layers import BatchNormalization, Conv1D, Dense, Dropout, Flatten, Layer
from tensorflow.keras.models import Sequential


class Crop(Layer):
    def __init__(self, count=1, **kwargs):
        super(Crop, self).__init__(**kwargs)
        self.count = count

    def call(self, x):
        return x[:, self.count:-self.count]


def build_model(width=8, dilations=(1, 2, 4), classes=2):
    model = Sequential()
    for i, dilation in enumerate(dilations):
        options = {"input_shape": (20, 3)} if i == 0 else {}
        model.add(Conv1D(width, 3, dilation_rate=dilation, padding="causal", activation="relu", **options))
        if dilation > 1:
            model.add(BatchNormalization())
    model.add(Crop(2))
    model.add(Flatten())
    model.add(Dropout(0.5))
    model.add(Dense(classes, activation="softmax" if classes > 1 else "sigmoid"))
    return model
