"""Models, their features and their states."""

from __future__ import annotations

import ctypes
import functools
import html
import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, Union, overload

import numpy as np

from . import _library, _values
from ._library import AssayError, call, library, warn
from .options import ConvertOptions, Path

if TYPE_CHECKING:
    from typing_extensions import Unpack

_Self = TypeVar("_Self", bound="_Owner")
Output = Union[np.ndarray, int, float, str, "dict[str, float]", "dict[int, float]"]

_KINDS = {1: "array", 2: "image", 3: "number", 4: "text", 5: "dictionary", 6: "other"}


@dataclass(frozen=True)
class Feature:
    """An input, an output or a state of a model."""

    name: str
    #: `array`, `image`, `number`, `text`, `dictionary`, or `other`.
    kind: str
    #: The type of the elements; None for texts, and for dictionaries by text.
    dtype: np.dtype | None
    #: The declared sizes in the order of `layout`, of an image height, width and channels; empty for
    #: any shape.
    shape: tuple[int, ...]
    #: Whether other shapes are possible, besides those of batches.
    is_flexible: bool
    #: Whether a prediction may lack it.
    is_optional: bool
    #: A letter for each axis of the framework that the model comes from, such as `NHWC`.
    layout: str | None
    #: What the author of the model says of it.
    description: str

    @classmethod
    def _read(cls, features: Any, count: int) -> dict[str, Feature]:
        return {
            feature.name.decode(): cls(
                name=feature.name.decode(),
                kind=_KINDS[feature.kind],
                dtype=_values.dtype(feature.type) if feature.type else None,
                shape=_values.shape(feature),
                is_flexible=bool(feature.is_flexible),
                is_optional=bool(feature.is_optional),
                layout=feature.layout.decode() if feature.layout else None,
                description=feature.description.decode(),
            )
            for feature in features[:count]
        }


class _Owner:
    """What the library keeps in memory until it is closed, by a `with` block too, or deleted."""

    def _own(self, handle: int, release: Any) -> None:
        self._handle = handle
        self._finalizer = weakref.finalize(self, release, handle)
        # At exit, arrays may outlive it.
        self._finalizer.atexit = False

    def close(self) -> None:
        """Frees the memory; what was predicted stays valid."""
        self._finalizer()

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Model(_Owner):
    """A model that predicts.

    Predictions from several threads run at the same time if the model has one thread; otherwise one
    after the other, each on all of the model's threads. A copied or unpickled model is opened again.

    Args:
        path: an `.mlmodel`, an `.mlpackage`, or a Keras, Caffe or Darknet network, which is
            converted in memory; or the bytes of such a file.
        weights: the weights file of a source network, if it is separate.
        threads: the number of threads per prediction; None for one per core.
        layout: the order of the axes of arrays: `source` for that of the source framework, if the
            model records it, or `coreml`.
        plugins: libraries with custom layers.
        max_memory: the limit in bytes for weights, arrays and working memory together; None for 80 %
            of the machine's memory.
        function: the function of an ML Program; None for the default one.
        resize: what to do with an image of another size than the model's: `squash`, `center-crop`,
            `fit`, or `exact`, which refuses it; None for what the model records, otherwise `exact`.

    Raises:
        AssayError: if the model or a plug-in cannot be used.
    """

    def __init__(
        self,
        path: Path | bytes,
        *,
        weights: Path | None = None,
        threads: int | None = None,
        layout: str = "source",
        plugins: Sequence[Path] = (),
        max_memory: int | None = None,
        function: str | None = None,
        resize: str | None = None,
    ):
        if layout not in _library.LAYOUTS:
            raise ValueError(f"layout is {layout!r}, not one of {', '.join(_library.LAYOUTS)}")
        if weights is not None:
            weights = os.path.abspath(weights)
        plugins = [os.path.abspath(plugin) for plugin in plugins]
        # What opens the model again, in another folder too.
        self._source = path if isinstance(path, bytes) else os.path.abspath(path)
        self._options: dict[str, Any] = {
            "weights": weights, "threads": threads, "layout": layout, "plugins": plugins,
            "max_memory": max_memory, "function": function, "resize": resize,
        }
        names = (ctypes.c_char_p * len(plugins))(*map(_values.path, plugins))
        options = _library.Options(
            size=ctypes.sizeof(_library.Options),
            threads=threads or 0,
            layout=_library.LAYOUTS[layout],
            weights=None if weights is None else _values.path(weights),
            plugins=names,
            plugin_count=len(plugins),
            max_memory=max_memory or 0,
            function=None if function is None else function.encode(),
            resize=None if resize is None else resize.encode(),
        )
        self._own(_open(path, options), library.assay_close)
        warn(self._handle)
        #: What `assay.compress` reports of the model that it has written; otherwise None.
        self.report: dict[str, Any] | None = None
        description = library.assay_describe(self._handle).contents
        #: The type as the specification names it, such as `neuralNetworkClassifier`.
        self.type: str = description.type.decode()
        #: The inputs by name, in the model's order.
        self.inputs = Feature._read(description.inputs, description.input_count)
        #: The outputs by name, in the model's order.
        self.outputs = Feature._read(description.outputs, description.output_count)
        #: The states that predictions pass on.
        self.states = Feature._read(description.states, description.state_count)

    @overload
    def predict(self, inputs: Mapping[str, Any], state: State | None = None) -> dict[str, Output]: ...

    @overload
    def predict(
        self, inputs: Sequence[Mapping[str, Any]], state: State | None = None
    ) -> list[dict[str, Output]]: ...

    def predict(self, inputs: Any, state: State | None = None) -> Any:
        """Returns the outputs by name; for a list of inputs, a list of them.

        Args:
            inputs: values by name: an array or anything that NumPy converts to one, a PIL image, a
                number, a string, or a dictionary of numbers. C-ordered arrays of 32-bit floats are
                not copied.
            state: the state that the prediction reads and updates; None for the initial state.

        Returns:
            Arrays of the declared types (32-bit floats are not copied); images as bytes
            `[height, width]` or `[height, width, 3]` in RGB order; numbers, strings, dictionaries.

        Raises:
            AssayError: if the inputs do not fit the model, or the model cannot be run.
        """
        if not isinstance(inputs, Mapping):
            return [self.predict(one, state) for one in inputs]
        images = [name for name, feature in self.inputs.items() if feature.kind == "image"]
        given = _values.Inputs(inputs, images)
        prediction = _Prediction(
            call(
                "assay_predict", self._handle, given.array, given.count,
                None if state is None else state._handle))
        warn(prediction._handle)
        return prediction.outputs()

    def make_state(self) -> State:
        """Returns new states with their initial values.

        Raises:
            AssayError: if the model has no states.
        """
        return State(self)

    def save(self, path: Path, **options: Unpack[ConvertOptions]) -> None:
        """Writes the model to an `.mlmodel`, `.mlpackage` or `.onnx`.

        It is the same file, or what `assay.convert` makes of it if the ending is another one or there
        are options.

        Raises:
            AssayError: if it cannot be converted.
            OSError: if it cannot be written; a package that is there already is not replaced.
        """
        source, suffix = self._source, os.path.splitext(path)[1]
        if isinstance(source, bytes):
            is_network = source.startswith((b"\x89HDF", b"PK"))
            ending = ".h5" if is_network else ".mlmodel"
        else:
            ending = os.path.splitext(source)[1]
        if options or ending != suffix:
            from .commands import convert

            convert(self, output=path, **options)
        elif isinstance(source, bytes):
            with open(path, "wb") as file:
                file.write(source)
        elif os.path.isdir(source):
            shutil.copytree(source, path)
        else:
            shutil.copyfile(source, path)

    def __reduce__(self) -> Any:
        return functools.partial(type(self), **self._options), (self._source,)

    def _repr_html_(self) -> str:
        """A table of the inputs, outputs and states, for notebooks."""
        rows = [
            (role, name, feature.kind, feature.dtype or "", feature.layout or "",
             " × ".join(map(str, feature.shape)), feature.description)
            for role, features in (
                ("input", self.inputs), ("output", self.outputs), ("state", self.states))
            for name, feature in features.items()
        ]
        cells = ["".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) for row in rows]
        return f"<table><caption>{self.type}</caption><tr>{'</tr><tr>'.join(cells)}</tr></table>"

    def __repr__(self) -> str:
        return f"<assay.Model {self.type}: {', '.join(self.inputs)} → {', '.join(self.outputs)}>"


