"""Replay of given contexts and losses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.core import Environment, LossError, ParameterError, Round
from hannan.core.validation import FloatArray


class FromArrays(Environment):
    """The rounds of two arrays, in order: an oblivious adversary.

    Parameters
    ----------
    contexts
        T contexts (rows, if they are feature vectors), or None for a problem without contexts.
    losses
        Array [T, K] of finite numbers.

    Examples
    --------
    >>> import hannan as hn
    >>> environment = hn.environments.FromArrays([0, 1, 0], [[0, 1], [1, 0], [0, 1]])
    >>> environment.horizon, environment.n_actions
    (3, 2)
    """

    def __init__(self, contexts: Sequence[Any] | None, losses: ArrayLike) -> None:
        self.contexts_given = contexts
        self.losses = losses
        table = np.array(losses, dtype=np.float64)
        if table.ndim != 2 or 0 in table.shape:
            raise ParameterError(
                f"FromArrays needs losses [T, K]; got an array of shape {table.shape}."
            )
        if not np.isfinite(table).all():
            row = int(np.argmin(np.isfinite(table).all(axis=1)))
            raise LossError(f"Losses must be finite; row {row} is {table[row]}.")
        if contexts is not None and len(contexts) != len(table):
            raise ParameterError(
                f"FromArrays got {len(contexts)} contexts for {len(table)} rows of losses."
            )
        self._losses: FloatArray = table
        self._contexts: list[Any] = [None] * len(table) if contexts is None else _listed(contexts)
        self.n_actions = int(table.shape[1])

    @property
    def params(self) -> dict[str, Any]:
        """Constructor arguments by name."""
        return {"contexts": self.contexts_given, "losses": self.losses}

    @property
    def horizon(self) -> int:
        """The number of rows."""
        return len(self._losses)

    @property
    def contexts(self) -> list[Any] | None:
        """The contexts, one for each round."""
        return None if self.contexts_given is None else self._contexts

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        """The first `horizon` rows."""
        if horizon > len(self._losses):
            raise ParameterError(
                f"FromArrays holds {len(self._losses)} rounds; {horizon} were asked for."
            )
        for context, losses in zip(self._contexts[:horizon], self._losses, strict=False):
            yield Round(context, losses)


def _listed(contexts: Sequence[Any]) -> list[Any]:
    if isinstance(contexts, np.ndarray) and contexts.ndim == 1:
        return list(contexts.tolist())
    return list(contexts)
