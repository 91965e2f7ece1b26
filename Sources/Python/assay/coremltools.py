"""Lets coremltools predict on systems without Core ML.

    import assay.coremltools
    import coremltools as ct

    ct.models.MLModel("model.mlmodel").predict({"x": numbers})

coremltools predicts through a native module that exists only on macOS. This module replaces it,
regardless of the order of the imports; on a Mac, it changes nothing.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import sys
import tempfile
import time
import types
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from ._library import AssayError, specification, warn_of
from .model import Model, State
from .options import Path

#: The newest specification version, and the macOS that coremltools checks before it uses its features.
_SPECIFICATION, _MACOS = specification()

_options: dict[str, Any] = {}


def configure(
    *, threads: int | None = None, plugins: Sequence[Path] = (), max_memory: int | None = None
) -> None:
    """Sets options of the models that coremltools loads from now on; `assay.Model` documents them."""
    _options.update(threads=threads, plugins=list(plugins), max_memory=max_memory)


def _unsupported(what: str) -> Any:
    def refuse(*_: Any) -> Any:
        raise NotImplementedError(f"assay.coremltools does not support {what}")

    return staticmethod(refuse)


class _MLModelProxy:
    """A model, with the interface of coremltools' native module."""

    def __init__(
        self,
        path: str,
        compute_units: str,
        function_name: str = "",
        optimization_hints: Mapping[str, str] | None = None,
        asset: _MLModelAssetProxy | None = None,
    ):
        start = time.perf_counter_ns()
        self._path = _source(path if asset is None else asset.path)
        self._model = Model(
            self._path, layout="coreml", function=function_name or None, **_options)
        # coremltools removes a temporary file after it has loaded it.
        self._file = None if os.path.isdir(self._path) else open(self._path, "rb")
        self._compiled: str | None = None
        self._load_duration = time.perf_counter_ns() - start
        self._predict_duration: int | None = None

    @staticmethod
    def maximum_supported_specification_version() -> int:
        return _SPECIFICATION

    @staticmethod
    def auto_set_specification_version(specification: bytes) -> bytes:
        return specification

    @staticmethod
    def compileModel(path: str) -> str:
        return _compiled(path)

    @staticmethod
    def create_model_asset_from_path(path: str) -> Any:
        return _asset(_source(path))

    @staticmethod
    def create_model_asset_from_memory(specification: bytes, blobs: Mapping[str, bytes]) -> Any:
        folder = _folder()
        model = os.path.join(folder, "model.mlmodel")
        if blobs:
            model = os.path.join(folder, "model.mlpackage")
            _write_package(model, specification, blobs)
        else:
            _write(model, specification)
        return _asset(model)

    @staticmethod
    def get_all_compute_devices() -> list[Any]:
        from coremltools.models.compute_device import MLCPUComputeDevice

        return [MLCPUComputeDevice(_MLCPUComputeDeviceProxy())]

    get_available_compute_devices = get_all_compute_devices
    get_model_structure = _unsupported("the structure of a compiled model (MLModelStructure)")
    get_compute_plan = _unsupported("compute plans (MLComputePlan)")

    def get_compiled_model_path(self) -> str:
        if self._compiled is None:
            self._compiled = _compiled(self._path, self._file)
        return self._compiled

    def predict(self, data: Mapping[str, Any], state: _MLStateProxy | None = None) -> dict[str, Any]:
        start = time.perf_counter_ns()
        try:
            outputs = self._model.predict(
                {name: self._input(name, value) for name, value in data.items()},
                None if state is None else state.state)
        except AssayError as error:
            kind = "ML Program" if self._model.type == "mlProgram" else "a neural network model"
            raise RuntimeError(f"Unable to compute the prediction using {kind}. {error}") from error
        self._predict_duration = time.perf_counter_ns() - start
        return {name: self._result(name, value) for name, value in outputs.items()}

    def _input(self, name: str, value: Any) -> Any:
        """Core ML takes fractions for integers, too."""
        feature = self._model.inputs.get(name)
        if feature is None or feature.dtype != np.int32 or np.asarray(value).dtype.kind != "f":
            return value
        whole = np.trunc(value)
        if np.any(whole != value):
            warn_of([f"{name}: declared as int32, so the fractions of its numbers are cut off"])
        return whole

    def _result(self, name: str, value: Any) -> Any:
        if self._model.outputs[name].kind != "image" or value.ndim > 3:
            return value
        import PIL.Image

        image = PIL.Image.fromarray(value)
        return image.convert("RGBA") if image.mode == "RGB" else image

    def batchPredict(self, batch: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [self.predict(data) for data in batch]

    def newState(self) -> _MLStateProxy:
        return _MLStateProxy(self._model.make_state())

    def get_load_duration_in_nano_seconds(self) -> int:
        return self._load_duration

    def get_last_predict_duration_in_nano_seconds(self) -> int | None:
        return self._predict_duration


class _MLModelAssetProxy:
    """A model that is loaded later."""

    def __init__(self, path: str):
        self.path = path


class _MLCPUComputeDeviceProxy:
    """The only device."""


class _MLStateProxy:
    """States, with the interface of coremltools' native module."""

    def __init__(self, state: State):
        self.state = state

    def read_state(self, name: str) -> np.ndarray:
        return self.state.read(name)

    def write_state(self, name: str, value: np.ndarray) -> None:
        self.state.write(name, value)


def _folder() -> str:
    """A new folder, which is deleted when the program ends."""
    folder = tempfile.mkdtemp(prefix="assay-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _write(path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def _write_package(path: str, specification: bytes, blobs: Mapping[str, bytes]) -> None:
    """A package of a model and the files that it names, such as `weights/weight.bin`."""
    folder = os.path.join(path, "Data", "com.apple.CoreML")
    _write(os.path.join(folder, "model.mlmodel"), specification)
    items = {"model": "model.mlmodel"}
    for name, content in blobs.items():
        parts = name.removeprefix("@model_path/").split("/")
        if not all(parts) or ".." in parts:
            raise RuntimeError(f"{name}: not a path inside a package")
        _write(os.path.join(folder, *parts), content)
        items[parts[0]] = parts[0]
    manifest = {
        "fileFormatVersion": "1.0.0",
        "itemInfoEntries": {
            key: {"author": "com.apple.CoreML", "name": name, "path": f"com.apple.CoreML/{name}"}
            for key, name in items.items()
        },
        "rootModelIdentifier": "model",
    }
    _write(os.path.join(path, "Manifest.json"), json.dumps(manifest).encode())


def _asset(path: str) -> Any:
    from coremltools.models.model import MLModelAsset

    return MLModelAsset(_MLModelAssetProxy(path))


def _compiled(path: str, file: BinaryIO | None = None) -> str:
    """A new folder `.mlmodelc` with a copy of the model, which is deleted when the program ends.

    Args:
        path: the model, a file or a package.
        file: the open file, which may have been removed.
    """
    folder = _folder()
    name, suffix = os.path.splitext(os.path.basename(os.path.normpath(path)))
    compiled = os.path.join(folder, name + ".mlmodelc")
    os.mkdir(compiled)
    target = os.path.join(compiled, "model" + suffix)
    if os.path.isdir(path):
        shutil.copytree(path, target)
    elif file is None:
        shutil.copyfile(path, target)
    else:
        file.seek(0)
        with open(target, "wb") as copy:
            shutil.copyfileobj(file, copy)
    return compiled


def _source(path: str) -> str:
    """The model in a folder that `_compiled` made; any other path unchanged.

    Raises:
        RuntimeError: if it is missing, or Core ML has compiled it.
    """
    if not os.path.exists(path):
        raise RuntimeError(f"{path}: no such file or folder")
    if os.path.splitext(os.path.normpath(path))[1] != ".mlmodelc":
        return path
    for name in ("model.mlmodel", "model.mlpackage"):
        if os.path.exists(os.path.join(path, name)):
            return os.path.join(path, name)
    raise RuntimeError(f"{path}: Core ML has compiled this model; load the .mlmodel or .mlpackage")


def _install() -> None:
    native = types.ModuleType("coremltools.libcoremlpython")
    for proxy in (_MLModelProxy, _MLModelAssetProxy, _MLCPUComputeDeviceProxy):
        setattr(native, proxy.__name__, proxy)
    # Nothing makes one of these, but coremltools asks whether something is one.
    for name in (
        "_MLComputePlanProxy",
        "_MLGPUComputeDeviceProxy",
        "_MLNeuralEngineComputeDeviceProxy",
    ):
        setattr(native, name, type(name, (), {}))
    sys.modules[native.__name__] = native

    import coremltools.models.utils as utils

    utils._is_macos = lambda: True
    utils._macos_version = lambda: _MACOS
    # Modules that were imported before have taken copies.
    for name, module in list(sys.modules.items()):
        if name != "coremltools" and not name.startswith("coremltools."):
            continue
        for attribute in ("_is_macos", "_macos_version"):
            if hasattr(module, attribute):
                setattr(module, attribute, getattr(utils, attribute))
        for attribute in vars(native):
            if attribute.endswith("Proxy") and getattr(module, attribute, native) is None:
                setattr(module, attribute, getattr(native, attribute))


if sys.platform != "darwin":
    _install()
