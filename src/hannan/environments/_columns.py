"""Read and check columns of data: a batch becomes arrays, or an error that names the cell.

Errors name the source, the column, the data row and the value. Rows count from 1, without the
header. If a batch has several faults, the error names the earliest row, so the message does not
depend on how the rows are split into batches.
"""

from __future__ import annotations

import difflib
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.core import ContextError, HannanError, LossError, ParameterError
from hannan.core.validation import FloatArray, refuse

Batch = Mapping[str, Any]
Batches = Iterator[tuple[int, Batch]]
MAX_CLASSES = 1000
_HOLES = ("", "nan", "na", "n/a", "#n/a", "nat", "null", "none", "<na>", "?", "-", "\\n")
_WHOLE = re.compile(r"(-?\d+)\.0+")
_MISSING = "is missing; leave out the row or fill it in"


class Table(ABC):
    """Base class of tables with named columns: files and frames."""

    names: list[str]
    """Names of the columns, in order."""
    source: str
    """Name of the table in messages, such as "the file 'clicks.csv'"."""

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Batches:
        """Yield batches of these columns, each with the number of its first row, from 1."""

    def count(self) -> int:
        """Return the number of rows."""
        name = self.names[0]
        return sum(len(batch[name]) for _, batch in self.batches([name]))


class Fault(NamedTuple):
    """An invalid cell: its row in the batch, its column and value, and the reason."""

    row: int
    column: str
    value: Any
    wrong: str


@dataclass(frozen=True)
class Numbers:
    """Columns of finite numbers, or texts of numbers, read as float64 [n, p].

    `advice` is appended to the message about text that is not a number. If `holes`, missing values
    are allowed and become NaN.
    """

    names: Sequence[str]
    error: type[HannanError] = LossError
    advice: str = ""
    holes: bool = False

    def read(self, batch: Batch) -> tuple[FloatArray, Fault | None]:
        """Return the table, and its first fault or None."""
        try:
            columns = [_plain_numbers(batch[name]) for name in self.names]
            table = np.ascontiguousarray(np.array(columns, dtype=np.float64).T)
            if np.isfinite(table).all():
                return table, None
        except (TypeError, ValueError, OverflowError):
            pass  # the code below finds the cells that are not numbers
        cells = {name: listed(batch[name]) for name in self.names}
        table = np.array([[*map(as_float, column)] for column in cells.values()]).T
        faults = []
        for name, numbers in zip(self.names, table.T, strict=True):
            wrong_at = np.flatnonzero(~np.isfinite(numbers)).tolist()
            holes = self.holes
            row = next((i for i in wrong_at if not (holes and is_hole(cells[name][i]))), None)
            if row is not None:
                value = cells[name][row]
                advice = self.advice if isinstance(value, str) else ""
                wrong = _MISSING if is_hole(value) else f"is not a finite number{advice}"
                faults.append(Fault(row, name, value, wrong))
        return np.ascontiguousarray(table), min(faults, key=lambda fault: fault.row, default=None)


@dataclass
class Labels:
    """A column of classes, read as their indices 0..K-1 in a declared list.

    If all declared classes are numbers, they are compared as numbers (3, 3.0 and "3" are one
    class), else as text, in which "3.0" is 3: frames store integers as floats if some are missing.
    `kind` and `advice` are used in the message about any other value. If `holes`, empty cells are
    allowed and become -1; a text such as "none" or "NA" is the name of a class.
    """

    name: str
    values: Sequence[Any]
    error: type[HannanError] = LossError
    kind: str = "declared labels"
    advice: str = ""
    holes: bool = False

    def __post_init__(self) -> None:
        if any(map(is_empty, self.values)):
            raise ParameterError(f"A label must not be empty; got {list(self.values)}.")
        self._numeric = all(map(_is_number, self.values))
        self._places = {self._key(value): i for i, value in enumerate(self.values)}
        if len(self._places) != len(self.values):
            raise ParameterError(f"Each label must be declared once; got {list(self.values)}.")

    @property
    def names(self) -> Sequence[str]:
        """Name of the column, as a list."""
        return [self.name]

    def read(self, batch: Batch) -> tuple[NDArray[np.intp], Fault | None]:
        """Return the indices, and the first value that is missing or not declared."""
        cells = listed(batch[self.name])
        places = np.array([self._places.get(self._key(cell), -1) for cell in cells], dtype=np.intp)
        wrong_at = np.flatnonzero(places < 0).tolist()
        row = next((i for i in wrong_at if not (self.holes and is_empty(cells[i]))), None)
        if row is None:
            return places, None
        wrong = f"is not one of the {self.kind} {_few(self.values)}{self.advice}"
        if is_empty(cells[row]):
            wrong = _MISSING
        return places, Fault(row, self.name, cells[row], wrong)

    def _key(self, value: Any) -> Any:
        if self._numeric:
            return as_float(value)  # NaN for text, and no class is NaN
        if is_empty(value):
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        text = str(value)
        whole = _WHOLE.fullmatch(text)
        return whole[1] if whole else text


@dataclass(frozen=True)
class Cells:
    """Columns of any values, read unchanged."""

    names: Sequence[str]
    error: type[HannanError] = ContextError
    holes: bool = False

    def read(self, batch: Batch) -> tuple[NDArray[Any], None]:
        """Return the columns, as objects [n, p]."""
        table = np.empty((len(batch[self.names[0]]), len(self.names)), dtype=object)
        for i, name in enumerate(self.names):
            table[:, i] = listed(batch[name])
        return table, None


