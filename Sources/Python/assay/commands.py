"""The commands `convert`, `diff`, `compress` and `inspect`, which the program `assay` runs."""

from __future__ import annotations

import atexit
import json
import numbers
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._library import AssayError, warn_of
from .model import Model
from .options import CompressOptions, ConvertOptions, DiffOptions, InspectOptions, Path

if TYPE_CHECKING:
    from typing_extensions import Unpack


def convert(
    network: Any, weights: Path | None = None, *, output: Path | None = None,
    **options: Unpack[ConvertOptions],
) -> Model:
    """Converts a Keras, Caffe or Darknet network to Core ML or ONNX, or an `.mlmodel` to an ML Program.

    Args:
        network: the file, or a Keras model.
        weights: the file of its weights, if that is a separate one.
        output: the `.mlmodel`, `.mlpackage` or `.onnx` to write; None for a temporary `.mlmodel` or
            `.mlpackage`, which is deleted when the program ends.
        options: those of the command; `assay.options` lists them.

    Returns:
        The written model; None for ONNX, which only other programs run.

    Raises:
        AssayError: if the network cannot be converted, or its predictions are not the expected ones.
    """
    is_program = isinstance(network, Model) or os.path.splitext(str(network))[1].startswith(".ml")
    path = output or _temporary(".mlpackage" if is_program else ".mlmodel")
    _run("convert", ConvertOptions, [network, weights], dict(options, output=path))
    if os.path.splitext(path)[1] == ".onnx":
        return None  # type: ignore[return-value]
    return Model(path, plugins=_list(options.get("plugin")))


def compress(
    model: Any, weights: Path | None = None, *, output: Path | None = None,
    **options: Unpack[CompressOptions],
) -> Model:
    """Stores a model's weights in fewer bits. The report of the result has the sizes and the errors.

    Args:
        model: a model, its file, or a source network.
        weights: the file of its weights, if that is a separate one.
        output: the file to write; None for a temporary one.
        options: those of the command.

    Raises:
        AssayError: if that is not possible.
    """
    source = model._source if isinstance(model, Model) else model
    is_package = isinstance(source, (str, os.PathLike)) and os.path.isdir(source)
    path = output or _temporary(".mlpackage" if is_package else ".mlmodel")
    report = _run("compress", CompressOptions, [model, weights], dict(options, output=path))
    result = Model(path, plugins=_list(options.get("plugin")))
    result.report = json.loads(report)
    return result


def diff(model: Any, *others: Any, **options: Unpack[DiffOptions]) -> dict[str, Any]:
    """Compares predictions with expected ones, or two models.

        assay.diff(model, {"x": x}, expected={"y": y})
        assay.diff("old.mlmodel", "new.mlmodel", "images")

    Args:
        model: a model, or its file.
        others: the inputs, which are files or a table of arrays and images by name; or another model,
            and perhaps its inputs.
        options: those of the command.

    Returns:
        What `--json` prints; `matches` says whether the predictions agree.

    Raises:
        AssayError: if they cannot be compared.
    """
    return json.loads(_run("diff", DiffOptions, [model, *others], options, accepted=(0, 1)))


def inspect(
    model: Any, weights: Path | None = None, **options: Unpack[InspectOptions]
) -> dict[str, Any]:
    """The interface, layers and parameters of a model: what `--json` prints.

    Raises:
        AssayError: if it cannot be read.
    """
    return json.loads(_run("inspect", InspectOptions, [model, weights], options))


def program() -> str:
    """The path of the program.

    Raises:
        AssayError: if it is missing.
    """
    beside = os.path.join(os.path.dirname(__file__), "assay")
    found = os.environ.get("ASSAY_PROGRAM") or (
        beside if os.path.exists(beside) else shutil.which("assay"))
    if found:
        return found
    raise AssayError("the program assay is neither in this package nor in PATH\n"
                     "hint: set ASSAY_PROGRAM to its path")


