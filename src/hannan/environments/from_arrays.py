"""Replay of given contexts and losses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np

from hannan.core import Environment, InputTypeError, LossError, ParameterError, Round
from hannan.core.arrays import as_array, as_floats, as_rows, is_frame
from hannan.core.availability import check_available
from hannan.core.rounds import IntArray
from hannan.core.validation import FloatArray, refuse


class FromArrays(Environment):
    """The rounds of two arrays, in order: an oblivious adversary.

    With restricted action sets the rounds are fixed too, but the best policy is not: where its
    action is unavailable it is charged for what the learner played.

    Parameters
    ----------
    contexts
        T contexts: a list, an array, or a column; the rows of a two-dimensional array or a frame,
        if they are feature vectors; None for a problem without contexts.
    losses
        Array or frame [T, K] of finite numbers.
    available
        The available actions of each round: booleans [T, K], or a list that holds a list of actions
        for each round, or None for all. The losses of unavailable actions are ignored.

    Examples
    --------
    >>> import hannan as hn
    >>> environment = hn.environments.FromArrays([0, 1, 0], [[0, 1], [1, 0], [0, 1]])
    >>> environment.horizon, environment.n_actions
    (3, 2)
    >>> world = hn.environments.FromArrays(None, [[0.5, 0], [0.5, np.nan]], available=[None, [0]])
    >>> hn.play(hn.baselines.FollowTheLeader(hn.oracles.AllPolicies(1, 2)), world).actions
    array([0, 0])
    """

    def __init__(self, contexts: Any, losses: Any, *, available: Any = None) -> None:
        self.contexts_given = contexts
        self.losses = losses
        self.available = available
        self.oblivious = available is None  # type: ignore[misc]
        try:
            table = as_floats(losses).copy()
        except (TypeError, ValueError) as error:
            raise InputTypeError(f"FromArrays needs losses [T, K], all numbers: {error}.") from None
        if table.ndim != 2 or 0 in table.shape:
            raise ParameterError(
                f"FromArrays needs losses [T, K]; got an array of shape {table.shape}."
            )
        self._available = self._check_rows(available, *table.shape)
        finite = np.isfinite(table)
        for row, allowed in enumerate(self._available or ()):
            finite[row] |= allowed is not None and ~np.isin(np.arange(table.shape[1]), allowed)
        if not finite.all():
            row = int(np.argmin(finite.all(axis=1)))
            raise LossError(f"Losses must be finite; row {row}, counting from 0, is {table[row]}.")
        listed = [None] * len(table) if contexts is None else list(as_rows(contexts))
        if len(listed) != len(table):
            raise ParameterError(
                f"FromArrays got {len(listed)} contexts for {len(table)} rows of losses."
            )
        self._losses: FloatArray = table
        self._contexts: list[Any] = listed
        self.n_actions = int(table.shape[1])

    @property
    def params(self) -> dict[str, Any]:
        given = {"contexts": self.contexts_given, "losses": self.losses}
        return {**given, "available": self.available}

    @property
    def horizon(self) -> int:
        return len(self._losses)

    @property
    def contexts(self) -> list[Any] | None:
        return None if self.contexts_given is None else self._contexts

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        if horizon > len(self._losses):
            raise ParameterError(
                f"FromArrays holds {len(self._losses)} rounds; {horizon} were asked for."
            )
        sets = repeat(None) if self._available is None else self._available
        rows = zip(self._contexts[:horizon], self._losses, sets, strict=False)
        for context, losses, allowed in rows:
            yield Round(context, losses, available=allowed)

    def _check_rows(self, available: Any, T: int, K: int) -> list[IntArray | None] | None:
        if available is None:
            return None
        try:
            rows = list(as_array(available) if is_frame(available) else available)
        except TypeError:
            rows = []
        if len(rows) != T:
            accepted = f"booleans [{T}, {K}], or {T} lists of actions"
            raise refuse(self, "available", accepted, available)
        return [
            None if row is None else check_available(self, row, K, f"available[{t}]")
            for t, row in enumerate(rows)
        ]
