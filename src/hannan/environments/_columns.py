"""Columns of data, checked: a batch becomes arrays, or an error that names the place.

    parts = [Numbers(["age", "hour"], ContextError), Labels("bought", ["no", "yes"])]
    check_names("the file 'shop.csv'", ["age", "hour", "bought"], header)
    for first, batch in batches:                   # batch: {name: values}; first: 1, 1001, …
        rows, places = read("the file 'shop.csv'", parts, batch, first)

Errors name the source, the column, the data row (the first one is 1; a header does not count) and
the value. Where a batch has several faults the earliest row is named, so that what is told does
not depend on how the rows were cut into batches.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.core import HannanError, LossError, ParameterError
from hannan.core.validation import FloatArray

Batch = Mapping[str, Any]


class Fault(NamedTuple):
    """A cell that cannot be used: its place in the batch, and what is wrong with it."""

    row: int
    column: str
    value: Any
    wrong: str


@dataclass(frozen=True)
class Numbers:
    """Columns of finite numbers, read as float64 [n, p]."""

    names: Sequence[str]
    error: type[HannanError] = LossError

    def read(self, batch: Batch) -> tuple[FloatArray, Fault | None]:
        """The table, and its first fault."""
        read = [_numbers(name, batch[name]) for name in self.names]
        faults = [fault for _, fault in read if fault is not None]
        return np.stack([values for values, _ in read], axis=1), _first(faults)


@dataclass(frozen=True)
class Labels:
    """A column of classes, read as their places 0..K-1 in a declared list.

    If all declared classes are numbers they are compared as numbers (3, 3.0 and "3" are one
    class), else as text.
    """

    name: str
    values: Sequence[Any]
    error: type[HannanError] = LossError
    _numeric: bool = field(init=False)
    _places: dict[Any, int] = field(init=False)

    def __post_init__(self) -> None:
        if any(_is_missing(value) for value in self.values):
            raise ParameterError(f"A label must not be empty; got {list(self.values)}.")
        numeric = all(_is_number(value) for value in self.values)
        object.__setattr__(self, "_numeric", numeric)
        places = {self._key(value): i for i, value in enumerate(self.values)}
        object.__setattr__(self, "_places", places)
        if len(places) != len(self.values):
            raise ParameterError(f"Each label must be declared once; got {list(self.values)}.")

    def read(self, batch: Batch) -> tuple[NDArray[np.intp], Fault | None]:
        """The places, and the first value that is missing or was not declared."""
        values = _listed(batch[self.name])
        places = [self._places.get(self._key(value), -1) for value in values]
        if -1 not in places:
            return np.array(places, dtype=np.intp), None
        row = places.index(-1)
        wrong = f"is none of the declared labels {_few(self.values)}"
        if _is_missing(values[row]):
            wrong = "is missing; leave out the row or fill it in"
        return np.array(places, dtype=np.intp), Fault(row, self.name, values[row], wrong)

    def _key(self, value: Any) -> Any:
        if not self._numeric:
            return None if value is None else _text(value)
        try:
            return float(value)
        except (TypeError, ValueError):
            return None


def read(source: str, parts: Sequence[Numbers | Labels], batch: Batch, first: int) -> list[Any]:
    """What each part reads from a batch; the earliest fault of all is an error.

    Parameters
    ----------
    source
        What the batch comes from, as in "the file 'clicks.csv'".
    parts
        What to read.
    batch
        Columns by name, all of the same length.
    first
        The number of the batch's first row in the whole, from 1.
    """
    found, faults = [], []
    for part in parts:
        values, fault = part.read(batch)
        found.append(values)
        if fault is not None:
            faults.append((fault, part.error))
    if faults:
        fault, error = min(faults, key=lambda pair: pair[0].row)
        shown = repr(fault.value) if isinstance(fault.value, str) else str(fault.value)
        raise error(
            f"Row {first + fault.row} of {source}, column {fault.column!r}: "
            f"{shown[:80]} {fault.wrong}."
        )
    return found


def check_names(source: str, wanted: Iterable[str], available: Iterable[str]) -> None:
    """Refuse, with the nearest name there is, if a wanted column is not available."""
    there = [str(name) for name in available]
    for name in wanted:
        if name not in there:
            near = difflib.get_close_matches(name, there, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"It has {_few(there)}."
            raise ParameterError(f"There is no column {name!r} in {source}. {hint}")


def distinct(source: str, name: str, values: Any) -> list[Any]:
    """The classes of a whole column: numbers, and texts of numbers, by size, others by text."""
    found: dict[Any, None] = {}
    for row, value in enumerate(_listed(values), start=1):
        if _is_missing(value):
            raise LossError(
                f"Row {row} of {source}, column {name!r}: {value!r} is missing; leave out the row "
                "or fill it in."
            )
        found[value] = None
    try:
        return sorted(found, key=lambda value: (float(value), str(value)))
    except (TypeError, ValueError):
        return sorted(found, key=str)


def _numbers(name: str, values: Any) -> tuple[FloatArray, Fault | None]:
    column = None if isinstance(values, list) else np.asarray(values)
    if column is not None and column.dtype.kind in "fiub":
        numbers = column.astype(np.float64)
    else:
        numbers = np.array([_number(cell) for cell in _listed(values)], dtype=np.float64)
    finite = np.isfinite(numbers)
    if finite.all():
        return numbers, None
    row = int(np.argmin(finite))
    value = _listed(values)[row]
    wrong = "is missing; leave out the row or fill it in"
    if not _is_missing(value):
        wrong = "is not a finite number"
    return numbers, Fault(row, name, value, wrong)


def _number(cell: Any) -> float:
    """A number or the text of one as a float; NaN for anything else, such as a date."""
    if not isinstance(cell, str | bytes) and not _is_number(cell):
        return math.nan
    try:
        return float(cell)
    except (TypeError, ValueError):
        return math.nan


def _listed(values: Any) -> list[Any]:
    return values if isinstance(values, list) else list(np.asarray(values).tolist())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, complex)


def _is_missing(value: Any) -> bool:
    # pandas' NA is neither equal to anything nor unequal to itself: only its text tells.
    return value is None or str(value) in ("", "<NA>") or bool(np.any(value != value))


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _first(faults: Sequence[Fault]) -> Fault | None:
    return min(faults, key=lambda fault: fault.row, default=None)


def _few(values: Sequence[Any]) -> str:
    shown = ", ".join(repr(value) for value in values[:8])
    return shown if len(values) <= 8 else f"{shown}, … ({len(values)} in all)"
