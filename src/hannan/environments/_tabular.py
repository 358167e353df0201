"""Base classes of environments whose rounds are the rows of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import ContextError, Environment, HannanError, LossError, Oracle, ParameterError
from hannan.core.rounds import IntArray
from hannan.core.validation import FloatArray, check_choice
from hannan.environments._columns import (
    Cells,
    Labels,
    Part,
    Table,
    check_names,
    is_empty,
    listed,
    read,
    survey,
)
from hannan.environments._features import Categorical, Context, RowContexts, as_mappings
from hannan.environments._files import TableFile, open_table

MISSING = ("refuse", "drop")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Rows of a table that are left out, because a column that they need is empty.

    Examples
    --------
    >>> import hannan as hn
    >>> frame = {"offer": ["none", "5%", "none", "5%"], "sold": ["yes", "", "no", None]}
    >>> shop = hn.environments.FromFrame(frame, label="sold", missing="drop")
    >>> shop.left_out.rows, shop.left_out.share, shop.left_out.reasons
    (2, 0.5, {'sold': {'': 2}})
    >>> print(shop.left_out)
    2 of 4 rows left out because of sold: (empty) 2
    """

    rows: int
    """Number of rows left out."""
    of: int
    """Number of rows of the table."""
    reasons: Mapping[str, Mapping[str, int]]
    """For each column that lacks a value, the numbers of rows by the text of the cell."""
    counts: Mapping[str, Mapping[str, int]]
    """For the columns of actions and classes, the numbers of rows left out by value."""

    @property
    def share(self) -> float:
        """Share of the rows that are left out, in [0, 1]."""
        return self.rows / self.of if self.of else 0.0

    def __str__(self) -> str:
        if not self.rows:
            return f"0 of {self.of:,} rows left out"
        why = "; ".join(f"because of {n}: {_listed(cells)}" for n, cells in self.reasons.items())
        by = "; ".join(f"by {n}: {_listed(c)}" for n, c in self.counts.items() if set(c) != {""})
        return f"{self.rows:,} of {self.of:,} rows left out {why}" + (f" ({by})" if by else "")