class State(_Owner):
    """The states that one prediction passes to the next. Only one prediction at a time may use it."""

    def __init__(self, model: Model):
        self._own(call("assay_state_create", model._handle), library.assay_state_destroy)

    def read(self, name: str) -> np.ndarray:
        """Returns a copy of a state's value.

        Raises:
            AssayError: if the state does not exist, or has no value yet.
        """
        value = call("assay_state_read", self._handle, name.encode()).contents
        return np.array(_values.result(value, None))

    def write(self, name: str, value: Any) -> None:
        """Copies a value to a state.

        Raises:
            AssayError: if the state does not exist, or has another shape.
        """
        call("assay_state_write", self._handle, _values.Inputs({name: value}).array)

    def __reduce__(self) -> Any:
        raise TypeError(
            "states cannot be copied or pickled: read their values, and write them to others")


class _Prediction(_Owner):
    """The memory of the outputs, which is released with the last array that refers to it."""

    def __init__(self, handle: int):
        self._own(handle, library.assay_release)

    def __reduce__(self) -> Any:
        raise TypeError("the memory of a prediction cannot be copied or pickled, but its arrays can")

    def outputs(self) -> dict[str, Output]:
        count = ctypes.c_size_t()
        values = library.assay_outputs(self._handle, ctypes.byref(count))
        return {
            value.name.decode(): _values.result(value, self) for value in values[: count.value]
        }


def _open(path: Path | bytes, options: Any) -> int:
    """The handle of the model in a file, or of the bytes of one."""
    if not isinstance(path, bytes):
        return call("assay_open", _values.path(path), ctypes.byref(options))
    with tempfile.NamedTemporaryFile(prefix="assay-") as file:
        file.write(path)
        file.flush()
        try:
            return call("assay_open", _values.path(file.name), ctypes.byref(options))
        except AssayError as error:
            raise AssayError(str(error).replace(file.name, "the bytes")) from None


def load(path: Path | bytes, **options: Any) -> Model:
    """Opens the model in a file or its bytes; `Model` documents the options.

    Raises:
        AssayError: if the model cannot be used.
    """
    return Model(path, **options)
