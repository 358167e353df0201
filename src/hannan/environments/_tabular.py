"""Environments whose rounds are the rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.core import ContextError, Environment, HannanError, LossError, ParameterError, Round
from hannan.core.validation import FloatArray, check_loss_range, refuse
from hannan.environments._columns import (
    Labels,
    Numbers,
    Table,
    check_names,
    check_range,
    column_names,
    read,
    survey,
)
from hannan.environments._features import Categorical, Features
from hannan.environments._files import first_rows


class Tabular(Environment):
    """Rows in order: some columns are the context, others hold the losses of actions."""

    _table: Table
    _features: Features
    _columns: list[str]

    def _open(
        self, table: Table, features: Features, columns: Iterable[str], classes: str | None
    ) -> list[Any]:
        """Take a table whose `columns` hold the losses; returns the classes in column `classes`."""
        self._table = table
        self._features = features
        self._columns = list(dict.fromkeys([*features.names, *columns]))
        check_names(table.source, self._columns, table.names)
        asked: dict[str, type[HannanError]] = dict.fromkeys(features.unknown, ContextError)
        if classes is not None:
            asked[classes] = LossError
        found = survey(table, asked)
        features.learn(found)
        if classes is None:
            return []
        if not found[classes]:
            raise ParameterError(f"There are no rows in {table.source}.")
        return found[classes]

    @cached_property
    def _rows(self) -> int:
        return self._table.count()

    @property
    def horizon(self) -> int:
        """The number of rows; a file is read to count them, once."""
        return self._rows

    @property
    def features(self) -> list[str]:
        """A name for each entry of a context."""
        return self._features.entries

    @property
    def categories(self) -> dict[str, list[Any]]:
        """The categories of each column that has them."""
        return self._features.categories


class Batch(NamedTuple):
    """Some rows: indices of the right classes or losses [n, K]; actions taken; context columns."""

    outcomes: NDArray[Any]
    current: Sequence[int | None]
    shown: Sequence[NDArray[Any]]


class Replay(Tabular):
    """Rows that hold the losses of all actions: the right class, or a column for each action.

    Subclasses store their arguments under the names below and then call `_replay` with a table.
    """

    context: Sequence[str] | str | None
    label: str | None
    losses: Sequence[str] | None
    labels: Sequence[Any] | None
    categorical: Categorical
    scale: str | None
    value_range: tuple[float, float] | None
    current: str | None
    actions: list[Any]

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
        self.actions = outcome if self.label is None else list(self.labels or found)
        self.n_actions = len(self.actions)
        self._miss = list(1.0 - np.eye(self.n_actions))
        outcomes = Numbers(outcome) if self.label is None else Labels(self.label, self.actions)
        self._parts: list[Numbers | Labels] = [outcomes, *features.parts]
        if self.current is not None:
            more = "; if there are more, declare them all as labels" if found else ""
            part = Labels(self.current, self.actions, LossError, "actions", more)
            self._parts.append(part)

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
        for first, batch in first_rows(self._table, self._columns, horizon):
            outcomes, *shown = read(source, self._parts, batch, first)
            current: list[int | None] = [None] * len(outcomes)
            if self.current is not None:
                current = shown.pop().tolist()
            if self.label is None and self._range is not None:
                low, high = self._range
                check_range(source, self.actions, outcomes, self._range, first)
                outcomes = (outcomes - low) / (high - low)
            yield Batch(outcomes, current, shown)

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
