"""A pytest plug-in: coremltools predicts with Assay.

`--every N` runs the first of each N tests of each test function, which gives the same tests each time.
"""

import assay.coremltools  # noqa: F401
import coremltools._deps

# The helpers of the tests predict only where this says so; they read it when they are imported.
coremltools._deps._IS_MACOS = True


def pytest_addoption(parser):
    parser.addoption("--every", type=int, default=1, metavar="N", help="run one of N tests")


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
