"""Converts Python values to values of the library and back."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from . import _library
from ._library import Value


class Inputs:
    """Input values by name, with everything that they refer to.

    Args:
        images: the names of the inputs that are images, for which arrays of bytes are images, too.
    """

    def __init__(self, values: Mapping[str, Any], images: Collection[str] = ()):
        self._owners: list[Any] = []
        self.count = len(values)
        self.array = (Value * self.count)()
        for place, (name, value) in zip(self.array, values.items()):
            self._fill(place, name, value)
            if name in images and place.type == _library.TYPE_UINT8 and place.rank in (2, 3):
                place.kind = _library.KIND_IMAGE

    def _fill(self, place: Value, name: str, value: Any) -> None:
        place.size, place.name = ctypes.sizeof(Value), name.encode()
        if isinstance(value, str):
            place.kind = _library.KIND_TEXT
            place.data = self._address(ctypes.create_string_buffer(value.encode()))
        elif isinstance(value, Mapping):
            self._fill_dictionary(place, name, value)
        elif hasattr(value, "mode") and hasattr(value, "convert"):
            self._fill_image(place, name, value)
        else:
            self._fill_array(place, name, np.asarray(value))

    def _fill_dictionary(self, place: Value, name: str, value: Mapping[Any, Any]) -> None:
        keys = list(value)
        self._fill_array(place, name, np.array([value[key] for key in keys], np.float64))
        place.kind = _library.KIND_DICTIONARY
        if all(isinstance(key, str) for key in keys):
            place.text_keys = self._kept((ctypes.c_char_p * len(keys))(*map(str.encode, keys)))
        else:
            place.number_keys = self._sizes([int(key) for key in keys])

    def _fill_image(self, place: Value, name: str, image: Any) -> None:
        if image.mode == "F":
            return self._fill_array(place, name, np.asarray(image, np.float32))
        if image.mode not in ("L", "RGB"):
            image = image.convert("L" if image.mode in ("1", "LA") else "RGB")
        self._fill_array(place, name, np.asarray(image, np.uint8))
        place.kind = _library.KIND_IMAGE

    def _fill_array(self, place: Value, name: str, array: np.ndarray) -> None:
        if array.dtype.kind in "US" and array.ndim == 0:
            return self._fill(place, name, str(array[()]))
        if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
            raise TypeError(f"{name}: values of type {array.dtype} are not supported")
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        self._owners.append(array)
        place.kind = _library.KIND_ARRAY if array.ndim else _library.KIND_NUMBER
        place.type = ord(array.dtype.kind) << 8 | array.dtype.itemsize
        place.data = array.ctypes.data
        place.rank = array.ndim
        place.shape = self._sizes(array.shape)
        place.strides = self._sizes(array.strides)

    def _sizes(self, sizes: Any) -> Any:
        return self._kept((ctypes.c_int64 * len(sizes))(*sizes))

    def _kept(self, memory: Any) -> Any:
        self._owners.append(memory)
        return ctypes.cast(memory, ctypes.POINTER(memory._type_))

    def _address(self, memory: Any) -> int:
        self._owners.append(memory)
        return ctypes.addressof(memory)


def dtype(number: int) -> np.dtype:
    """The NumPy type of one of `ASSAY_TYPE_…`."""
    return np.dtype(f"{chr(number >> 8)}{number & 0xFF}")


def shape(structure: Any) -> tuple[int, ...]:
    """The sizes of a value or a feature."""
    return tuple(structure.shape[axis] for axis in range(structure.rank))


def result(value: Value, owner: Any) -> Any:
    """The value in Python; an array's elements are not copied, and keep `owner` alive."""
    if value.kind == _library.KIND_TEXT:
        return ctypes.string_at(value.data).decode()
    array = _array(value, owner)
    if value.kind == _library.KIND_NUMBER:
        return array.item()
    if value.kind == _library.KIND_DICTIONARY:
        keys = range(len(array))
        if value.text_keys:
            return {value.text_keys[key].decode(): float(array[key]) for key in keys}
        return {value.number_keys[key]: float(array[key]) for key in keys}
    return array


def _array(value: Value, owner: Any) -> np.ndarray:
    sizes, type = shape(value), dtype(value.type)
    byte_count = int(np.prod(sizes, dtype=np.int64)) * type.itemsize
    if byte_count == 0:
        return np.empty(sizes, type)
    memory = (ctypes.c_char * byte_count).from_address(value.data)
    memory.owner = owner
    return np.frombuffer(memory, type).reshape(sizes)


def path(name: str | os.PathLike[str]) -> bytes:
    """The path as the library expects it."""
    return os.fsencode(name)
