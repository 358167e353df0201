"""Arrays in the body of a file."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core.errors import DamagedFileError
from hannan.core.storage.container import place

_KINDS = "biufcMmSU"

Entry = dict[str, Any]


def packed(array: NDArray[Any]) -> tuple[Entry, memoryview]:
    """Return the description of an array for the head, and its bytes: a copy."""
    turned = array.flags.f_contiguous and not array.flags.c_contiguous
    entry: Entry = {"dtype": array.dtype.str, "shape": list(array.shape)}
    if turned:
        entry["order"] = "F"
    flat = array.flatten(order="F" if turned else "C")
    return entry, flat.view(np.uint8).data


class Arrays:
    """Arrays of a file, each of which can be taken once."""

    def __init__(self, entries: Any, body: memoryview, path: str) -> None:
        self._path = path
        self._body = body
        self._left: dict[int, tuple[Entry, int, int]] = {}
        used = 0
        if not isinstance(entries, list):
            raise self._damaged()
        for index, entry in enumerate(entries):
            start, used = place(self._size(entry), used)
            self._left[index] = entry, start, used
        if used != len(body):
            raise self._damaged()

    def take(self, index: Any) -> NDArray[Any]:
        """Return an array that shares no memory with the file."""
        if type(index) is not int or index not in self._left:
            raise self._damaged()
        entry, start, end = self._left.pop(index)
        order = entry.get("order", "C")
        shared = np.ndarray(entry["shape"], entry["dtype"], self._body[start:end], order=order)
        return shared.copy(order)

    def _size(self, entry: Any) -> int:
        """Return the bytes of an array, or raise an error if its entry is invalid."""
        if not isinstance(entry, dict) or not entry.keys() <= {"dtype", "shape", "order"}:
            raise self._damaged()
        shape, kind, order = entry.get("shape"), entry.get("dtype"), entry.get("order", "C")
        if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape):
            raise self._damaged()
        if len(shape) > 32 or not _is_type(kind) or order not in ("C", "F"):
            raise self._damaged()
        return int(math.prod(shape) * np.dtype(kind).itemsize)

    def _damaged(self) -> DamagedFileError:
        return DamagedFileError(f"{self._path} is damaged: its arrays do not match its head.")


def _is_type(kind: Any) -> bool:
    """Return whether `dtype.str` writes a plain type in this way."""
    if not isinstance(kind, str) or len(kind) > 16 or kind[1:2] not in set(_KINDS):
        return False
    try:
        return np.dtype(kind).str == kind and np.dtype(kind).itemsize > 0
    except (TypeError, ValueError):
        return False
