"""Infer the kind of each column from its first values, and assign its width."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hannan.features._cells import as_date, looks_like_date, words_of
from hannan.features.category import Category
from hannan.features.column import Column
from hannan.features.date import Date
from hannan.features.flag import Flag, as_flag
from hannan.features.number import Number, looks_like_number
from hannan.features.text import Text
from hannan.features.vector import Vector, as_vector

WORDS: dict[str, type[Column]] = {
    "number": Number,
    "category": Category,
    "text": Text,
    "date": Date,
    "flag": Flag,
}
FOUND: frozenset[type[Column]] = frozenset({*WORDS.values(), Vector})
_SENTENCE = 4  # words; a text with fewer is more likely a name
_LIST = (list, set, frozenset, Mapping)
_BUCKETS = 8  # for the words of a text column
_NEW, _LEVELS, _LEAST, _UNKNOWN = 8, 8, 2, 4


def kind_of(values: Sequence[Any]) -> type[Column]:
    """Return the column class that fits these values, none of which is missing.

    >>> [kind_of([value]).__name__ for value in (3, "3,5", "2024-02-29", "pro", "yes", "02139")]
    ['Number', 'Number', 'Date', 'Category', 'Flag', 'Category']
    >>> kind_of(["The parcel came two days late."]).__name__, kind_of([3, "pro"]).__name__
    ('Text', 'Category')
    >>> kind_of([[0.5, 1.0], [2, 3]]).__name__, kind_of([["red", "blue"]]).__name__
    ('Vector', 'Text')
    """
    if all(isinstance(value, bool | np.bool_) or _is_flag_word(value) for value in values):
        return Flag
    if all(map(looks_like_number, values)):
        return Number
    if all(map(looks_like_date, values)):
        return Date
    vectors = [as_vector(value) for value in values]
    if all(each is not None and len(each) == len(vectors[0] or ()) for each in vectors):
        return Vector
    if all(isinstance(value, _LIST) for value in values):
        return Text
    texts = [value for value in values if isinstance(value, str)]
    sentences = [text for text in texts if " " in text and len(words_of(text)) >= _SENTENCE]
    if 2 * len(sentences) > len(values):
        return Text
    return Category


def _is_flag_word(value: Any) -> bool:
    return isinstance(value, str) and as_flag(value) is not None and value.strip().isalpha()


def _dates_of(values: Sequence[Any]) -> Date:
    """Return a `Date` column, with the hour if one of the dates has an hour."""
    moments = [as_date(value) for value in values]
    timed = any(moment is not None and moment.hour for moment in moments)
    clock = any(hasattr(value, "hour") or (isinstance(value, str) and ":" in value)
                for value in values)  # fmt: skip
    parts = ("day", "weekday", "month")
    return Date((*parts, "hour") if timed or clock else parts, indicator=False)


# Constructors of the columns with a fixed width, called with the values seen so far.
_COLUMNS: dict[type[Column], Callable[[Sequence[Any]], Column]] = {
    Number: lambda values: Number(indicator=False),
    Flag: lambda values: Flag(indicator=False),
    Date: _dates_of,
    Text: lambda values: Text(_BUCKETS, indicator=False),
    Vector: lambda values: Vector(len(values[0]), indicator=False),
}


class Layout(NamedTuple):
    """Columns with a fixed width, category names, number of places, and places per column."""

    parts: dict[Any, Column]
    categories: list[Any]
    places: int
    each: int


def laid_out(
    values: Mapping[Any, Sequence[Any]], room: int, places: int | None, most: int
) -> Layout:
    """Return a `Layout` for these names, each with the values found so far.

    Numbers, flags, dates, texts and vectors get a fixed width. If not all of these columns fit, the
    first ones get it. All other values take places as they appear: 8 for new columns and values, 8
    for each category (fewer if `room` is too small), and 4 for each column without a value so far.
    """
    parts: dict[Any, Column] = {}
    categories = []
    unknown = 0
    for name, seen in values.items():
        kind = kind_of(seen) if seen else None
        if kind in _COLUMNS:
            parts[name] = _COLUMNS[kind](seen)
        elif kind is Category:
            categories.append(name)
        else:
            unknown += 1
    if places is None:
        left = room - sum(part.width for part in parts.values())
        wanted = _NEW + _LEVELS * len(categories) + _UNKNOWN * unknown
        places = min(most, max(_NEW + _LEAST * len(categories), min(wanted, left)))
    taken, fitting = places, {}
    for name, part in parts.items():
        taken += part.width
        if taken > most:
            break
        fitting[name] = part
    share = places // 2 if len(categories) + unknown > 1 else places - _NEW // 2
    return Layout(fitting, categories[:most], places, max(share, _LEVELS))
