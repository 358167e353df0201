"""Replay of a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Environment, LossError, Oracle, ParameterError, Round
from hannan.core.validation import FloatArray, check_loss_range, refuse
from hannan.environments._columns import Labels, Numbers, check_names, read
from hannan.environments._features import Categorical, Features, FileNumbers, column_names, survey
from hannan.environments._files import first_rows, open_table


class FileRound(Round):
    """A round from a file, with the action that was taken in it, where the file says so."""

    __slots__ = ("current",)

    def __init__(self, context: Any, losses: FloatArray, current: int | None) -> None:
        super().__init__(context, losses)
        self.current = current


class FromFile(Environment):
    r"""The rows of a CSV, JSON-lines or Parquet file, in order: an oblivious adversary.

    The file is read in batches, so it may be larger than memory. Numbers :math:`x_{t,j}` are
    standardised on the way, :math:`(x_{t,j} - \mu_{t,j})/\sigma_{t,j}` with mean and deviation of
    the rows up to t alone: nothing is told of the future. Columns of categories become one
    indicator for each category.

    Parameters
    ----------
    path
        A file .csv, .jsonl or .ndjson, each also with .gz, or .parquet (needs pyarrow). The first
        line of a CSV file, or the first object of a JSON-lines file, names the columns.
    context
        Columns that are shown before acting: a list of names makes vectors. One name by itself:
        the context is that column's number, as it is. None: a problem without contexts.
    label
        The column that holds the right class: playing it costs 0, any other class costs 1.
    losses
        In place of `label`: for each action the column that holds its loss.
    labels
        The classes, in the order of the actions. By default all that the file holds, at most
        1000, for which it is read once in advance.
    categorical
        Columns of `context` that hold categories, not numbers; a mapping from names to lists
        declares the categories, else the file is read once in advance.
    scale
        "running", or None for numbers as they are.
    value_range
        (low, high) of the losses in the file; they are mapped to [0, 1]. None leaves them alone.
    current
        The column that names the action really taken: a label, or one of the columns `losses`.
        Each round then has it in `round.current`.
    oracle
        A policy class to measure regret against.

    Attributes
    ----------
    actions
        The names of the actions: labels, or columns of losses.

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

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        context: Sequence[str] | str | None = None,
        label: str | None = None,
        losses: Sequence[str] | None = None,
        labels: Sequence[Any] | None = None,
        categorical: Categorical = (),
        scale: str | None = "running",
        value_range: tuple[float, float] | None = None,
        current: str | None = None,
        oracle: Oracle | None = None,
    ) -> None:
        self.path = path
        self.context = context
        self.label = label
        self.losses = losses
        self.labels = labels
        self.categorical = categorical
        self.scale = scale
        self.value_range = value_range
        self.current = current
        self.oracle = oracle
        self._check_outcome()
        self._features = Features(self, context, categorical, scale)
        self._range = None if value_range is None else check_loss_range(self, value_range)
        self._table = open_table(path)
        outcome = [label] if label is not None else list(losses or ())
        used = [*self._features.names, *outcome, *([] if current is None else [current])]
        check_names(self._table.source, used, self._table.names)
        self._columns = list(dict.fromkeys(used))
        asked = [label, current] if label is not None and labels is None else []
        found = survey(self._table, [name for name in asked if name], self._features.unknown)
        self._features.learn(found)
        self.actions: list[Any] = outcome
        if label is not None:
            self.actions = found[label] if labels is None else list(labels)
        if not self.actions:
            raise ParameterError(f"There are no rows in {self._table.source}.")
        self.n_actions = len(self.actions)
        self._outcome: Numbers | Labels = FileNumbers(outcome)
        if label is not None:
            self._outcome = Labels(label, self.actions)
        self._miss = list(1.0 - np.eye(self.n_actions))

    @cached_property
    def _rows(self) -> int:
        return self._table.count()

    @property
    def horizon(self) -> int:
        """The number of rows; the file is read to count them, once."""
        return self._rows

    @property
    def features(self) -> list[str]:
        """A name for each entry of a context."""
        return self._features.entries

    @property
    def categories(self) -> dict[str, list[Any]]:
        """The categories of each column that has them."""
        return self._features.categories

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[FileRound]:
        """The first `horizon` rows."""
        stream = self._features.stream()
        parts = [self._outcome, *self._features.parts]
        if self.current is not None:
            parts.append(Labels(self.current, self.actions))
        for first, batch in first_rows(self._table, self._columns, horizon):
            outcome, *found = read(self._table.source, parts, batch, first)
            taken = [None] * len(outcome)
            if self.current is not None:
                taken = found.pop().tolist()
            contexts = stream.contexts(found, len(outcome))
            losses = self._losses(outcome, first)
            yield from map(FileRound, contexts, losses, taken)

    def _losses(self, outcome: NDArray[Any], first: int) -> list[FloatArray]:
        """The losses of each row of a batch, in [0, 1] where a range was declared."""
        if self.label is not None:
            return [self._miss[k] for k in outcome.tolist()]
        if self._range is None:
            return [row.copy() for row in outcome]
        low, high = self._range
        outside = (outcome < low) | (outcome > high)
        if outside.any():
            row, column = (int(i) for i in np.argwhere(outside)[0])
            raise LossError(
                f"Row {first + row} of {self._table.source}, column {self.actions[column]!r}: "
                f"{outcome[row, column]:g} is outside value_range={self.value_range}."
            )
        return [(row - low) / (high - low) for row in outcome]

    def _check_outcome(self) -> None:
        label, losses = self.label, self.losses
        if (label is None) == (losses is None):
            raise ParameterError(
                "FromFile needs either label=, the column of the right class, or losses=, one "
                f"column for each action; got label={label!r} and losses={losses!r}."
            )
        if losses is not None and (
            isinstance(losses, str) or not column_names(self, "losses", losses)
        ):
            raise refuse(self, "losses", "a list of columns, one for each action", losses)
        if losses is not None and self.labels is not None:
            raise refuse(self, "labels", "left out where losses= is given", self.labels)
        if self.labels is not None and (isinstance(self.labels, str) or not len(self.labels)):
            raise refuse(self, "labels", "a list of the classes in column label=", self.labels)
