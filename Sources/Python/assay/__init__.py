"""Converts networks to Core ML, runs and compares them on the CPU, on Linux and macOS.

    import assay

    model = assay.convert("model.h5", output="model.mlmodel")
    outputs = model.predict({"x": numpy.zeros((1, 3))})

`import assay.coremltools` lets coremltools predict on systems without Core ML.
"""

from ._library import AssayError, AssayWarning, version as _version
from .commands import compress, convert, diff, inspect
from .model import Feature, Model, State, load

__all__ = [
    "AssayError", "AssayWarning", "Feature", "Model", "State", "compress", "convert", "diff", "inspect",
    "load",
]
__version__ = _version()
