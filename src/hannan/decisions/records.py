"""Calls as lines of text, and back: what a journal holds.

A line is a checksum, a space and JSON. The checksum goes over the one of the line before too, so
that no line can be lost, repeated or moved unseen. What JSON has no word for is an object with one
key that begins with "$".
"""

from __future__ import annotations

import dataclasses
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np

from hannan.core import DamagedFileError, InputTypeError
from hannan.core.arrays import as_scalar

_PLAIN = frozenset({str, int, float, bool, type(None)})
_WORDS = frozenset({str})
_TAGS: dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    datetime: ("$datetime", datetime.isoformat, datetime.fromisoformat),
    date: ("$date", date.isoformat, date.fromisoformat),
    timedelta: (
        "$timedelta",
        lambda value: [value.days, value.seconds, value.microseconds],
        lambda parts: timedelta(*parts),
    ),
    Decimal: ("$decimal", str, Decimal),
    UUID: ("$uuid", str, UUID),
    bytes: ("$bytes", bytes.hex, bytes.fromhex),
}
_MAKERS = {tag: back for tag, _, back in _TAGS.values()}


def plain(value: Any) -> Any:
    """A context as a journal gives it back: of plain numbers, words, dates and collections."""
    if type(value) in _PLAIN:
        return value
    if type(value) is dict:
        if _PLAIN.issuperset(map(type, value.values())) and _WORDS.issuperset(map(type, value)):
            return value.copy()
        return {
            key if type(key) is str else _plain(key, "a key"): (
                each if type(each) in _PLAIN else _plain(each, key)
            )
            for key, each in value.items()
        }
    return _plain(value, None)


def _plain(value: Any, where: Any) -> Any:
    if isinstance(value, date | np.datetime64):
        return _moment(value)
    if type(value) in _PLAIN or type(value) in _TAGS:
        return value
    value = _with_names(value)
    if isinstance(value, Mapping):
        return plain(dict(value))
    if isinstance(value, np.ndarray) and value.ndim:
        value = value.tolist()
    if type(value) is list:
        return [plain(each) for each in value]
    if isinstance(value, tuple):
        return tuple(plain(each) for each in value)
    single = _single(value)
    if type(single) in _PLAIN or type(single) in _TAGS:
        return single
    if isinstance(value, Sequence):
        return [plain(each) for each in value]
    place = "The context" if where is None else f"The feature {where!r:.60}"
    raise InputTypeError(
        f"{place} is of type {type(value).__module__}.{type(value).__qualname__}; features are "
        "numbers, words, booleans, dates, and lists or mappings of them."
    )


def _moment(value: Any) -> date | None:
    """Return a date or a time of the standard library; None for a date that is none."""
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[us]").item()  # type: ignore[no-any-return]
    if type(value) is date:
        return value
    if type(value) is datetime and value.tzinfo is None and not value.fold:
        return value
    if value != value:
        return None
    kind = datetime if isinstance(value, datetime) else date
    return kind.fromisoformat(kind.isoformat(value))  # of a zone only the offset counts


def _with_names(value: Any) -> Any:
    """Return a row with names, of a tuple, a dataclass or a frame, as a mapping."""
    names = getattr(value, "_fields", None)
    if isinstance(value, tuple) and names is not None:
        return dict(zip(names, value, strict=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    if hasattr(value, "to_dict") and not isinstance(value, Mapping):
        return value.to_dict()
    return value


def _single(value: Any) -> Any:
    """Return a single value as a plain one, if it is one."""
    found = as_scalar(value)
    if type(found) in _PLAIN or type(found) in _TAGS:
        return found
    for base in (bool, int, float, str):
        if isinstance(found, base):
            return base(found)
    return None if type(found).__name__ in ("NAType", "NaTType") else found


def line(call: list[Any], before: int) -> tuple[bytes, int]:
    """A call as a line, and its checksum, which goes over the one before too."""
    text = json.dumps(_tagged(call), separators=(",", ":"))
    body = text.encode("ascii")
    check = zlib.crc32(body, before)
    return b"%08x %s\n" % (check, body), check


def call(text: bytes, before: int) -> tuple[list[Any], int] | None:
    """The call in a line without its end, and its checksum; None if the line is not whole."""
    try:
        check = int(text[:8], 16)
    except ValueError:
        return None
    body = text[9:]
    if text[8:9] != b" " or zlib.crc32(body, before) != check:
        return None
    try:
        found = json.loads(body, object_hook=_untagged)
    except (ValueError, TypeError, RecursionError, ArithmeticError) as error:
        raise DamagedFileError(f"The journal holds a call that cannot be read: {error}.") from None
    if type(found) is not list or not found or type(found[0]) is not str:
        raise DamagedFileError("The journal holds a line that is no call.")
    return found, check


def _tagged(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is list:
        return [each if type(each) in _PLAIN else _tagged(each) for each in value]
    if kind is dict:
        if all(type(key) is str and key[:1] != "$" for key in value):
            return {
                key: each if type(each) in _PLAIN else _tagged(each) for key, each in value.items()
            }
        return {"$map": [[_tagged(key), _tagged(each)] for key, each in value.items()]}
    if kind is tuple:
        return {"$tuple": [_tagged(each) for each in value]}
    tag, there, _ = _TAGS[kind]
    return {tag: there(value)}


def _untagged(found: dict[str, Any]) -> Any:
    if len(found) != 1:
        return found
    ((tag, value),) = found.items()
    if tag == "$map":
        return dict(value)
    if tag == "$tuple":
        return tuple(value)
    return _MAKERS[tag](value) if tag in _MAKERS else found
