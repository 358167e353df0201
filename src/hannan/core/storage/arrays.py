"""Arrays in the body of a file; integers in as few bytes as they need."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core.errors import DamagedFileError
from hannan.core.storage.container import place

_KINDS = "biufcMmSU"
_SMALL = 64  # shorter arrays are not worth packing
_SIZES = (np.uint16, np.uint32)

Entry = dict[str, Any]


def packed(array: NDArray[Any]) -> tuple[Entry, memoryview]:
    """How an array is described in the head, and its bytes."""
    turned = array.flags.f_contiguous and not array.flags.c_contiguous
    flat = array.ravel(order="F" if turned else "C")
    entry: Entry = {"dtype": array.dtype.str, "shape": list(array.shape)}
    if turned:
        entry["order"] = "F"
    if array.dtype.kind in "biu" and array.size >= _SMALL:
        low, high = int(flat.min()), int(flat.max())
        span = high - low + 1
        if span <= 256:
            entry |= {"low": low, "base": max(2, span)}
            flat = _digits_to_bytes(_offset(flat, low, np.uint8), entry["base"])
        else:
            for size in _SIZES:
                if span <= np.iinfo(size).max + 1 and np.dtype(size).itemsize < flat.itemsize:
                    entry |= {"low": low, "as": np.dtype(size).str}
                    flat = _offset(flat, low, size)
                    break
    if np.shares_memory(flat, array):
        flat = flat.copy()  # what a file says must not change until it is written
    return entry, np.ascontiguousarray(flat).view(np.uint8).data


class Arrays:
    """The arrays of a file, each of which is asked for once."""

    def __init__(self, entries: Any, body: memoryview, path: str) -> None:
        self._path = path
        self._body = body
        self._entries: list[Entry | None] = []
        self._places: list[tuple[int, int]] = []
        used = 0
        if not isinstance(entries, list):
            raise self._damaged()
        for entry in entries:
            start, used = place(_stored_size(entry, self._damaged), used)
            self._entries.append(entry)
            self._places.append((start, used))
        if used != len(body):
            raise self._damaged()

    def take(self, index: Any) -> NDArray[Any]:
        """An array of one's own."""
        if type(index) is not int or not 0 <= index < len(self._entries):
            raise self._damaged()
        entry, self._entries[index] = self._entries[index], None
        if entry is None:
            raise self._damaged()
        start, end = self._places[index]
        dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
        raw = np.frombuffer(self._body[start:end], np.uint8)
        flat: NDArray[Any]
        if "base" in entry:
            digits = _bytes_to_digits(raw, entry["base"], math.prod(shape))
            flat = _back(digits, entry["low"], dtype)
        elif "as" in entry:
            flat = _back(raw.view(np.dtype(entry["as"])), entry["low"], dtype)
        else:
            flat = raw.view(dtype).copy() if raw.size else np.empty(0, dtype)
        return flat.reshape(shape, order=entry.get("order", "C"))

    def _damaged(self) -> DamagedFileError:
        return DamagedFileError(f"{self._path} is damaged: its arrays are not what its head says.")


def _stored_size(entry: Any, damaged: Any) -> int:
    """The bytes of an array, if its entry makes sense."""
    fields = {"dtype", "shape", "order", "low", "base", "as"}
    if not isinstance(entry, dict) or not entry.keys() <= fields or "shape" not in entry:
        raise damaged()
    shape, base = entry["shape"], entry.get("base", 2)
    numbers = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
    kind = str(entry.get("dtype"))
    if not numbers or len(shape) > 32 or not _is_type(kind) or type(base) is not int:
        raise damaged()
    narrow = entry.keys() & {"base", "as"}
    if narrow and (type(entry.get("low")) is not int or kind[1] not in "biu"):
        raise damaged()
    if not 2 <= base <= 256 or entry.get("order", "C") not in ("C", "F"):
        raise damaged()
    size = math.prod(shape)
    if "base" in entry:
        return -(-size // _digits(base))
    if "as" in entry and entry["as"] not in [np.dtype(size).str for size in _SIZES]:
        raise damaged()
    return int(size * np.dtype(entry.get("as", kind)).itemsize)


def _is_type(kind: str) -> bool:
    """Whether this is how `dtype.str` writes a plain type."""
    if len(kind) > 16 or kind[1:2] not in set(_KINDS):
        return False
    try:
        return np.dtype(kind).str == kind and np.dtype(kind).itemsize > 0
    except (TypeError, ValueError):
        return False


def _offset(flat: NDArray[Any], low: int, size: Any) -> NDArray[Any]:
    """The distances from the lowest entry; wrapping round is harmless, as they fit."""
    narrow = flat.astype(size)
    return narrow if low == 0 else narrow - np.array(low % (np.iinfo(size).max + 1)).astype(size)


def _back(flat: NDArray[Any], low: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    if low == 0:
        return flat.astype(dtype)
    if not -(2**63) <= low < 2**64:
        raise OverflowError
    wide = flat.astype(np.uint64) + np.array(low % 2**64, dtype=np.uint64)
    return wide.astype(np.int64).astype(dtype) if dtype.kind != "u" else wide.astype(dtype)


def _digits(base: int) -> int:
    """How many digits to this base fit into a byte."""
    digits = 1
    while base ** (digits + 1) <= 256:
        digits += 1
    return digits


def _digits_to_bytes(flat: NDArray[np.uint8], base: int) -> NDArray[np.uint8]:
    digits = _digits(base)
    if digits == 1:
        return flat
    whole = np.zeros(-(-flat.size // digits), np.uint8)
    for place_value in range(digits):
        column = flat[place_value::digits]
        whole[: column.size] += column * np.uint8(base**place_value)
    return whole


def _bytes_to_digits(raw: NDArray[np.uint8], base: int, size: int) -> NDArray[np.uint8]:
    digits = _digits(base)
    if digits == 1:
        return raw
    flat = np.empty(raw.size * digits, np.uint8)
    for place_value in range(digits):
        digit = (np.arange(256) // base**place_value % base).astype(np.uint8)
        flat[place_value::digits] = digit[raw]
    return flat[:size]
