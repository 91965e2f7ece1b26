#!/usr/bin/env python3
"""Writes small networks of Keras 1.2.2 with Theano's predictions, in both orders of the axes.

    make_theano.py [th|tf]

Needs Python 3.6 with keras 1.2.2, Theano 1.0.5 and h5py 2. The attribute `backend`, which that Keras
does not write, is added.
"""
import os
import sys

ORDER = (sys.argv[1:] or ["th"])[0]
os.environ["KERAS_BACKEND"] = "theano"
os.environ["THEANO_FLAGS"] = "cxx=,optimizer=fast_compile,mode=FAST_COMPILE,device=cpu,floatX=float32"
import h5py
import numpy as np
from keras import backend as K
K.set_image_dim_ordering(ORDER)
from keras import layers as L
from keras.layers import advanced_activations as A
from keras.models import Sequential

HERE = os.path.dirname(os.path.abspath(__file__))
CHANNELS, ROWS = (1, [2, 3]) if ORDER == "th" else (-1, [1, 2])


def image(channels, height, width):
    return (channels, height, width) if ORDER == "th" else (height, width, channels)


def save(name, layers, integers=False):
    generator = np.random.RandomState(len(name))
    model = Sequential(layers)
    model.set_weights([
        (w + generator.uniform(0.1, 0.5, w.shape) if np.all(w == w.flat[0]) else w).astype("float32")
        for w in model.get_weights()])
    shape = (1,) + model.input_shape[1:]
    array = (generator.randint(1, 20, shape) if integers else generator.uniform(-1, 1, shape)).astype("float32")
    path = os.path.join(HERE, "theano-%s_%s" % (ORDER, name))
    np.savez(path + ".inputs.npz", input1=array)
    np.savez(path + ".expected.npz", output1=model.predict(array, batch_size=1))
    model.save(path + ".h5")
    with h5py.File(path + ".h5", "a") as file:
        file.attrs["backend"] = b"theano"


save("batch_statistics", [
    L.Convolution2D(4, 3, 3, input_shape=image(2, 8, 8)), L.BatchNormalization(mode=2, axis=CHANNELS),
    L.Activation("relu")])
# Keras 1 writes neither the axes that share an alpha nor the order of the axes of UpSampling2D.
save("prelu", [L.Convolution2D(4, 3, 2, input_shape=image(2, 6, 5)), A.PReLU(),
               A.PReLU(shared_axes=ROWS)])
save("upsampling", [L.Convolution2D(3, 3, 3, input_shape=image(2, 6, 5)), L.UpSampling2D((2, 3)),
                    L.Convolution2D(2, 2, 2)])
save("local", [L.LocallyConnected2D(3, 3, 2, input_shape=image(2, 6, 5))])
save("deconvolution", [L.Convolution2D(4, 3, 3, input_shape=image(2, 6, 6)),
                       L.Deconvolution2D(2, 3, 3, output_shape=(None,) + image(2, 6, 6))])
if ORDER == "th":
    save("recurrent", [L.Embedding(20, 6, input_length=7), L.LSTM(5, return_sequences=True), L.GRU(4),
                       L.Dense(3)], integers=True)
    save("sequence", [L.Convolution1D(4, 3, input_shape=(9, 3)), L.MaxPooling1D(2), L.Bidirectional(L.LSTM(3)),
                      L.Highway(), L.MaxoutDense(3)])
