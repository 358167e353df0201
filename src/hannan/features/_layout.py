"""How much room each found column has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from hannan.features._found import dates_of, kind_of
from hannan.features.category import Category
from hannan.features.column import Column
from hannan.features.date import Date
from hannan.features.flag import Flag
from hannan.features.number import Number
from hannan.features.text import Text

_BUCKETS = 8  # of a text
_NEW, _LEVELS, _LEAST, _UNKNOWN = 8, 8, 2, 4

# Columns with numbers of their own, from the values seen so far.
_COLUMNS: dict[type[Column], Callable[[Sequence[Any]], Column]] = {
    Number: lambda values: Number(indicator=False),
    Flag: lambda values: Flag(indicator=False),
    Date: dates_of,
    Text: lambda values: Text(_BUCKETS, indicator=False),
}


class Layout(NamedTuple):
    """Columns with numbers of their own, those that are categories, and places for these."""

    parts: dict[Any, Column]
    categories: list[Any]
    places: int
    each: int


def laid_out(
    values: Mapping[Any, Sequence[Any]], room: int, places: int | None, most: int
) -> Layout:
    """Columns for these names, each with the values found so far.

    Numbers, flags, dates and texts have numbers of their own, the first of them if not all fit. All
    else takes places as it appears: 8 are for what is new, 8 for each category, fewer where the
    room does not allow as many, and 4 for each column that has had no value.
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
