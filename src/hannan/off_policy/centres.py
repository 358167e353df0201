"""Predicted losses of a round, which make the intervals of a `Watch` narrower."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from hannan.core.rounds import IntArray
from hannan.core.state import Array, Number, State
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray
from hannan.kernels import watch as kernel

_LARGEST = 1e300  # ratio π(a)/q(a) of an action that is never drawn


@dataclass(frozen=True, eq=False)
class Centre(Stored):
    """Predicted losses of a round, fixed before its action was drawn from a known distribution.

    Attributes
    ----------
    rows
        A row for each policy, and a last row for the action distribution itself: the predicted
        loss, the largest ratio π(a)/q(a), and the largest and the smallest predicted loss of the
        actions with a positive probability.
    own
        Predicted loss of the action that was drawn.
    """

    rows: FloatArray
    own: float
    _is_value = True

    stored = State(
        rows=Array(lambda self: len(self._sums), 4, low=0.0, high=_LARGEST).where(
            lambda self, rows: bool((rows[:, [0, 2, 3]] <= 1.0).all())
        ),
        own=Number(0.0, 1.0),
    )

    @classmethod
    def of(
        cls,
        targets: IntArray,
        action: int,
        chances: FloatArray,
        values: FloatArray,
        spread: bool = False,
    ) -> Self:
        """Return the centre of a round in which policies choose single actions.

        Parameters
        ----------
        targets
            Action of each policy; -1 for a policy that copies the action distribution.
        action
            Action that was drawn.
        chances, values
            Probability and predicted loss of every action. Unavailable actions have probability 0.
            Predictions are clipped to [0, 1].
        spread
            Whether the first policy chooses uniformly at random among all actions.
        """
        rows = kernel.centre(targets, chances, values, spread)
        return cls(rows, min(max(float(values[action]), 0.0), 1.0))

    def extended(self, order: Sequence[int]) -> Self:
        """Return the centre with these rows, for a Watch with more policies."""
        return type(self)(self.rows[order], self.own)


def nothing_predicted(policies: int) -> FloatArray:
    """Return the rows of a round without predictions, for which no column is centred."""
    rows = np.zeros((policies + 1, 4))
    rows[:, 1] = rows[:, 2] = np.inf
    return rows
