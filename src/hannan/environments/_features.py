"""Convert columns of a table to contexts: numbers, categories, dates."""

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


class RowContexts:
    """Conversion of table rows to contexts, as the parameters of an environment declare it.

    If `context` is a list of names, the context is a vector with one entry for each column of
    numbers and one for each category of the other columns. If `context` is a single name, the
    context is the number in that column, an int if the number is whole. The categories of the
    columns in `unknown` were not declared: the reader of the table adds them to `categories`. If
    `context` declares kinds of columns, `hannan.features.Features` encodes the rows, including
    missing values of every kind.
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
        """Parts to read from each batch, in the order that `Stream.contexts` expects."""
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
        """Name of each entry of a context."""
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
    """Contexts of one pass over a table; each depends only on its row and earlier rows."""

    def __init__(self, features: RowContexts) -> None:
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
        """Return the contexts of a batch from the values of its parts; vectors share no memory."""
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
    """Features of one pass over a table as numbers, one per column, for trees.

    Categories are numbered in their order of appearance.
    """

    def __init__(self, features: RowContexts) -> None:
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
    """Return the rows of a table of cells as mappings from column names to cells.

    A cell that its column cannot read becomes missing: a single such cell in a million must not end
    the run.
    """
    columns = [readable(kind, table[:, i].tolist()) for i, kind in enumerate(kinds.values())]
    return [dict(zip(kinds, row, strict=True)) for row in zip(*columns, strict=True)]


def readable(kind: Column, cells: list[Any]) -> list[Any]:
    """Return the cells of a column, with None for cells that the column cannot read."""
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
    """Return the declared kind of each column, or an empty mapping."""
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
    """Return the column for a word: "category 12" has room for 12, "date %d.%m.%Y" sets a format.

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
        f"Unknown kind of column {kind!r:.80}. Use one of {', '.join(_COLUMNS)}, date, time, "
        "'category 12' (12 levels) or 'date %d.%m.%Y'."
    )