def _run(
    command: str, table: Any, words: Sequence[Any], options: Mapping[str, Any], accepted: Any = (0,)
) -> str:
    """What the command prints."""
    known = table.__optional_keys__ | {"output"}
    for name in options:
        if name not in known:
            raise TypeError(f"{command}() got an unexpected keyword argument {name!r}")
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        line = [program(), command]
        for name, value in options.items():
            flag = "--" + name.rstrip("_").replace("_", "-")
            if value is True:
                line.append(flag)
            elif value is not None and value is not False:
                line += [f"{flag}={text}" for text in _values(name, value, folder)]
        if command != "convert":
            line.append("--json")
        line += ["--", *(text for word in words for text in _words(word, folder))]
        process = subprocess.run(
            line, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace")
        messages = process.stderr.replace(folder + os.sep, "")
    messages = re.sub(r"^(?:Help|Usage): .*\n|^  See '.*\n", "", messages, flags=re.M)
    # A Python program gives keyword arguments.
    for name in sorted(known, key=len, reverse=True):
        flag = "--" + name.rstrip("_").replace("_", "-")
        messages = re.sub(re.escape(flag) + r"(?![a-z0-9-])", name, messages)
    parts = re.split(r"^(?=error: |warning: )", messages.strip("\n"), flags=re.M)
    if process.returncode not in accepted:
        errors = [part[len("error: "):].strip("\n") for part in parts if part.startswith("error: ")]
        raise AssayError("\n".join(errors) or process.stdout.strip("\n") or messages)
    warn_of([part[len("warning: "):].strip("\n") for part in parts if part.startswith("warning: ")])
    return process.stdout


def _values(name: str, value: Any, folder: str) -> list[str]:
    """The values of an option, in the order of its repetitions."""
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    is_content = is_list or hasattr(value, "items") or hasattr(value, "shape")
    if name == "inputs":
        return _words(value, folder)
    if name in ("expected", "layers", "table") and is_content:
        return [_array_file(value, folder)]
    if name in ("labels", "custom_layers") and is_content:
        path = _new(folder, ".json")
        with open(path, "w") as file:
            json.dump(value, file)
        return [path]
    if isinstance(value, Mapping):
        return [f"{key}={text}" for key, one in value.items() for text in _values("", one, folder)]
    if is_list and all(one is None or isinstance(one, numbers.Number) for one in value):
        return [",".join("?" if one is None else str(one) for one in value)]
    if is_list:
        return [text for one in value for text in _values("", one, folder)]
    return [os.fspath(value) if isinstance(value, os.PathLike) else str(value)]


def _words(word: Any, folder: str) -> list[str]:
    """What names a model or inputs on the command line; values become files in the folder."""
    if word is None:
        return []
    if isinstance(word, (str, os.PathLike)):
        return [os.fspath(word)]
    if isinstance(word, Model):
        return _words(word._source, folder) + _words(word._options["weights"], folder)
    if isinstance(word, bytes):
        path = _new(folder, "")
        with open(path, "wb") as file:
            file.write(word)
        return [path]
    if isinstance(word, Mapping):
        return [f"{name}={text}" for name, value in word.items() for text in _words(value, folder)]
    if isinstance(word, Sequence) and all(isinstance(one, (str, os.PathLike)) for one in word):
        return [os.fspath(one) for one in word]
    if hasattr(word, "save"):  # A PIL image, or a Keras model.
        path = _new(folder, ".png" if hasattr(word, "mode") else ".keras")
        word.save(path)
        return [path]
    return [_array_file(word, folder)]


def _array_file(arrays: Any, folder: str) -> str:
    if isinstance(arrays, Mapping):
        path = _new(folder, ".npz")
        np.savez(path, **{name: np.asarray(array) for name, array in arrays.items()})
    else:
        path = _new(folder, ".npy")
        np.save(path, np.asarray(arrays))
    return path


def _list(paths: Any) -> list[Path]:
    return [paths] if isinstance(paths, (str, os.PathLike)) else list(paths or ())


def _new(folder: str, suffix: str) -> str:
    return os.path.join(folder, f"{len(os.listdir(folder)) + 1}{suffix}")


def _temporary(suffix: str) -> str:
    folder = tempfile.mkdtemp(prefix="assay-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return os.path.join(folder, "model" + suffix)
