"""A pytest plug-in: coremltools predicts with Assay.

`--every N` runs the first of each N tests of each test function, which gives the same tests each time.
`--upgrade TARGET` turns each neural network into an ML Program before it predicts, with the command
that ASSAY names; tests of networks that cannot become one are skipped.
"""

import os
import subprocess
import tempfile

import assay.coremltools
import coremltools._deps
import pytest

# The helpers of the tests predict only where this says so; they read it when they are imported.
coremltools._deps._IS_MACOS = True

NETWORKS = {"neuralNetwork", "neuralNetworkClassifier", "neuralNetworkRegressor"}


def pytest_addoption(parser):
    parser.addoption("--every", type=int, default=1, metavar="N", help="run one of N tests")
    parser.addoption("--upgrade", metavar="TARGET", help="predict with ML Programs for this system")


def pytest_configure(config):
    target = config.getoption("upgrade")
    if not target:
        return
    load = assay.coremltools.Model

    def upgraded(path, **settings):
        if load(path, **settings).type not in NETWORKS:
            return load(path, **settings)
        with tempfile.TemporaryDirectory() as folder:
            package = os.path.join(folder, "model.mlpackage")
            command = [os.environ["ASSAY"], "convert", path, "-o", package, "--target", target, "-q"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                pytest.skip(done.stderr.strip()[:400])
            return load(package, **settings)

    assay.coremltools.Model = upgraded


def pytest_collection_modifyitems(config, items):
    every = config.getoption("every")
    counts = {}
    selected, others = [], []
    for item in items:
        function = item.nodeid.split("[")[0]
        count = counts.get(function, 0)
        counts[function] = count + 1
        (others if count % every else selected).append(item)
    items[:] = selected
    config.hook.pytest_deselected(items=others)
