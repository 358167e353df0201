"""Replay of a data frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hannan.core import ContextError, Environment, Oracle, ParameterError, Round
from hannan.core.validation import refuse
from hannan.environments._columns import Labels, Numbers, check_names, distinct, read
from hannan.environments._features import column_names

_BLOCK = 1024
_SOURCE = "the frame"


class FromFrame(Environment):
    r"""The rows of a table, in order: some columns are the context, others tell the losses.

    The losses of a row are :math:`\ell_t(a) = 1[a \ne y_t]` where `label` names the column of the
    right class y, or the values of the columns `losses`. Every cell is checked beforehand; an
    error names the column and the row, the first of which is 1.

    Parameters
    ----------
    frame
        A frame of pandas or polars, a table of pyarrow, a mapping of names to arrays: anything
        whose columns `frame[name]` become arrays.
    context
        The numeric columns that make up the context, a vector. One name by itself: the context is
        the number, an int if it is whole. None: a problem without contexts.
    label
        The column of the right class.
    losses
        In place of `label`: for each action the column of its loss.
    labels
        The classes in the order of the actions; by default those in the column, sorted.
    oracle
        The policies that regret is measured against.

    Attributes
    ----------
    actions
        What each action stands for: the classes, or the columns of losses.

    Examples
    --------
    >>> import hannan as hn
    >>> frame = {"age": [31, 48, 25], "hour": [9.5, 17.0, 12.0], "bought": ["no", "yes", "no"]}
    >>> world = hn.environments.FromFrame(frame, context=["age", "hour"], label="bought")
    >>> world.horizon, world.actions
    (3, ['no', 'yes'])
    >>> [(r.context.tolist(), r.reveal(0).tolist()) for r in world.rounds(2, None)]
    [([31.0, 9.5], [0.0, 1.0]), ([48.0, 17.0], [1.0, 0.0])]
    >>> hn.environments.FromFrame(frame, context=["age"], label="bougt")
    Traceback (most recent call last):
    ...
    hannan.core.errors.ParameterError: There is no column 'bougt' in the frame. Did you mean...
    """

    def __init__(
        self,
        frame: Any,
        *,
        context: Sequence[str] | str | None = None,
        label: str | None = None,
        losses: Sequence[str] | None = None,
        labels: Sequence[Any] | None = None,
        oracle: Oracle | None = None,
    ) -> None:
        self.frame = frame
        self.context = context
        self.label = label
        self.losses = losses
        self.labels = labels
        self.oracle = oracle
        self._context = column_names(self, "context", context)
        outcome = self._outcome_names()
        there = _names(self, frame)
        check_names(_SOURCE, [*self._context, *outcome], there)
        batch = {name: np.asarray(frame[name]) for name in dict.fromkeys(self._context + outcome)}
        if len({len(values) for values in batch.values()}) != 1 or not len(batch[outcome[0]]):
            raise refuse(self, "frame", "a table of columns of the same length, not empty", frame)
        self.actions: list[Any] = outcome
        if label is not None:
            self.actions = (
                distinct(_SOURCE, label, batch[label]) if labels is None else list(labels)
            )
        self.n_actions = len(self.actions)
        self._miss = 1.0 - np.eye(self.n_actions)
        parts = [Numbers(outcome) if label is None else Labels(label, self.actions)]
        if self._context:
            parts.append(Numbers(self._context, ContextError))
        self._outcomes, *rows = read(_SOURCE, parts, batch, 1)
        self._rows = rows[0] if rows else np.empty((len(self._outcomes), 0))

    @property
    def horizon(self) -> int:
        """The number of rows."""
        return len(self._outcomes)

    @property
    def contexts(self) -> list[Any] | None:
        """The contexts, one for each round."""
        return self._shown(slice(None)) if self._context else None

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        """The first `horizon` rows."""
        if horizon > self.horizon:
            raise ParameterError(
                f"FromFrame holds {self.horizon} rounds; {horizon} were asked for."
            )
        for start in range(0, horizon, _BLOCK):
            part = slice(start, min(start + _BLOCK, horizon))
            told = self._outcomes[part]
            losses = told if self.label is None else self._miss[told]
            yield from map(Round, self._shown(part), losses)

    def _shown(self, part: slice) -> list[Any]:
        """What a learner is shown of some rows."""
        if not self._context:
            return [None] * len(self._outcomes[part])
        if isinstance(self.context, str):
            return [int(v) if v.is_integer() else v for v in self._rows[part, 0].tolist()]
        return list(self._rows[part])

    def _outcome_names(self) -> list[str]:
        """The columns that tell the losses."""
        label, losses, labels = self.label, self.losses, self.labels
        if (label is None) == (losses is None):
            raise ParameterError(
                "FromFrame needs either label=, the column of the right class, or losses=, one "
                f"column for each action; got label={label!r} and losses={losses!r}."
            )
        if label is not None:
            if labels is not None and (isinstance(labels, str) or len(labels) == 0):
                raise refuse(self, "labels", "a list of the classes in column label=", labels)
            if not isinstance(label, str):
                raise refuse(self, "label", "the name of a column", label)
            return [label]
        if isinstance(losses, str) or len(losses or ()) == 0:
            raise refuse(self, "losses", "a list of columns, one for each action", losses)
        if labels is not None:
            raise refuse(self, "labels", "left out where losses= is given", labels)
        return column_names(self, "losses", losses)


def _names(owner: object, frame: Any) -> list[str]:
    """The names of the columns; pyarrow has `column_names`, and columns that are the data."""
    if hasattr(frame, "column_names"):
        return list(frame.column_names)
    if hasattr(frame, "columns"):
        return [str(name) for name in frame.columns]
    try:
        return [str(name) for name in frame.keys()]  # noqa: SIM118
    except AttributeError:
        accepted = "a data frame or a mapping of names to arrays"
        raise refuse(owner, "frame", accepted, frame) from None