@dataclass(repr=False, eq=False, kw_only=True)
class Tabular(Environment):
    """Rows of a table in order: some columns give the context, others the losses of actions.

    A subclass calls `_open` with its table, and then sets `_parts` to the parts to read.
    """

    context: Context = None
    categorical: Categorical = ()
    scale: str | None = "running"
    missing: str = "refuse"
    oracle: Oracle | None = None

    def _open(self, table: Table, columns: Iterable[str], classes: str | None) -> list[Any]:
        """Open a table whose `columns` hold the losses; return the classes in column `classes`."""
        self._table = table
        self._drops = check_choice(self, "missing", self.missing, MISSING) == "drop"
        self._features = RowContexts(self, self.context, self.categorical, self.scale)
        self._parts: list[Part] = []
        columns = list(columns)
        self._columns = list(dict.fromkeys([*self._features.names, *columns]))
        check_names(table.source, self._columns, table.names)
        asked: dict[str, type[HannanError]] = dict.fromkeys(self._features.unknown, ContextError)
        if classes is not None:
            asked[classes] = LossError
        found = survey(table, asked, columns if self._drops else ())
        self._features.categories |= {name: found[name] for name in self._features.unknown}
        if classes is None:
            return []
        if not found[classes]:
            raise ParameterError(f"There are no rows in {table.source}.")
        return found[classes]

    def _check_range(
        self,
        columns: Sequence[str],
        values: FloatArray,
        numbers: IntArray,
        bounds: tuple[float, float],
        why: str = "",
    ) -> None:
        """Raise `LossError` for a value [n, p] out of bounds; `numbers` are the row numbers."""
        outside = (values < bounds[0]) | (values > bounds[1])
        if outside.any():
            row, column = np.argwhere(outside)[0]
            raise LossError(
                f"Row {numbers[row]} of {self._table.source}, column {columns[column]!r}: "
                f"{values[row, column]:g} {why or f'is outside value_range={bounds}'}."
            )

    @cached_property
    def left_out(self) -> LeftOut:
        """Rows that are left out, with the reasons and by action or class; reads the table once."""
        if not self._drops:
            return LeftOut(0, self._table.count(), {}, {})
        parts = [part for part in self._parts if part.holes]
        columns = list(dict.fromkeys(name for part in parts for name in part.names))
        reasons: dict[str, Counter[str]] = {name: Counter() for name in columns}
        counts = {part.name: Counter[str]() for part in parts if isinstance(part, Labels)}
        rows = of = 0
        for first, batch in self._table.batches(columns):
            values = read(self._table.source, parts, batch, first)
            kept = _complete(parts, values)
            of, rows = of + len(kept), rows + int((~kept).sum())
            for part, table in zip(parts, values, strict=True):
                for name, lacks in zip(part.names, _lacks(part, table).T, strict=True):
                    cells = listed(batch[name])
                    texts = (_text(cells[i]) for i in np.flatnonzero(lacks))
                    reasons[name].update(texts)
                if isinstance(part, Labels):
                    places = table[~kept].tolist()
                    named = ("" if k < 0 else str(part.values[k]) for k in places)
                    counts[part.name].update(named)
        return LeftOut(
            rows, of, *({n: _sorted(c) for n, c in d.items() if c} for d in (reasons, counts))
        )

    @cached_property
    def horizon(self) -> int:
        """Number of rows that can be played; a file is read once to count them."""
        return self.left_out.of - self.left_out.rows

    def _batches(self, horizon: int) -> Iterator[tuple[IntArray, list[Any]]]:
        """Yield the numbers of `horizon` rows and the values of the parts, in batches.

        If `missing="drop"`, rows without the values for the losses are left out.
        """
        table, left = self._table, horizon
        for first, batch in table.batches(self._columns):
            if not self._drops:  # then faults in later rows do not matter
                batch = {name: values[:left] for name, values in batch.items()}
            found = read(table.source, self._parts, batch, first)
            rows = np.flatnonzero(_complete(self._parts, found))[:left]
            if len(rows):
                yield first + rows, [values[rows] for values in found]
            left -= len(rows)
            if left == 0:
                return
        raise ParameterError(
            f"Cannot play {horizon} rounds: {table.source} has only {horizon - left} rows. Reduce "
            "the horizon."
        )

    def rows(self, horizon: int) -> Iterator[dict[str, Any]]:
        """Yield the context columns of each row, in the form that `hannan.features` reads."""
        if not self._features.kinds:
            raise ParameterError(
                f"{type(self).__name__}.rows needs context= with kinds of columns, such as "
                "{'age': 'number'}."
            )
        at = next(i for i, part in enumerate(self._parts) if isinstance(part, Cells))
        for _, found in self._batches(horizon):
            yield from as_mappings(self._features.kinds, found[at])

    @property
    def features(self) -> list[str]:
        """Name of each entry of a context."""
        return self._features.entries

    @property
    def categories(self) -> dict[str, list[Any]]:
        """Categories of each categorical column."""
        return self._features.categories


@dataclass(repr=False, eq=False, kw_only=True)
class InFile(Tabular):
    """Rows of a file."""

    path: str | PathLike[str] = field(kw_only=False)
    dialect: Mapping[str, Any] | None = None
    max_columns: int | None = None
    max_unpacked: int | None = None

    def _file(self) -> TableFile:
        return open_table(self.path, self.max_columns, self.max_unpacked, self.dialect)


def _complete(parts: Sequence[Part], found: Sequence[NDArray[Any]]) -> NDArray[np.bool_]:
    """Return a mask of the rows without missing values in the parts that allow `holes`."""
    kept = np.ones(len(found[0]), dtype=bool)
    for part, values in zip(parts, found, strict=True):
        if part.holes:
            kept &= ~_lacks(part, values).any(axis=1)
    return kept


def _lacks(part: Part, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask [n, p] of the missing cells."""
    return values[:, None] < 0 if isinstance(part, Labels) else np.isnan(values)


def _text(cell: Any) -> str:
    return "" if is_empty(cell) else str(cell).strip()[:80]


def _sorted(counts: Counter[str]) -> dict[str, int]:
    """Return counts by value, the largest first."""
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _listed(counts: Mapping[str, int]) -> str:
    """Write counts by value, such as "none 12, (empty) 3"."""
    shown = [f"{value or '(empty)'} {count:,}" for value, count in list(counts.items())[:8]]
    return ", ".join(shown) + (", …" if len(counts) > 8 else "")
