"""Single values of a row: missing ones, numbers, dates, words; and a hash that never changes.

Whatever a value's own methods raise, the functions here do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any
from zlib import crc32

import numpy as np

_HOLES = frozenset({"", "na", "n/a", "#n/a", "nan", "nat", "null", "none", "<na>"})
_LONGEST_HOLE = max(map(len, _HOLES))
_MASKED = type(np.ma.masked)
_WORD = re.compile(r"\w+")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:$|[T ]\d{2}:?\d{2})")
_LONGEST = 200  # letters that are kept of a level
_REMEMBERED, _LONGEST_WORD = 4096, 40  # words whose hashes are, and letters of one
MOST_LETTERS = 10_000
"""Letters that are read of a text."""


def is_missing(value: Any) -> bool:
    """None, NaN of every kind, NaT, NA, a masked value, and the texts that stand for them.

    >>> [is_missing(value) for value in (None, float("nan"), " NA ", "", 0, "0", [])]
    [True, True, True, True, False, False, False]
    """
    if value is None:
        return True
    if isinstance(value, str):
        return len(value) <= _LONGEST_HOLE + 8 and value.strip().lower() in _HOLES
    if type(value).__name__ == "NAType" or isinstance(value, _MASKED):
        return True  # of pandas: neither equal nor unequal to itself
    try:
        return bool(value != value)
    except Exception:  # signalling NaN, arrays, what others write in __ne__
        return isinstance(value, Decimal)


def as_date(value: Any, format: str | None = None) -> datetime | None:
    """A moment as it reads on its own clock, its zone left out; None if it is no date.

    >>> as_date("2024-02-29T13:30:00+02:00"), as_date("soon")
    (datetime.datetime(2024, 2, 29, 13, 30), None)
    """
    try:
        if isinstance(value, str):
            text = value.strip()
            value = (
                datetime.fromisoformat(text) if format is None else datetime.strptime(text, format)
            )
        elif isinstance(value, np.datetime64):
            value = value.astype("datetime64[us]").item()
        if type(value) is datetime and value.tzinfo is None:
            return value
        if isinstance(value, datetime):
            kept = value.year, value.month, value.day, value.hour, value.minute, value.second
            return datetime(*kept)
        if isinstance(value, date):
            return datetime(value.year, value.month, value.day)
    except Exception:  # NaT, text that is no date, what others write in their classes
        return None
    return None


def looks_like_date(value: Any) -> bool:
    """Whether it is a date or the ISO text of one: digits alone are rather a number."""
    if isinstance(value, str):
        return _ISO.match(value.strip()) is not None and as_date(value) is not None
    return isinstance(value, date | np.datetime64) and as_date(value) is not None


def level_of(value: Any) -> str:
    """The name of a category: equal for what reads alike, such as 3, 3.0 and "3".

    Long names are cut, with their hash instead of the rest. Objects that say nothing of themselves
    are known by their class.

    >>> level_of(3.0), level_of(" pro "), level_of(("a", 1))
    ('3', 'pro', "('a', 1)")
    """
    try:
        text = _text_of(value)
    except Exception:  # what others write in __str__
        text = type(value).__name__
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST - 12]}…{stable_hash(text):08x}"
    return text


def _text_of(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    made: Any = type(value)
    if made.__str__ is object.__str__ and made.__repr__ is object.__repr__:
        return str(made.__name__)  # its text would be its place in memory
    return str(value).strip()


def repr_of(value: Any) -> str:
    """A value as messages show it."""
    try:
        return f"{value!r:.80}"
    except Exception:  # what others write in __repr__, numbers of thousands of digits
        return f"a value of type {type(value).__name__}"


def words_of(value: Any) -> list[str]:
    """The words of a text in small letters; the entries of a list, a set or a mapping.

    >>> words_of("Late again, LATE!"), words_of(["red", 3])
    (['late', 'again', 'late'], ['red', '3'])
    """
    if isinstance(value, str):
        text = value[:MOST_LETTERS].lower()
        # Of words and nothing between them but blanks, which takes a third of the time.
        return text.split() if text.replace(" ", "").isalnum() else _WORD.findall(text)
    try:
        if isinstance(value, Mapping):
            return sorted(f"{level_of(key)}={level_of(value[key])}" for key in value)
        if isinstance(value, set | frozenset):
            return sorted(map(level_of, value))
        if isinstance(value, list | tuple | np.ndarray):
            return [level_of(entry) for entry in value]
    except Exception:  # what others write in their classes
        return [type(value).__name__]
    return [level_of(value)]


def stable_hash(text: str) -> int:
    """A whole number below 2**32, the same in every process and on every machine."""
    return crc32(text.encode("utf-8", "surrogatepass"))


class Buckets(dict[str, tuple[int, float]]):
    """Which of some numbers each text is added to, and with which sign: its hash says.

    What comes again is remembered, as most words do.
    """

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def __missing__(self, text: str) -> tuple[int, float]:
        found = stable_hash(text)
        bucket = (found >> 1) % self.count, 1.0 if found & 1 else -1.0
        if len(self) < _REMEMBERED and len(text) <= _LONGEST_WORD:
            self[text] = bucket
        return bucket

    def scatter(self, texts: Iterable[str], amount: float, out: list[float], at: int) -> None:
        """Add an amount, or its negative, for each text to the numbers from the place `at` on."""
        for text in texts:
            bucket, sign = self[text]
            out[at + bucket] += sign * amount
