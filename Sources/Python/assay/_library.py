"""The functions and structures of libassay; `assay.h` documents them."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import warnings
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p

KIND_ARRAY, KIND_IMAGE, KIND_NUMBER, KIND_TEXT, KIND_DICTIONARY = 1, 2, 3, 4, 5
TYPE_UINT8 = ord("u") << 8 | 1
LAYOUTS = {"source": 0, "coreml": 1}


class AssayError(RuntimeError):
    """An invalid file, input or option, with the error message of the command `assay`."""


class AssayWarning(UserWarning):
    """A part or a value of a model that is legal, but probably a mistake."""


class Value(ctypes.Structure):
    """`assay_value`"""

    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("kind", c_int32),
        ("type", c_int32),
        ("data", c_void_p),
        ("rank", c_size_t),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("text_keys", POINTER(c_char_p)),
        ("number_keys", POINTER(c_int64)),
    ]


class FeatureStructure(ctypes.Structure):
    """`assay_feature`"""

    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("description", c_char_p),
        ("kind", c_int32),
        ("type", c_int32),
        ("rank", c_size_t),
        ("shape", POINTER(c_int64)),
        ("is_flexible", c_int32),
        ("is_optional", c_int32),
        ("layout", c_char_p),
    ]


class Description(ctypes.Structure):
    """`assay_description`"""

    _fields_ = [
        ("size", c_size_t),
        ("type", c_char_p),
        ("inputs", POINTER(FeatureStructure)),
        ("input_count", c_size_t),
        ("outputs", POINTER(FeatureStructure)),
        ("output_count", c_size_t),
        ("states", POINTER(FeatureStructure)),
        ("state_count", c_size_t),
    ]


class Options(ctypes.Structure):
    """`assay_options`"""

    _fields_ = [
        ("size", c_size_t),
        ("threads", c_int32),
        ("layout", c_int32),
        ("weights", c_char_p),
        ("plugins", POINTER(c_char_p)),
        ("plugin_count", c_size_t),
        ("max_memory", c_uint64),
        ("function", c_char_p),
        ("resize", c_char_p),
    ]


# What the caller frees comes as an address, since ctypes would copy a string and lose it.
_ERROR = POINTER(c_void_p)
_FUNCTIONS = {
    "assay_version": (c_char_p, []),
    "assay_specification_version": (c_int32, [POINTER(c_char_p)]),
    "assay_open": (c_void_p, [c_char_p, POINTER(Options), _ERROR]),
    "assay_close": (c_int, [c_void_p]),
    "assay_describe": (POINTER(Description), [c_void_p]),
    "assay_warnings": (c_char_p, [c_void_p]),
    "assay_predict": (c_void_p, [c_void_p, POINTER(Value), c_size_t, c_void_p, _ERROR]),
    "assay_outputs": (POINTER(Value), [c_void_p, POINTER(c_size_t)]),
    "assay_release": (c_int, [c_void_p]),
    "assay_state_create": (c_void_p, [c_void_p, _ERROR]),
    "assay_state_read": (POINTER(Value), [c_void_p, c_char_p, _ERROR]),
    "assay_state_write": (c_int, [c_void_p, POINTER(Value), _ERROR]),
    "assay_state_destroy": (c_int, [c_void_p]),
    "assay_free": (None, [c_void_p]),
}


def _load() -> ctypes.CDLL:
    suffix = "dylib" if sys.platform == "darwin" else "so"
    beside = os.path.join(os.path.dirname(__file__), f"libassay.{suffix}")
    library = ctypes.CDLL(os.environ.get("ASSAY_LIBRARY", beside))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


library = _load()


def call(name: str, *arguments):
    """Calls a function whose last argument receives an error.

    Raises:
        AssayError: if it fails.
    """
    error = c_void_p()
    result = getattr(library, name)(*arguments, ctypes.byref(error))
    if error.value:
        text = ctypes.string_at(error.value).decode()
        library.assay_free(error)
        raise AssayError(text)
    return result


def version() -> str:
    """The version of the library."""
    return library.assay_version().decode()


def specification() -> tuple[int, tuple[int, int]]:
    """The newest specification version that runs, and the first macOS that loads it."""
    systems = c_char_p()
    number = library.assay_specification_version(ctypes.byref(systems))
    major = re.search(r"macOS (\d+)", systems.value.decode())
    return number, (int(major.group(1)), 0)


def warn(handle: int) -> None:
    """Warns of what the library found when it opened a model or made a prediction."""
    text = library.assay_warnings(handle)
    if text:
        warn_of(text.decode().split("\n"))


def warn_of(lines: list[str]) -> None:
    """Warns the caller of this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    for line in lines:
        warnings.warn(line, AssayWarning, stacklevel=level)
