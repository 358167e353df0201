"""Read single values of a row (missing values, numbers, dates, words) and hash texts.

The functions here never raise, even if a value's own methods do.
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
_LONGEST = 200  # most letters of the name of a level
_REMEMBERED, _LONGEST_WORD = 4096, 40  # most words with a stored hash, most letters of such a word
MOST_LETTERS = 10_000
"""Maximum number of letters read from a text."""


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, NaT, NA, masked, or a text such as "n/a".

    >>> [is_missing(value) for value in (None, float("nan"), " NA ", "", 0, "0", [])]
    [True, True, True, True, False, False, False]
    """
    if value is None:
        return True
    if isinstance(value, str):
        return len(value) <= _LONGEST_HOLE + 8 and value.strip().lower() in _HOLES
    if type(value).__name__ == "NAType" or isinstance(value, _MASKED):
        return True  # NA of pandas is neither equal nor unequal to itself
    try:
        return bool(value != value)
    except Exception:  # signalling NaN, arrays, a user's __ne__
        return isinstance(value, Decimal)


def as_date(value: Any, format: str | None = None) -> datetime | None:
    """Return a date or time by its own clock, without time zone; None for any other value.

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
    except Exception:  # NaT, text that is not a date, errors in a user's class
        return None
    return None


def looks_like_date(value: Any) -> bool:
    """Return whether a value is a date or an ISO text of a date; digits alone count as a number."""
    if isinstance(value, str):
        return _ISO.match(value.strip()) is not None and as_date(value) is not None
    return isinstance(value, date | np.datetime64) and as_date(value) is not None


def level_of(value: Any) -> str:
    """Return the name of a category; values that read alike (3, 3.0 and "3") have the same name.

    If a name is too long, a hash replaces its end. If an object's class defines no text, its name
    is the name of the class.

    >>> level_of(3.0), level_of(" pro "), level_of(("a", 1))
    ('3', 'pro', "('a', 1)")
    """
    try:
        text = _text_of(value)
    except Exception:  # a user's __str__
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
    """Return the text of a value for messages."""
    try:
        return f"{value!r:.80}"
    except Exception:  # a user's __repr__, integers with thousands of digits
        return f"a value of type {type(value).__name__}"


def words_of(value: Any) -> list[str]:
    """Return the lower-case words of a text, or the entries of a list, a set or a mapping.

    >>> words_of("Late again, LATE!"), words_of(["red", 3])
    (['late', 'again', 'late'], ['red', '3'])
    """
    if isinstance(value, str):
        text = value[:MOST_LETTERS].lower()
        # Splitting words separated by blanks takes a third of the time.
        return text.split() if text.replace(" ", "").isalnum() else _WORD.findall(text)
    try:
        if isinstance(value, Mapping):
            return sorted(f"{level_of(key)}={level_of(value[key])}" for key in value)
        if isinstance(value, set | frozenset):
            return sorted(map(level_of, value))
        if isinstance(value, list | tuple | np.ndarray):
            return [level_of(entry) for entry in value]
    except Exception:  # errors in a user's class
        return [type(value).__name__]
    return [level_of(value)]


def stable_hash(text: str) -> int:
    """Return an integer below 2**32 that is the same in every process and on every machine."""
    return crc32(text.encode("utf-8", "surrogatepass"))


class Buckets(dict[str, tuple[int, float]]):
    """Hash each text to one of `count` buckets and a sign.

    The buckets of frequent short words are stored.
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
        """Add ±`amount` for each text to the bucket of this text in `out`, from index `at` on."""
        for text in texts:
            bucket, sign = self[text]
            out[at + bucket] += sign * amount
