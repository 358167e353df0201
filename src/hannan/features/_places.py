"""Assign places to levels and to columns without a fixed width, in order of appearance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from hannan.core.params import Parametrised
from hannan.core.state import Count, DictOf, ListOf, Object, State
from hannan.core.state import Text as Words
from hannan.core.validation import check_integer
from hannan.features._cells import (
    Buckets,
    as_date,
    is_missing,
    level_of,
    looks_like_date,
    words_of,
)
from hannan.features._quality import MOST_BLOCKS, recent
from hannan.features.column import Events, News
from hannan.features.number import Number, as_number, looks_like_number

_TRACKED = 64  # most columns of numbers with a running mean
_WORDS = 20  # most words read from a text
_MISSING, _NUMBER = "", " "  # keys that differ from every level

Cell = tuple[str, Any]
"""The name of a column, and a value."""


def _are_distinct(columns: dict[str, dict[str, int]]) -> bool:
    """Return whether the places of all columns are 0, 1, 2, …, each once."""
    places = sorted(place for each in columns.values() for place in each.values())
    return places == list(range(len(places)))


class Places(Parametrised):
    """Places that levels, missing values and later columns take as they appear.

    `Places` assigns four fifths of its places one by one, at most `each` of them to one column.
    Later levels share the remaining fifth by a hash. A level is 1 in its place. A number or a date
    has one place and is standardised by a running mean. Each word of a text is hashed.

    Parameters
    ----------
    size
        Total number of places.
    each
        Maximum number of places of one column.
    levels
        Names of the columns whose values are always levels, even if they look like numbers.
    """

    stored = State(
        _columns=DictOf(
            Words(), DictOf(Words(), Count("_single"), most="each").where(lambda self, each: each)
        ).where(lambda self, columns: _are_distinct(columns)),
        _numbers=DictOf(
            Words(),
            Object(Number, like=lambda self: Number(indicator=False)),
            most=lambda self: _TRACKED * (self.size > 0),
        ),
        _ends=ListOf(Count(), most=MOST_BLOCKS),
    )

    def __init__(self, size: int, each: int = 0, levels: Sequence[str] = ()) -> None:
        self.size = size
        self.each = check_integer(self, "each", each, 0)
        self.levels = levels
        self._single = size - max(1, size // 5) if size else 0
        self._shared = Buckets(size - self._single)
        self._levels = frozenset(levels)
        self._columns: dict[str, dict[str, int]] = {}
        self._numbers: dict[str, Number] = {}
        self._ends: list[int] = []  # number of places taken at the end of each recent block
        self._restored()

    def _restored(self) -> None:
        self._taken = sum(map(len, self._columns.values()))
        lately = recent(len(self._ends))
        # First place assigned recently: a level in this or a later place counts as new.
        self._young = self._ends[-1 - lately] if len(self._ends) > lately else self.size

    def turn(self) -> None:
        """Begin a new block."""
        self._ends = [*self._ends, self._taken][-MOST_BLOCKS:]
        self._restored()

    def labels(self) -> list[str]:
        """Return the label of each place."""
        found = [f"free {i}" for i in range(self._taken, self._single)]
        given: dict[int, str] = {}
        for name, places in self._columns.items():
            for key, place in places.items():
                plain = {_MISSING: f"{name} missing", _NUMBER: name}
                given[place] = plain.get(key, f"{name}={key}")
        shared = [f"other {i}" for i in range(self.size - self._single)]
        return [*(given[i] for i in range(self._taken)), *found, *shared]

    @property
    def columns(self) -> list[str]:
        """Names of the columns that have places."""
        return list(self._columns)

    def read(
        self,
        row: dict[Any, Any],
        listed: Iterable[tuple[Any, str]],
        others: Iterable[Cell],
        out: list[float],
        at: int,
        news: News,
        events: Events,
    ) -> None:
        """Write the cells of a row into `out`, from index `at` on.

        `listed` holds the keys that are read first, each with the name of its column; `others`
        holds the other cells. Updates to learn later are appended to `news`.
        """
        if not self.size:
            return
        cells: list[Cell] = []
        for key, name in listed:
            cells.append((name, row.get(key)))
        cells += others
        new: dict[Cell, int] = {}
        for name, value in cells:
            places = self._columns.get(name)
            if places is not None and (value is None or type(value) is str):
                place = places.get(_MISSING if value is None else value)
                if place is not None:  # the usual case
                    out[at + place] += 1.0
                    if (value is None or place >= self._young) and name in self._levels:
                        events.append(("missing" if value is None else "new", name))
                    continue
            key = self._write(name, value, out, at, new, news)
            if name in self._levels and (key == _MISSING or not places or key not in places):
                events.append(("missing" if key == _MISSING else "new", name))
        if new:
            news.append((self._give, new))

    def _write(
        self, name: str, value: Any, out: list[float], at: int, new: dict[Cell, int], news: News
    ) -> str | None:
        """Write a value and return its level, or None for a text of several words."""
        x, key = self._read(name, value)
        amount = 1.0
        if key == _NUMBER:
            amount = self._standardised(name, x)
            news.append((self._renew, (name, x)))
        elif key is None:
            words = words_of(value)[:_WORDS]
            self._scatter(name, words, 1.0 / math.sqrt(max(len(words), 1)), out, at)
            return None
        place = self._place(name, key, new)
        if place is not None:
            out[at + place] += amount
        else:
            self._scatter(name, [key], amount, out, at)
        return key

    def _scatter(
        self, name: str, words: list[str], amount: float, out: list[float], at: int
    ) -> None:
        """Add words or levels without a place to the shared places."""
        texts = [f"{name}={word}" for word in words]
        self._shared.scatter(texts, amount, out, at + self._single)

    def _give(self, new: dict[Cell, int]) -> None:
        """Store newly assigned places."""
        for (name, key), place in new.items():
            self._columns.setdefault(name, {})[key] = place
        self._taken += len(new)

    def _renew(self, cell: tuple[str, float]) -> None:
        """Update the running mean and deviation of a column of numbers."""
        name, x = cell
        if name not in self._numbers and len(self._numbers) < _TRACKED:
            self._numbers[name] = Number(indicator=False)
        if name in self._numbers:
            self._numbers[name].see(x)

    def _read(self, name: str, value: Any) -> tuple[float, str | None]:
        """Return a value's number and its level (None for a text of several words)."""
        if value is None or is_missing(value):
            return math.nan, _MISSING
        if name in self._levels:
            return math.nan, level_of(value) or _MISSING
        if looks_like_number(value):
            return as_number(value), _NUMBER
        moment = as_date(value) if looks_like_date(value) else None
        if moment is not None:
            return float(moment.toordinal()), _NUMBER
        if isinstance(value, list | set | frozenset | dict) or len(words_of(value)) > 3:
            return math.nan, None
        return math.nan, level_of(value) or _MISSING

    def _place(self, name: str, key: str, new: dict[Cell, int]) -> int | None:
        """Return the place of a level, or None if all are taken; a new level gets the next one."""
        places = self._columns.get(name, {})
        if key in places:
            return places[key]
        if (name, key) not in new:
            taken = self._taken + len(new)
            ours = len(places) + sum(other == name for other, _ in new)
            if taken >= self._single or ours >= self.each:
                return None
            new[name, key] = taken
        return new[name, key]

    def _standardised(self, name: str, x: float) -> float:
        number = self._numbers.get(name)
        if number is None:
            if len(self._numbers) >= _TRACKED:
                return max(-10.0, min(10.0, math.asinh(x)))
            number = Number(indicator=False)
        found = [0.0]
        number.write(x, found, 0)
        return found[0]
