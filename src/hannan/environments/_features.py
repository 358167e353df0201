"""Columns of a file as contexts: numbers standardised as they come, text as indicators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hannan.core import ContextError, ParameterError
from hannan.core.validation import FloatArray, check_choice, refuse
from hannan.environments._columns import Batch, Fault, Labels, Numbers
from hannan.environments._files import TableFile
from hannan.kernels import running

Categorical = Sequence[str] | Mapping[str, Sequence[Any]]
MAX_CLASSES = 1000
_HOLES = ("nan", "na", "n/a", "null", "none")
_MISSING = "is missing; leave out the row or fill it in"
_NO_NUMBER = "; declare the column as categorical, or leave it out of the context"


@dataclass(frozen=True)
class FileNumbers(Numbers):
    """Columns of numbers, as text or not; a fault may say what else to do about text."""

    advice: str = ""

    def read(self, batch: Batch) -> tuple[FloatArray, Fault | None]:
        """The table, and its first fault."""
        try:
            table = np.array([_quick(batch[name]) for name in self.names]).T
        except (TypeError, ValueError):
            table = None
        if table is not None and np.isfinite(table).all():
            return np.ascontiguousarray(table), None
        table, fault = super().read(batch)
        if fault is not None and isinstance(fault.value, str) and fault.value.strip():
            hole = fault.value.strip().lower() in _HOLES
            fault = fault._replace(wrong=_MISSING if hole else fault.wrong + self.advice)
        return table, fault


def _quick(values: Any) -> Any:
    return list(map(float, values)) if isinstance(values, list) else values


class Features:
    """How a row of a file becomes a context.

    Parameters
    ----------
    owner
        The environment that reads, for messages about its parameters.
    context
        Names of columns: the context is a vector, with one entry for each column of numbers and
        one for each category of the others. One name by itself: the context is that column's
        number, as it is, an int if it is whole. None: no contexts.
    categorical
        Which of them are categories; a mapping also says which categories there are.
    scale
        "running" or None.

    Attributes
    ----------
    categories
        The categories of each column that has them.
    unknown
        Columns whose categories were not declared: `learn` must be told.
    """

    def __init__(
        self,
        owner: object,
        context: Sequence[str] | str | None,
        categorical: Categorical,
        scale: str | None,
    ) -> None:
        self.scalar = isinstance(context, str)
        self.names = column_names(owner, "context", context)
        self.running = scale is not None and not self.scalar
        if scale is not None:
            check_choice(owner, "scale", scale, ("running",))
        self._owner = owner
        chosen = column_names(owner, "categorical", categorical)
        extra = [name for name in chosen if name not in self.names]
        if extra or (self.scalar and chosen):
            raise refuse(owner, "categorical", f"columns of context={self.names}", categorical)
        self.categories: dict[str, list[Any]] = {}
        if isinstance(categorical, Mapping):
            self.categories = {name: list(values) for name, values in categorical.items()}
        self.unknown = [name for name in chosen if name not in self.categories]
        self._numeric = [name for name in self.names if name not in chosen]

    def learn(self, found: Mapping[str, list[Any]]) -> None:
        """Told the categories of the columns in `unknown`."""
        self.categories |= {name: found[name] for name in self.unknown}

    @property
    def parts(self) -> list[Numbers | Labels]:
        """What to read from each batch; `Stream.contexts` takes what was found."""
        parts: list[Numbers | Labels] = []
        if self._numeric:
            parts.append(FileNumbers(self._numeric, ContextError, _NO_NUMBER))
        for name in self.names:
            if name in self.categories:
                parts.append(Labels(name, self.categories[name], ContextError))
        return parts

    @property
    def entries(self) -> list[str]:
        """A name for each entry of a context."""
        found: list[str] = []
        for name in self.names:
            if name in self.categories:
                found += [f"{name}={category}" for category in self.categories[name]]
            else:
                found.append(name)
        return found

    def stream(self) -> Stream:
        """A reading of the file from its beginning."""
        return Stream(self)


class Stream:
    """The contexts of one reading: what standardises them depends on the rows so far alone."""

    def __init__(self, features: Features) -> None:
        self._features = features
        self._numeric: list[int] = []
        self._starts: list[int] = []
        self._width = 0
        for name in features.names:
            (self._starts if name in features.categories else self._numeric).append(self._width)
            self._width += len(features.categories.get(name, (name,)))
        self._count = 0
        self._mean = np.zeros(len(self._numeric))
        self._squares = np.zeros(len(self._numeric))

    def contexts(self, read: Sequence[Any], length: int) -> list[Any]:
        """The contexts of a batch from what its parts found; vectors share no memory."""
        if not self._features.names:
            return [None] * length
        if self._features.scalar:
            return [int(v) if v.is_integer() else v for v in read[0][:, 0].tolist()]
        table = np.zeros((length, self._width))
        found = list(read)
        if self._numeric:
            table[:, self._numeric] = self._scaled(found.pop(0))
        rows = np.arange(length)
        for start, places in zip(self._starts, found, strict=True):
            table[rows, start + places] = 1.0
        return [row.copy() for row in table]

    def _scaled(self, numbers: FloatArray) -> FloatArray:
        if not self._features.running:
            return numbers
        scaled = np.empty_like(numbers)
        running.standardise(numbers, self._count, self._mean, self._squares, scaled)
        self._count += len(numbers)
        return scaled


def column_names(owner: object, name: str, given: Any) -> list[str]:
    """Names of columns as a list, each once."""
    if given is None:
        return []
    names = [given] if isinstance(given, str) else list(given)
    if not all(isinstance(entry, str) for entry in names) or len(set(names)) != len(names):
        raise refuse(owner, name, "names of columns, each once", given)
    return names


def survey(table: TableFile, classes: Sequence[str], others: Sequence[str]) -> dict[str, list[Any]]:
    """The different values of some columns, numbers by size and anything else by its text.

    One pass over the file, if there are any. The columns `classes` have their values in common.
    """
    names = list(dict.fromkeys([*classes, *others]))
    shared: dict[Any, None] = {}
    found: dict[str, dict[Any, None]] = {name: shared if name in classes else {} for name in names}
    for first, batch in table.batches(names) if names else ():
        for name in names:
            _note_values(table, name, batch[name], first, found[name])
    return {name: _ordered(values) for name, values in found.items()}


def _note_values(
    table: TableFile, name: str, values: Any, first: int, known: dict[Any, None]
) -> None:
    try:
        fresh = set(values) - known.keys()
    except TypeError:
        row = next(i for i, value in enumerate(values) if isinstance(value, dict | list))
        raise ParameterError(
            f"Row {first + row} of {table.source}, column {name!r}: {values[row]!r} is no name of "
            "a class."
        ) from None
    if not fresh:
        return
    _refuse_missing(table, name, values, first)
    known |= dict.fromkeys(fresh)
    if len(known) > MAX_CLASSES:
        raise ParameterError(
            f"Column {name!r} of {table.source} has more than {MAX_CLASSES} different values by "
            f"row {first + len(values) - 1}: it does not look like classes. Leave it out, or "
            "declare the values there are."
        )


def _refuse_missing(table: TableFile, name: str, values: Any, first: int) -> None:
    for row, value in enumerate(values):
        if value is None or value == "" or value != value:
            raise ParameterError(
                f"Row {first + row} of {table.source}, column {name!r}: {value!r} is missing; "
                "leave out the row or fill it in."
            )


def _ordered(values: Iterable[Any]) -> list[Any]:
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    try:
        return sorted(plain, key=lambda value: (float(value), str(value)))
    except (TypeError, ValueError):
        return sorted(plain, key=str)