Part = Numbers | Labels | Cells


def read(source: str, parts: Sequence[Part], batch: Batch, first: int) -> list[Any]:
    """Return the values that each part reads from a batch, whose first row has the number `first`.

    If there are faults, the earliest one raises its error.
    """
    found, faults = [], []
    for part in parts:
        values, fault = part.read(batch)
        found.append(values)
        if fault is not None:
            faults.append((fault, part.error))
    if faults:
        fault, error = min(faults, key=lambda pair: pair[0].row)
        raise error(_told(source, fault, first))
    return found


def check_names(source: str, wanted: Iterable[str], available: Iterable[str]) -> None:
    """Raise an error that suggests the nearest name if a wanted column does not exist."""
    existing = [str(name) for name in available]
    known = set(existing)
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, existing[:MAX_CLASSES], 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Columns: {_few(existing) or 'none'}."
            raise ParameterError(f"There is no column {name!r} in {source}. {hint}")


def column_names(owner: object, name: str, given: Any) -> list[str]:
    """Return names of columns as a list; raise `ParameterError` if a name occurs twice."""
    if given is None:
        return []
    names = [given] if isinstance(given, str) else list(given)
    if not all(isinstance(entry, str) for entry in names) or len(set(names)) != len(names):
        raise refuse(owner, name, "names of columns, each once", given)
    return names


def survey(
    table: Table, columns: Mapping[str, type[HannanError]], holes: Sequence[str] = ()
) -> dict[str, list[Any]]:
    """Return the distinct values of some columns: numbers ascending, other values sorted as text.

    This takes one pass over the table, if any columns are given. A missing value raises the given
    error class, except in the columns of `holes`.
    """
    found: dict[str, set[Any]] = {name: set() for name in columns}
    for first, batch in table.batches(list(columns)) if columns else ():
        for name, error in columns.items():
            cells, known = listed(batch[name]), found[name]
            fault = _add_classes(name, cells, known, name in holes)
            if fault is not None:
                raise error(_told(table.source, fault, first))
            if len(known) > MAX_CLASSES:
                raise ParameterError(
                    f"Column {name!r} of {table.source} has more than {MAX_CLASSES} different "
                    f"values in the first {first + len(cells) - 1} rows, too many for classes. "
                    "Leave out the column, or declare its values."
                )
    return {name: _ordered(values) for name, values in found.items()}


def _add_classes(name: str, cells: list[Any], known: set[Any], holes: bool) -> Fault | None:
    """Add the distinct values of some cells to `known`; return the first invalid cell, or None."""
    try:
        fresh = set(cells) - known
    except TypeError:
        row = next(i for i, cell in enumerate(cells) if not isinstance(cell, Hashable))
        return Fault(row, name, cells[row], "cannot be the name of a class")
    if holes:
        fresh = {cell for cell in fresh if not is_empty(cell)}
    if any(map(is_empty, fresh)):
        row = next(i for i, cell in enumerate(cells) if is_empty(cell))
        return Fault(row, name, cells[row], _MISSING)
    known |= fresh
    return None


def _told(source: str, fault: Fault, first: int) -> str:
    shown = repr(fault.value) if isinstance(fault.value, str) else str(fault.value)
    row, column = first + fault.row, fault.column
    return f"Row {row} of {source}, column {column!r}: {shown[:80]} {fault.wrong}."


def _ordered(values: Iterable[Any]) -> list[Any]:
    try:
        return sorted(values, key=lambda value: (float(value), str(value)))
    except (TypeError, ValueError, OverflowError):
        return sorted(values, key=str)


def _plain_numbers(values: Any) -> Any:
    """Return a column as numbers, or raise an error; stricter than NumPy about texts of numbers."""
    if not isinstance(values, list) and np.asarray(values).dtype.kind in "fiub":
        return values
    return [float(cell) for cell in listed(values)]


def as_float(cell: Any) -> float:
    """Return a number or the number in a text; NaN for any other value, such as a date."""
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def listed(values: Any) -> list[Any]:
    """Return the cells of a column as a list."""
    if isinstance(values, list):
        return values
    found = np.asarray(values)
    if found.dtype.kind in "mM" and np.datetime_data(found.dtype)[0] in ("ns", "ps", "fs", "as"):
        found = found.astype(f"{found.dtype.kind}8[us]")  # else `tolist` returns integers
    return list(found.tolist())


def _is_number(value: Any) -> bool:
    """Return whether a value is a number that converts to a float other than NaN."""
    known = isinstance(value, int | float | np.number) and not isinstance(value, complex)
    return known and not math.isnan(as_float(value))


def is_hole(value: Any) -> bool:
    """Return whether a cell is missing, or holds a text for a missing value."""
    if isinstance(value, str):
        return len(value) < 16 and value.strip().lower() in _HOLES
    return is_empty(value)


def is_empty(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN or blank text."""
    if isinstance(value, str):
        return not value or value.isspace()
    # pandas' NA is neither equal to anything nor unequal to itself, so its text is compared.
    return value is None or str(value) == "<NA>" or bool(np.any(value != value))


def _few(values: Sequence[Any]) -> str:
    shown = ", ".join(repr(value)[:80] for value in values[:8])
    return shown if len(values) <= 8 else f"{shown}, … ({len(values)} in all)"
