"""Environments whose rounds are the rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.core import ContextError, Environment, HannanError, LossError, ParameterError, Round
from hannan.core.rounds import IntArray
from hannan.core.validation import FloatArray, check_choice, check_loss_range, refuse
from hannan.environments._columns import (
    Cells,
    Labels,
    Numbers,
    Part,
    Table,
    check_names,
    check_range,
    column_names,
    read,
    survey,
)
from hannan.environments._cost import check_cost
from hannan.environments._features import Categorical, Context, Features, Rows

MISSING = ("refuse", "drop")


class Tabular(Environment):
    """Rows in order: some columns are the context, others hold the losses of actions."""

    _table: Table
    _features: Features
    _columns: list[str]
    missing: str

    def _open(
        self, table: Table, features: Features, columns: Iterable[str], classes: str | None
    ) -> list[Any]:
        """Take a table whose `columns` hold the losses; returns the classes in column `classes`."""
        self._table = table
        self._drops = check_choice(self, "missing", self.missing, MISSING) == "drop"
        columns = list(columns)
        self._features = features
        self._columns = list(dict.fromkeys([*features.names, *columns]))
        check_names(table.source, self._columns, table.names)
        asked: dict[str, type[HannanError]] = dict.fromkeys(features.unknown, ContextError)
        if classes is not None:
            asked[classes] = LossError
        found = survey(table, asked, columns if self._drops else ())
        features.learn(found)
        if classes is None:
            return []
        if not found[classes]:
            raise ParameterError(f"There are no rows in {table.source}.")
        return found[classes]

    @cached_property
    def _rows(self) -> int:
        if not self._drops:
            return self._table.count()
        parts = [part for part in self._parts_read if _may_want(part)]
        columns = list(dict.fromkeys(name for part in parts for name in _names_of(part)))
        return sum(
            int(_complete(parts, read(self._table.source, parts, batch, first)).sum())
            for first, batch in self._table.batches(columns)
        )

    @property
    def _parts_read(self) -> list[Part]:
        """What is read of each row."""
        raise NotImplementedError

    def _batches(self, horizon: int) -> Iterator[tuple[IntArray, list[Any]]]:
        """Read `horizon` rows, some thousand at a time: their numbers, and what the parts found.

        Rows that lack what the losses come from are left out if `missing` says so.
        """
        table, parts, left = self._table, self._parts_read, horizon
        for first, batch in table.batches(self._columns):
            if not self._drops:  # then what is wrong in later rows does not matter
                batch = {name: values[:left] for name, values in batch.items()}
            found = read(table.source, parts, batch, first)
            rows = np.flatnonzero(_complete(parts, found))[:left]
            if len(rows):
                yield first + rows, [values[rows] for values in found]
            left -= len(rows)
            if left == 0:
                return
        raise ParameterError(
            f"There are {horizon - left} rows in {table.source}; {horizon} were asked for."
        )

    @property
    def horizon(self) -> int:
        """The number of rows that can be played; a file is read to count them, once."""
        return self._rows

    def rows(self, horizon: int) -> Iterator[dict[str, Any]]:
        """The columns of the context in each row, as `hannan.features` reads them."""
        if not self._features.kinds:
            raise ParameterError(f"{type(self).__name__} has rows where context= declares kinds.")
        rows = Rows(self._features.kinds)
        at = next(i for i, part in enumerate(self._parts_read) if isinstance(part, Cells))
        for _, found in self._batches(horizon):
            yield from rows.read(found[at])

    @property
    def features(self) -> list[str]:
        """A name for each entry of a context."""
        return self._features.entries

    @property
    def categories(self) -> dict[str, list[Any]]:
        """The categories of each column that has them."""
        return self._features.categories


def _may_want(part: Part) -> bool:
    return getattr(part, "holes", False)


def _names_of(part: Part) -> Sequence[str]:
    return [part.name] if isinstance(part, Labels) else part.names


def _complete(parts: Sequence[Part], found: Sequence[NDArray[Any]]) -> NDArray[np.bool_]:
    """The rows in which nothing is missing that may be."""
    kept = np.ones(len(found[0]), dtype=bool)
    for part, values in zip(parts, found, strict=True):
        if _may_want(part):
            kept &= values >= 0 if isinstance(part, Labels) else ~np.isnan(values).any(axis=1)
    return kept


class Batch(NamedTuple):
    """Some rows: indices of the right classes or losses [n, K]; actions taken; context columns."""

    outcomes: NDArray[Any]
    current: Sequence[int | None]
    shown: Sequence[NDArray[Any]]


class Replay(Tabular):
    """Rows that hold the losses of all actions: the right class, or a column for each action.

    Subclasses store their arguments under the names below and then call `_replay` with a table.
    """

    context: Context
    label: str | None
    losses: Sequence[str] | None
    labels: Sequence[Any] | None
    categorical: Categorical
    scale: str | None
    value_range: tuple[float, float] | None
    current: str | None
    cost: Mapping[Any, Mapping[Any, float]] | None
    actions: list[Any]
    classes: list[Any] | None
    """What the column `label` holds; None where losses stand in columns."""

    def _replay(self, table: Table) -> None:
        outcome = self._outcome_names()
        if self.current is not None and not isinstance(self.current, str):
            raise refuse(self, "current", "the name of a column", self.current)
        features = Features(self, self.context, self.categorical, self.scale)
        self._range = None
        if self.value_range is not None:
            self._range = check_loss_range(self, self.value_range, "value_range")
        columns = [*outcome, *([] if self.current is None else [self.current])]
        found = self._open(table, features, columns, self.label if self.labels is None else None)
        self.classes = None if self.label is None else list(self.labels or found)
        self.actions = outcome if self.classes is None else self.classes
        self._miss = list(1.0 - np.eye(len(self.actions)))
        if self.cost is not None:
            if self.classes is None:
                raise refuse(self, "cost", "left out where losses= is given", self.cost)
            self.actions, costs = check_cost(self, self.cost, self.classes)
            self._miss = list(self._scaled(costs))
        self.n_actions = len(self.actions)
        outcomes: Numbers | Labels = Numbers(outcome, holes=self._drops)
        if self.label is not None and self.classes is not None:
            outcomes = Labels(self.label, self.classes, holes=self._drops)
        self._parts: list[Part] = [outcomes, *features.parts]
        if self.current is not None:
            more = "; if there are more, declare them all as labels" if found else ""
            self._parts.append(
                Labels(self.current, self.actions, LossError, "actions", more, self._drops)
            )

    def right_classes(self, horizon: int) -> Iterator[int]:
        """The place in `classes` of the right class of each row."""
        for outcomes, _, _ in self._read(horizon):
            yield from outcomes.tolist()

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        stream = self._features.stream()
        for outcomes, current, shown in self._read(horizon):
            contexts = stream.contexts(shown, len(outcomes))
            losses: Iterable[FloatArray] = map(np.copy, outcomes)
            if self.label is not None:
                losses = [self._miss[k] for k in outcomes.tolist()]
            yield from map(Round, contexts, losses, repeat(0), current)

    def _read(self, horizon: int) -> Iterator[Batch]:
        """The first `horizon` rows, checked."""
        source = self._table.source
        for numbers, (outcomes, *shown) in self._batches(horizon):
            current: list[int | None] = [None] * len(outcomes)
            if self.current is not None:
                current = shown.pop().tolist()
            if self.label is None and self._range is not None:
                check_range(source, self.actions, outcomes, self._range, numbers)
                outcomes = self._scaled(outcomes)
            yield Batch(outcomes, current, shown)

    @property
    def _parts_read(self) -> list[Part]:
        return self._parts

    def _scaled(self, losses: FloatArray) -> FloatArray:
        if self._range is None:
            return losses
        low, high = self._range
        return (losses - low) / (high - low)

    def _outcome_names(self) -> list[str]:
        """The columns that hold the losses."""
        label, losses, labels = self.label, self.losses, self.labels
        if (label is None) == (losses is None):
            raise ParameterError(
                f"{type(self).__name__} needs either label=, the column of the right class, or "
                f"losses=, one column for each action; got label={label!r} and losses={losses!r}."
            )
        if label is not None:
            if labels is not None and (isinstance(labels, str) or len(labels) == 0):
                raise refuse(self, "labels", "a list of the classes in column label=", labels)
            if not isinstance(label, str):
                raise refuse(self, "label", "the name of a column", label)
            return [label]
        names = [] if isinstance(losses, str) else column_names(self, "losses", losses)
        if not names:
            raise refuse(self, "losses", "a list of columns, one for each action", losses)
        if labels is not None:
            raise refuse(self, "labels", "left out where losses= is given", labels)
        return names
