"""Columns of a table as contexts: numbers standardised as they come, text as indicators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hannan.core import ContextError
from hannan.core.validation import check_choice, refuse
from hannan.environments._columns import Labels, Numbers, column_names
from hannan.environments._scaling import RunningStandard

Categorical = Sequence[str] | Mapping[str, Sequence[Any]]
_NO_NUMBER = "; declare the column as categorical, or leave it out of the context"


class Features:
    """How a row of a table becomes a context, by parameters of the environment that reads it.

    Names of columns: the context is a vector, with one entry for each column of numbers and one
    for each category of the others. One name by itself: the context is that column's number, as
    it is, an int if it is whole. The categories of the columns in `unknown` were not declared:
    `learn` must be given them.
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
        known = set(self.names)
        extra = [name for name in chosen if name not in known]
        if extra or (self.scalar and chosen):
            raise refuse(owner, "categorical", f"columns of context={self.names}", categorical)
        self.categories: dict[str, list[Any]] = {}
        if isinstance(categorical, Mapping):
            self.categories = {name: list(values) for name, values in categorical.items()}
        self.unknown = [name for name in chosen if name not in self.categories]
        others = set(chosen)
        self._numeric = [name for name in self.names if name not in others]

    def learn(self, found: Mapping[str, list[Any]]) -> None:
        """Take the categories of the columns in `unknown`."""
        self.categories |= {name: found[name] for name in self.unknown}

    @property
    def parts(self) -> list[Numbers | Labels]:
        """What to read from each batch; `Stream.contexts` takes what was found."""
        parts: list[Numbers | Labels] = []
        if self._numeric:
            parts.append(Numbers(self._numeric, ContextError, _NO_NUMBER))
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
        """A new pass over the table from its beginning."""
        return Stream(self)


class Stream:
    """The contexts of one pass, standardised by the rows seen so far only."""

    def __init__(self, features: Features) -> None:
        self._features = features
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
