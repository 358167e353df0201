"""How much room each found column has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hannan.features._found import dates_of, kind_of
from hannan.features._later import Later
from hannan.features.category import Category
from hannan.features.column import Column
from hannan.features.date import Date
from hannan.features.flag import Flag
from hannan.features.number import Number
from hannan.features.text import Text

_LEAST, _MOST = 6, 20  # numbers for a category or a text


def laid_out(values: Mapping[Any, Sequence[Any]], room: int, spare: int, most: int) -> list[Column]:
    """Columns for these names, each with the values found so far; the first ones, if not all fit.

    Text and categories share what the others leave of the room, in equal parts. Numbers do without
    their second number where half of the room were not enough for them.
    """
    kinds = {name: kind_of(found) if found else None for name, found in values.items()}
    indicator = 4 * sum(kind is Number for kind in kinds.values()) <= room
    fixed: dict[Any, Column] = {}
    for name, kind in kinds.items():
        if kind is None:
            fixed[name] = Later()
        elif kind is Number:
            fixed[name] = Number(indicator=indicator)
        elif kind in (Date, Flag):
            fixed[name] = dates_of(values[name]) if kind is Date else Flag()
    left = room - spare - sum(part.width for part in fixed.values())
    share = max(_LEAST, min(_MOST, left // max(1, len(kinds) - len(fixed))))
    parts: list[Column] = []
    taken = spare
    for name, kind in kinds.items():
        part = fixed.get(name)
        if part is None:
            others = share // 5
            part = Category(room=share - 1 - others, buckets=others)
            part = Text(share - 1) if kind is Text else part
        taken += part.width
        if taken > most:
            break
        parts.append(part)
    return parts
