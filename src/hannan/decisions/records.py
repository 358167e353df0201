"""Conversion of calls to the lines of a journal, and back.

A line is a checksum, a space and JSON. The checksum includes the checksum of the line before, so
that a lost, repeated or moved line is detected. A value of a type that JSON lacks is an object with
one key that begins with "$".
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from hannan.core import DamagedFileError

PLAIN = frozenset({str, int, float, bool, type(None)})
TAGS: dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
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
_WORDS = frozenset({str})
_JSON = json.JSONEncoder(separators=(",", ":"))
_MAKERS = {tag: back for tag, _, back in TAGS.values()}


def line(call: list[Any], before: int) -> tuple[bytes, int]:
    """Return a call as a line, and its checksum, which includes the checksum before."""
    text = json.dumps(_tagged(call), separators=(",", ":"))
    body = text.encode("ascii")
    check = zlib.crc32(body, before)
    return b"%08x %s\n" % (check, body), check


def call(text: bytes, before: int) -> tuple[list[Any], int] | None:
    """Return the call in a line and its checksum; None if the line is incomplete.

    The line comes without its line break.
    """
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
        raise DamagedFileError("The journal holds a line that is not a call.")
    return found, check


def request_text(row: Any, available: list[int] | None, n_actions: int) -> str:
    """Return a request as text: the context, and the available actions.

    >>> request_in(request_text({"age": 31}, None, 3))
    ({'age': 31}, [0, 1, 2])
    """
    flat = type(row) is dict and len(row) > 1 and PLAIN.issuperset(map(type, row.values()))
    flat = flat and _WORDS.issuperset(map(type, row))
    return _JSON.encode(
        [row if flat else _tagged(row), n_actions if available is None else available]
    )


def request_in(text: str) -> tuple[Any, list[int]]:
    """Return the context and the available actions of a request."""
    row, there = json.loads(text, object_hook=_untagged)
    return row, list(range(there)) if type(there) is int else there


def is_request(text: str, action: Any, n_actions: int) -> bool:
    """Return whether a text is a request among `n_actions` actions that allows an action or a set.

    >>> text = request_text({"age": 31}, [0, 2], 3)
    >>> is_request(text, 2, 3), is_request(text, 1, 3), is_request(text, 2, 2)
    (True, False, False)
    >>> is_request(text, (0, 2), 3), is_request(text, (1, 2), 3)
    (True, False)
    """
    try:
        _, there = json.loads(text, object_hook=_untagged)
    except (ValueError, TypeError, RecursionError, ArithmeticError):
        return False
    chosen = action if type(action) is tuple else (action,)
    if list(chosen) != sorted({*chosen}):
        return False
    if type(there) is int:
        return all(each < there for each in chosen) and there <= n_actions
    numbers = type(there) is list and {*map(type, there)} == {int}
    return numbers and {*chosen} <= {*there} and there == sorted({*there} & {*range(n_actions)})


def as_json(value: Any) -> Any:
    """Convert a value to valid JSON: None for NaN and infinities, text for keys.

    >>> as_json({9.99: [1.0, float("nan")], "plays": 3})
    {'9.99': [1.0, None], 'plays': 3}
    """
    if isinstance(value, dict):
        return {str(key): as_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _tagged(value: Any) -> Any:
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is list:
        return [each if type(each) in PLAIN else _tagged(each) for each in value]
    if kind is dict:
        if all(type(key) is str and key[:1] != "$" for key in value):
            return {
                key: each if type(each) in PLAIN else _tagged(each) for key, each in value.items()
            }
        return {"$map": [[_tagged(key), _tagged(each)] for key, each in value.items()]}
    if kind is tuple:
        return {"$tuple": [_tagged(each) for each in value]}
    tag, there, _ = TAGS[kind]
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
