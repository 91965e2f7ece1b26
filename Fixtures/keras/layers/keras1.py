#!/usr/bin/env python3
"""Writes one small network for each layer that only Keras 1 has, and for those that it stores
incompletely, with its own prediction.

    keras1.py

`keras1/NAME.h5` is made by Keras 1.2.2, `NAME.inputs.npz` beside it holds the input `input1`,
`NAME.expected.npz` the prediction `output1`. Needs keras==1.2.2 without its dependencies,
Theano-PyMC==1.1.2, numpy==1.23.5, h5py, pyyaml and six; the names below are those that Keras 1
expects of older versions of Python, NumPy and Theano. The files are committed, so that tests need
none of this.
"""
import collections
import collections.abc
import inspect
import os

os.environ["KERAS_BACKEND"] = "theano"
os.environ["THEANO_FLAGS"] = "cxx=,optimizer=fast_compile,floatX=float32"
import numpy as np
import numpy.distutils.__config__

Arguments = collections.namedtuple("ArgSpec", "args varargs keywords defaults")
inspect.getargspec = lambda f: Arguments(*inspect.getfullargspec(f)[:4])
collections.Iterable = collections.abc.Iterable
collections.Callable = collections.abc.Callable
numpy.distutils.__config__.blas_opt_info = {}
import theano.sandbox.rng_mrg

theano.sandbox.rng_mrg.MRG_RandomStreams = theano.sandbox.rng_mrg.MRG_RandomStream
from keras import backend
from keras.layers import Highway, MaxoutDense
from keras.layers.advanced_activations import ParametricSoftplus, PReLU, SReLU
from keras.models import Sequential

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keras1")
backend.set_image_dim_ordering("tf")


def write(name, layer, shape):
    random = np.random.RandomState(len(name))
    model = Sequential([layer])
    for weight in model.weights:
        # With a negative slope on the left, SReLU depends on the backend: Theano bounds what is left.
        least = 0 if "a_left" in weight.name else -1
        weight.set_value(random.uniform(least, 1, weight.get_value().shape).astype("float32"))
    x = random.uniform(-2, 2, (3,) + shape).astype("float32")
    path = os.path.join(FOLDER, name)
    model.save(path + ".h5")
    np.savez(path + ".inputs.npz", input1=x)
    np.savez(path + ".expected.npz", output1=model.predict(x))


os.makedirs(FOLDER, exist_ok=True)
image = (3, 4, 5)
write("highway", Highway(activation="tanh", input_shape=(5,)), (5,))
write("highway_without_bias", Highway(bias=False, input_shape=(5,)), (5,))
write("maxout", MaxoutDense(3, nb_feature=4, input_shape=(5,)), (5,))
write("maxout_without_bias", MaxoutDense(3, nb_feature=1, bias=False, input_shape=(5,)), (5,))
write("parametric_softplus", ParametricSoftplus(input_shape=(5,)), (5,))
write("parametric_softplus_of_image", ParametricSoftplus(input_shape=image), image)
# Keras 1 does not store which axes share a weight.
write("prelu_of_channels", PReLU(shared_axes=[1, 2], input_shape=image), image)
write("prelu_of_rows", PReLU(shared_axes=[2, 3], input_shape=image), image)
write("srelu", SReLU(input_shape=(5,)), (5,))
write("srelu_of_image", SReLU(input_shape=image), image)
write("srelu_of_channels", SReLU(shared_axes=[1, 2], input_shape=image), image)
