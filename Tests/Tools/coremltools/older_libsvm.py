"""A pytest plug-in: libsvm 3.23 with the module names that coremltools' tests import, and with the
functions that SciPy has left to NumPy since."""

import sys

import numpy
import scipy

for name in (
    "arange array asarray ascontiguousarray ctypeslib empty errstate ndarray where".split()
):
    setattr(scipy, name, getattr(numpy, name))

import libsvm.svm
import libsvm.svmutil

sys.modules["svm"] = libsvm.svm
sys.modules["svmutil"] = libsvm.svmutil
