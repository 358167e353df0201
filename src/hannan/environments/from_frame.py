"""Replay of a data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Oracle, ParameterError, Round
from hannan.core.validation import refuse
from hannan.environments._columns import Batches
from hannan.environments._features import Categorical, Context
from hannan.environments._files import BATCH
from hannan.environments._tabular import Batch, Replay


class FromFrame(Replay):
    r"""The rows of a table, in order: some columns are the context, others hold the losses.

    The rounds are those of `FromFile` on a file of the same rows; but every cell is checked
    beforehand, and the contexts are known.

    Parameters
    ----------
    frame
        A frame of pandas or polars, a table of pyarrow, a mapping of names to arrays: anything
        whose columns `frame[name]` become arrays.
    context, label, losses, labels, categorical, scale, value_range, current, cost, missing, oracle
        As in `FromFile`.

    Attributes
    ----------
    actions
        What each action stands for: the classes, or the columns of losses.

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

    def __init__(
        self,
        frame: Any,
        *,
        context: Context = None,
        label: str | None = None,
        losses: Sequence[str] | None = None,
        labels: Sequence[Any] | None = None,
        categorical: Categorical = (),
        scale: str | None = "running",
        value_range: tuple[float, float] | None = None,
        current: str | None = None,
        cost: Mapping[Any, Mapping[Any, float]] | None = None,
        missing: str = "refuse",
        oracle: Oracle | None = None,
    ) -> None:
        self.frame = frame
        self.context = context
        self.label = label
        self.losses = losses
        self.labels = labels
        self.categorical = categorical
        self.scale = scale
        self.value_range = value_range
        self.current = current
        self.cost = cost
        self.missing = missing
        self.oracle = oracle
        self._kept: list[Batch] = []
        self._replay(FrameTable(self, frame))
        self._kept = list(super()._read(self.horizon))

    @property
    def contexts(self) -> list[Any] | None:
        if not self._features.names:
            return None
        stream = self._features.stream()
        return [x for b in self._kept for x in stream.contexts(b.shown, len(b.outcomes))]

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        if horizon > self.horizon:
            raise ParameterError(
                f"There are {self.horizon} rows in the frame; {horizon} were asked for."
            )
        return islice(super().rounds(horizon, rng), horizon)

    def _read(self, horizon: int) -> Iterator[Batch]:
        """All rows, which were checked when the frame was given."""
        return iter(self._kept)


class FrameTable:
    """The rows of a frame; only the requested columns are accessed."""

    def __init__(self, owner: object, frame: Any) -> None:
        self.source = "the frame"
        self.names = _names(owner, frame)
        self._owner = owner
        self._frame = frame

    def batches(self, columns: Sequence[str]) -> Batches:
        """The number of the first row, from 1, and these columns of some thousand rows."""
        arrays = {name: self._column(name) for name in columns}
        rows = len(next(iter(arrays.values())))
        if rows == 0 or any(len(values) != rows for values in arrays.values()):
            accepted = "a table of columns of the same length, not empty"
            raise refuse(self._owner, "frame", accepted, self._frame)
        for start in range(0, rows, BATCH):
            yield start + 1, {name: v[start : start + BATCH] for name, v in arrays.items()}

    def count(self) -> int:
        """The number of rows."""
        return len(self._column(self.names[0])) if self.names else 0

    def _column(self, name: str) -> NDArray[Any]:
        values = np.asarray(self._frame[name])
        if values.ndim != 1:
            raise refuse(self._owner, "frame", f"a table whose column {name!r} is one", self._frame)
        return values


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
