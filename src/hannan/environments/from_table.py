"""Replay of tables that hold the losses of all actions: files and data frames."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import LossError, ParameterError, Round
from hannan.core.validation import FloatArray, check_loss_range, refuse
from hannan.environments._columns import Batches, Labels, Numbers, Part, Table, column_names
from hannan.environments._features import Stream
from hannan.environments._files import BATCH
from hannan.environments._tabular import InFile, Tabular

Batch = tuple[NDArray[Any], list[int | None], list[NDArray[Any]]]
"""Indices of the right classes, or losses [n, K]; logged actions; columns of the context."""


@dataclass(repr=False, eq=False, kw_only=True)
class TableReplay(Tabular):
    """Rows that hold the losses of all actions, as the right class or as a column per action.

    A subclass calls `_replay` with its table.
    """

    label: str | None = None
    losses: Sequence[str] | None = None
    labels: Sequence[Any] | None = None
    value_range: tuple[float, float] | None = None
    current: str | None = None
    cost: Mapping[Any, Mapping[Any, float]] | None = None

    def _replay(self, table: Table) -> None:
        outcome = self._outcome_names()
        if self.current is not None and not isinstance(self.current, str):
            raise refuse(self, "current", "the name of a column", self.current)
        self._range = None
        if self.value_range is not None:
            self._range = check_loss_range(self, self.value_range, "value_range")
        columns = [*outcome, *([] if self.current is None else [self.current])]
        found = self._open(table, columns, self.label if self.labels is None else None)
        self.classes: list[Any] | None = None
        self.actions: list[Any] = outcome
        outcomes: Part = Numbers(outcome, holes=self._drops)
        if self.label is not None:
            self.actions = self.classes = list(self.labels or found)
            outcomes = Labels(self.label, self.classes, holes=self._drops)
        self._miss = list(1.0 - np.eye(len(self.actions)))
        if self.cost is not None:
            if self.classes is None:
                raise refuse(self, "cost", "left out where losses= is given", self.cost)
            self.actions, costs = _check_cost(self, self.cost, self.classes)
            self._miss = list(self._scaled(costs))
        self.n_actions = len(self.actions)
        self._parts = [outcomes, *self._features.parts]
        if self.current is not None:
            more = "; if there are more, declare them all as labels" if found else ""
            self._parts.append(
                Labels(self.current, self.actions, LossError, "actions", more, self._drops)
            )

    def right_classes(self, horizon: int) -> Iterator[int]:
        """Yield the index in `classes` of the right class of each row."""
        for outcomes, _, _ in self._read(horizon):
            yield from outcomes.tolist()

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        stream = Stream(self._features)
        for outcomes, current, shown in self._read(horizon):
            contexts = stream.contexts(shown, len(outcomes))
            losses: Iterable[FloatArray] = map(np.copy, outcomes)
            if self.label is not None:
                losses = [self._miss[k] for k in outcomes.tolist()]
            yield from map(Round, contexts, losses, repeat(0), current)

    def _read(self, horizon: int) -> Iterator[Batch]:
        """Yield the first `horizon` rows, checked."""
        for numbers, (outcomes, *shown) in self._batches(horizon):
            current: list[int | None] = [None] * len(outcomes)
            if self.current is not None:
                current = shown.pop().tolist()
            if self.label is None and self._range is not None:
                self._check_range(self.actions, outcomes, numbers, self._range)
                outcomes = self._scaled(outcomes)
            yield outcomes, current, shown

    def _scaled(self, losses: FloatArray) -> FloatArray:
        if self._range is None:
            return losses
        low, high = self._range
        return (losses - low) / (high - low)

    def _outcome_names(self) -> list[str]:
        """Return the columns that hold the losses."""
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


@dataclass(repr=False, eq=False, kw_only=True)
class FromFile(InFile, TableReplay):
    r"""Replay the rows of a CSV, JSON Lines or Parquet file in order (an oblivious adversary).

    The file is read in batches, so it may be larger than memory. Numbers are standardised by the
    mean and deviation of the rows so far. A categorical column becomes one indicator per category.

    Parameters
    ----------
    path
        Path of a file .csv, .tsv, .txt, .jsonl or .ndjson, each also with .gz or .zip, or .parquet
        (requires pyarrow).
    context
        Columns that are known before the decision. A list of names makes feature vectors. For a
        single name, the context is the number in this column. None (default) means a problem
        without contexts. Pairs (name, kind), or a mapping, declare kinds of columns: "number",
        "category", "flag", "text", "date" or a column of `hannan.features`. `Features` then encodes
        the rows, and values may be missing.
    label
        Column of the right class: the right class costs 0, any other class costs 1.
    losses
        Columns of the losses, one per action, instead of `label`.
    labels
        List of the classes, in the order of the actions. Default: all classes in the column, at
        most 1000; the file is then read once in advance.
    categorical
        Columns of `context` that hold categories, not numbers. A mapping from names to lists
        declares the categories; otherwise the file is read once in advance.
    scale
        "running" (default) standardises numbers by the rows so far; None leaves them unchanged.
    value_range
        (low, high) of the losses in the file, mapped to [0, 1]. None (default) leaves the losses
        unchanged.
    current
        Column of the action of your current rule: a class, or one of the columns `losses`. Any
        other value raises `LossError`. Each round then holds the action in `round.current`, and a
        trace holds its losses in `trace.current_losses`.
    cost
        Cost of each action for each right class, such as ``{"fraud": {"pass": 50, "block": 0},
        "good": {"pass": 0, "block": 2}}``. If the actions are the classes, the default costs are 0
        for the right class and 1 for another class.
    missing
        Treatment of rows without a label, a loss or an action of the current rule: ``"refuse"``
        (default) raises an error, and ``"drop"`` leaves out the rows.
    dialect
        Format of a text file: a mapping with some of ``delimiter``, ``decimal`` ("." or ","),
        ``encoding`` and ``header`` (a boolean). Default: detected from the file.
    oracle
        Policy class (oracle) that regret is measured against. Default None.
    max_columns
        Maximum number of columns of the file, 10,000 by default. A row can have 1,024 characters
        per allowed column.
    max_unpacked
        Maximum number of bytes to which a .gz or .parquet file can unpack. Default: 50 times its
        size, and at least 16 MiB.

    Attributes
    ----------
    actions
        Names of the actions: labels, or columns of losses.
    classes
        Classes in the column `label`; None if `losses` is given.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import hannan as hn
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "days.csv"
    >>> _ = file.write_text("wind,sky,rain\n3,grey,yes\n1,blue,no\n2,grey,yes\n")
    >>> days = hn.environments.FromFile(
    ...     file, context=["wind", "sky"], categorical=["sky"], label="rain"
    ... )
    >>> days.horizon, days.actions
    (3, ['no', 'yes'])
    >>> [this_round.context.tolist() for this_round in days.rounds(3, None)]
    [[0.0, 0.0, 1.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> folder.cleanup()
    """

    def __post_init__(self) -> None:
        self._replay(self._file())


@dataclass(repr=False, eq=False, kw_only=True)
class FromFrame(TableReplay):
    r"""Replay the rows of a data frame: some columns are the context, others hold the losses.

    The rounds are the same as with `FromFile` on a file of the same rows. In contrast to
    `FromFile`, every cell is checked in advance, and the contexts are known.

    Parameters
    ----------
    frame
        A frame of pandas or polars, a table of pyarrow, a mapping of names to arrays, or any other
        object whose columns `frame[name]` convert to arrays.
    context, label, losses, labels, categorical, scale, value_range, current, cost, missing, oracle
        As in `FromFile`.

    Attributes
    ----------
    actions, classes
        As in `FromFile`.

    Examples
    --------
    >>> import hannan as hn
    >>> frame = {"age": [31, 48, 25], "hour": [9.5, 17.0, 12.0], "bought": ["no", "yes", "no"]}
    >>> world = hn.environments.FromFrame(
    ...     frame, context=["age", "hour"], label="bought", scale=None
    ... )
    >>> world.horizon, world.actions
    (3, ['no', 'yes'])
    >>> [(r.context.tolist(), r.reveal(0).tolist()) for r in world.rounds(2, None)]
    [([31.0, 9.5], [0.0, 1.0]), ([48.0, 17.0], [1.0, 0.0])]
    >>> hn.environments.FromFrame(frame, context=["age"], label="bougt")
    Traceback (most recent call last):
    ...
    hannan.core.errors.ParameterError: There is no column 'bougt' in the frame. Did you mean...
    """

    frame: Any = field(kw_only=False)

    def __post_init__(self) -> None:
        self._replay(FrameTable(self, self.frame))
        self._kept = list(super()._read(self.horizon))

    @property
    def contexts(self) -> list[Any] | None:
        if not self._features.names:
            return None
        stream = Stream(self._features)
        return [x for found, _, shown in self._kept for x in stream.contexts(shown, len(found))]

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        if horizon > self.horizon:
            raise ParameterError(
                f"Cannot play {horizon} rounds: the frame has only {self.horizon} rows. Reduce the "
                "horizon."
            )
        return islice(super().rounds(horizon, rng), horizon)

    def _read(self, horizon: int) -> Iterator[Batch]:
        """Yield all rows, which the constructor has checked."""
        return iter(self._kept)


class FrameTable(Table):
    """Rows of a frame; only the requested columns are accessed."""

    def __init__(self, owner: object, frame: Any) -> None:
        self.source = "the frame"
        self._owner = owner
        self._frame = frame
        # In pyarrow, `column_names` are the names, and `columns` the data.
        for names in ("column_names", "columns", "keys"):
            if hasattr(frame, names):
                found = getattr(frame, names)
                self.names = [str(name) for name in (found() if names == "keys" else found)]
                return
        raise refuse(owner, "frame", "a data frame or a mapping of names to arrays", frame)

    def batches(self, columns: Sequence[str]) -> Batches:
        arrays = {name: self._column(name) for name in columns}
        rows = len(next(iter(arrays.values())))
        if rows == 0 or any(len(values) != rows for values in arrays.values()):
            accepted = "a non-empty table with columns of equal length"
            raise refuse(self._owner, "frame", accepted, self._frame)
        for start in range(0, rows, BATCH):
            yield start + 1, {name: v[start : start + BATCH] for name, v in arrays.items()}

    def _column(self, name: str) -> NDArray[Any]:
        values = np.asarray(self._frame[name])
        if values.ndim != 1:
            raise refuse(self._owner, "frame", f"a table with one column {name!r}", self._frame)
        return values


def _check_cost(owner: object, cost: Any, classes: Sequence[Any]) -> tuple[list[Any], FloatArray]:
    """Return the actions, and their costs as a table [class, action].

    `cost` maps classes to the costs of actions. If all of its actions are classes too, all classes
    are actions: a cost that is not given is 0 for the right class, and 1 for another class.
    Otherwise the actions are those named in `cost`, which must give the cost of every action in
    every class.
    """
    accepted = "a mapping from classes to mappings from actions to numbers"
    if not isinstance(cost, Mapping) or not all(isinstance(row, Mapping) for row in cost.values()):
        raise refuse(owner, "cost", accepted, cost)
    places = {str(name): i for i, name in enumerate(classes)}
    for name in cost:
        if str(name) not in places:
            known = ", ".join(map(repr, places))
            raise ParameterError(
                f"cost= has an unknown class {name!r}. The classes are {known[:500]}."
            )
    named = list(dict.fromkeys(str(action) for row in cost.values() for action in row))
    actions, table = named, np.full((len(classes), len(named)), math.nan)
    if all(name in places for name in named):
        actions, table = list(classes), 1.0 - np.eye(len(classes))
    at = {str(action): k for k, action in enumerate(actions)}
    for name, row in cost.items():
        for action, value in row.items():
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise refuse(owner, "cost", accepted, cost)
            table[places[str(name)], at[str(action)]] = float(value)
    wanting = np.argwhere(~np.isfinite(table))
    if len(wanting):
        i, k = wanting[0]
        near = difflib.get_close_matches(str(actions[k]), places, n=1)
        meant = f" Did you mean the class {near[0]!r}?" if near and near[0] != actions[k] else ""
        raise ParameterError(
            f"The cost of {actions[k]!r} when {classes[i]!r} is right must be a finite number."
            f"{meant} If actions are not the classes, give every action a cost in every class."
        )
    _check_right(classes, actions, table)
    return actions, table


def _check_right(classes: Sequence[Any], actions: Sequence[Any], costs: FloatArray) -> None:
    """Raise `ParameterError` if actions are classes and a right class has the largest cost."""
    for i, row in enumerate(costs):
        if actions == [*classes] and len(row) > 1 and row[i] > np.delete(row, i).max():
            raise ParameterError(
                f"In cost=, {classes[i]!r} costs {row[i]:g} where it is right, more than any other "
                "action. Give for each right class the costs of the other classes; write rewards "
                "as negative costs."
            )
