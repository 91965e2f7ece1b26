#!/usr/bin/env python3
"""Compares Assay with Keras 3 on the networks that Keras's own layer tests describe.

    python3 Tests/Tools/keras_layer_tests.py ASSAY [--only TEXT] [--format keras|h5] [--keep FOLDER]
"""
import argparse, collections, contextlib, glob, importlib, inspect, io, json, os, re, subprocess, sys, tempfile, unittest

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0", CUDA_VISIBLE_DEVICES="-1", KERAS_BACKEND="tensorflow")
import keras, numpy as np
from keras.src import testing, tree
from keras.src.testing import test_case
from wild import enliven


def tests():
    """The tests of the installed Keras that call run_layer_test."""
    root = os.path.dirname(keras.__file__)
    for path in sorted(glob.glob(f"{root}/src/layers/**/*_test.py", recursive=True)):
        with open(path) as f:
            if "run_layer_test" not in f.read(): continue
        module = importlib.import_module(os.path.relpath(path, os.path.dirname(root))[:-3].replace(os.sep, "."))
        for case in unittest.defaultTestLoader.loadTestsFromModule(module):
            for test in case:
                if "run_layer_test" in inspect.getsource(inspect.unwrap(getattr(type(test), test._testMethodName))):
                    yield test


class Recorder:
    def __init__(self):
        self.calls = []
        self.test = None

    def __call__(self, test, layer_cls, init_kwargs, input_shape=None, input_dtype=None, input_sparse=False, input_ragged=False,
                 input_data=None, call_kwargs=None, **_):
        self.calls.append((test.id(), layer_cls, init_kwargs, input_shape, input_dtype, input_sparse, input_ragged, input_data, call_kwargs))


r = Recorder()
testing.TestCase.run_layer_test = lambda *a, **k: r(*a, **k)
n = 0
for t in tests():
    n += 1
    res = unittest.TestResult()
    t.run(res)
    if res.skipped: print("skipped", t.id(), res.skipped[0][1])
    if (res.errors or res.failures): print("E", t.id(), (res.errors+res.failures)[0][1].strip().splitlines()[-1][:200])
print(n, len(r.calls))
import collections
c = collections.Counter(x[1].__name__ for x in r.calls)
print(c)
print("sparse/ragged", sum(bool(x[5] or x[6]) for x in r.calls), "no input", sum(x[3] is None and x[7] is None for x in r.calls))
