"""Columns of a table as contexts: numbers, categories, dates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import ContextError, ParameterError
from hannan.core.validation import check_choice, refuse
from hannan.environments._columns import (
    Cells,
    Labels,
    Numbers,
    Part,
    as_float,
    column_names,
    is_hole,
)
from hannan.environments._scaling import RunningStandard
from hannan.features import Category, Column, Date, Flag, Number, Text
from hannan.features import Features as Encoder

Categorical = Sequence[str] | Mapping[str, Sequence[Any]]
Context = Sequence[str | Sequence[Any]] | Mapping[str, Any] | str | None
_NO_NUMBER = "; declare the column as categorical, or leave it out of the context"
_COLUMNS: dict[str, type[Column]] = {
    "number": Number,
    "category": Category,
    "flag": Flag,
    "text": Text,
}


class Features:
    """How a row of a table becomes a context, by parameters of the environment that reads it.

    Names of columns: the context is a vector, with one entry for each column of numbers and one
    for each category of the others. One name by itself: the context is that column's number, as
    it is, an int if it is whole. The categories of the columns in `unknown` were not declared:
    whoever reads the table adds them to `categories`. Names with kinds of columns: rows are encoded
    by `hannan.features.Features`, which takes missing values of every kind.
    """

    def __init__(
        self, owner: object, context: Context, categorical: Categorical, scale: str | None
    ) -> None:
        self.scalar = isinstance(context, str)
        self.kinds = _kinds(owner, context)
        self.names = column_names(owner, "context", self.kinds or context)
        self.running = scale is not None
        if scale is not None:
            check_choice(owner, "scale", scale, ("running",))
        chosen = column_names(owner, "categorical", categorical)
        if set(chosen) - set(self.names) or (self.scalar and chosen):
            raise refuse(owner, "categorical", f"columns of context={self.names}", categorical)
        self.categories: dict[str, list[Any]] = {}
        if isinstance(categorical, Mapping):
            self.categories = {name: list(values) for name, values in categorical.items()}
        self.unknown = [name for name in chosen if name not in self.categories]
        others = set(chosen)
        self.numeric = [name for name in self.names if name not in others]

    @property
    def parts(self) -> list[Part]:
        """What to read from each batch; `Stream.contexts` takes what was found."""
        if self.kinds:
            return [Cells(self.names)]
        parts: list[Part] = []
        if self.numeric:
            parts.append(Numbers(self.numeric, ContextError, _NO_NUMBER))
        for name in self.names:
            if name in self.categories:
                parts.append(Labels(name, self.categories[name], ContextError))
        return parts

    @property
    def entries(self) -> list[str]:
        """A name for each entry of a context."""
        if self.kinds:
            return Encoder(self.kinds).names
        found: list[str] = []
        for name in self.names:
            if name in self.categories:
                found += [f"{name}={category}" for category in self.categories[name]]
            else:
                found.append(name)
        return found


class Stream:
    """The contexts of one pass over a table, made by the rows seen so far only."""

    def __init__(self, features: Features) -> None:
        self._features = features
        self._encoder = Encoder(features.kinds) if features.kinds else None
        self._numeric: list[int] = []
        self._starts: list[int] = []
        self._width = 0
        for name in features.names:
            (self._starts if name in features.categories else self._numeric).append(self._width)
            self._width += len(features.categories.get(name, (name,)))
        self._scale = RunningStandard()

    def contexts(self, read: Sequence[Any], length: int) -> list[Any]:
        """The contexts of a batch from what its parts found; vectors share no memory."""
        if not self._features.names:
            return [None] * length
        if self._encoder is not None:
            return [self._encoded(row) for row in as_mappings(self._features.kinds, read[0])]
        if self._features.scalar:
            return [int(v) if v.is_integer() else v for v in read[0][:, 0].tolist()]
        table = np.zeros((length, self._width))
        found = list(read)
        if self._numeric:
            numbers = found.pop(0)
            table[:, self._numeric] = self._scale(numbers) if self._features.running else numbers
        rows = np.arange(length)
        for start, places in zip(self._starts, found, strict=True):
            table[rows, start + places] = 1.0
        return [row.copy() for row in table]

    def _encoded(self, row: dict[str, Any]) -> Any:
        assert self._encoder is not None
        context = self._encoder.encode(row)
        self._encoder.see(row)
        return context


class Codes:
    """The features of one pass over a table as numbers, one for each column, for trees.

    Categories are numbered in their order of appearance.
    """

    def __init__(self, features: Features) -> None:
        self._kinds = features.kinds
        self._known: dict[str, dict[str, int]] = {name: {} for name in features.kinds}
        others = [name for name in features.names if name in features.categories]
        self.names = list(features.kinds) or [*features.numeric, *others]

    def table(self, read: Sequence[Any], length: int) -> NDArray[np.float32]:
        """Return the numbers of a batch [length, columns] from what its parts read."""
        if not self._kinds:
            columns = [np.zeros((length, 0)), *(each.reshape(length, -1) for each in read)]
            return np.concatenate(columns, axis=1).astype(np.float32)
        table = np.empty((length, len(self._kinds)), dtype=np.float32)
        for i, (name, kind) in enumerate(self._kinds.items()):
            known, cells = self._known[name], read[0][:, i].tolist()
            if isinstance(kind, Number):
                table[:, i] = [*map(as_float, cells)]
            else:
                table[:, i] = [known.setdefault(str(cell), len(known)) for cell in cells]
        return table


def as_mappings(kinds: Mapping[str, Column], table: NDArray[Any]) -> list[dict[str, Any]]:
    """The rows of a table of cells by the names of their columns.

    A cell that cannot be read as its column says is missing: one of them in a million should not
    end a game.
    """
    columns = [readable(kind, table[:, i].tolist()) for i, kind in enumerate(kinds.values())]
    return [dict(zip(kinds, row, strict=True)) for row in zip(*columns, strict=True)]


def readable(kind: Column, cells: list[Any]) -> list[Any]:
    """Return the cells of a column, None where they say nothing to it."""
    if isinstance(kind, Number):
        return [x if math.isfinite(x) else None for x in map(as_float, cells)]
    probe, out = kind.clone(), [0.0] * kind.width
    known: dict[Any, Any] = {}
    for cell in cells:
        if isinstance(cell, str) and cell not in known:
            said = not is_hole(cell) or isinstance(kind, Category)
            known[cell] = cell if said and probe.write(cell, out, 0) else None
    return [known[cell] if isinstance(cell, str) else cell for cell in cells]


def _kinds(owner: object, context: Context) -> dict[str, Column]:
    """Kinds of columns by name, where they are declared."""
    if isinstance(context, str | None):
        return {}
    pairs: list[Any] = list(context.items()) if isinstance(context, Mapping) else list(context)
    if all(isinstance(pair, str) for pair in pairs):
        return {}
    try:
        named = {name: column_of(kind) for name, kind in pairs}
    except (TypeError, ValueError):
        accepted = "names, or pairs of a name and a kind such as 'number' or 'category'"
        raise refuse(owner, "context", accepted, context) from None
    if len(named) != len(pairs) or not all(isinstance(name, str) for name in named):
        raise refuse(owner, "context", "names of columns, each once", context)
    return named


def column_of(kind: Any) -> Column:
    """The column that a word stands for: "category 12" has room for 12, "date %d.%m.%Y" a format.

    >>> column_of("category 12").room, column_of("date %d.%m.%Y").format
    (12, '%d.%m.%Y')
    """
    if isinstance(kind, Column):
        return kind.clone()
    if isinstance(kind, list | tuple):
        return Category(kind)
    word, _, rest = str(kind).partition(" ")
    if (word, rest) == ("number", "only"):
        return Number(indicator=False)
    if word == "category" and rest.isdecimal():
        return Category(room=int(rest))
    if word in ("date", "time"):
        parts = ("day", "weekday", "month", *(("hour",) if word == "time" else ()))
        return Date(parts, rest or None)
    if word in _COLUMNS and not rest:
        return _COLUMNS[word]()
    raise ParameterError(
        f"A column is one of {', '.join(_COLUMNS)}, date, time, 'category 12' (levels) or "
        f"'date %d.%m.%Y'; got {kind!r:.80}."
    )
