"""Predicts with Core ML models on the CPU, on Linux and macOS.

    import assay

    model = assay.load("model.mlmodel")
    outputs = model.predict({"x": numpy.zeros((1, 3))})

`import assay.coremltools` lets coremltools predict on systems without Core ML.
"""

from ._library import AssayError, AssayWarning, version as _version
from .model import Feature, Model, State, load

__all__ = ["AssayError", "AssayWarning", "Feature", "Model", "State", "load"]
__version__ = _version()
