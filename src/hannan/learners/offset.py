"""Losses that may be negative, such as rewards: each counts as its excess over the lowest loss."""

from __future__ import annotations

import numpy as np

from hannan.core import Oracle
from hannan.core.validation import FloatArray, LossRange


class Offset:
    r"""A prediction Q below all losses, so that the loss minus Q is never negative.

    With losses in [low, high], low < 0, the learner decides as if each element had the loss
    Q = low. An element that was not chosen adds Q to the totals. A chosen element adds
    Q and :math:`W_j (\ell_j - low) \ge 0`. If actions differ in size, this makes larger actions
    attractive. If all actions have equal size, Q is the same for all.

    Examples
    --------
    >>> import hannan as hn
    >>> rewards = Offset((-2.0, 0.0), hn.oracles.Subsets(5, 3, exactly=False))
    >>> rewards.guess(5), rewards.top, rewards.varies
    (array([-2., -2., -2., -2., -2.]), 2.0, True)
    """

    def __init__(self, loss_range: LossRange, oracle: Oracle) -> None:
        low, high = loss_range
        self.low = min(low, 0.0)
        self.top = high - self.low  # the largest loss of an element minus Q
        self.varies = low < 0.0 and not oracle.fixed_size  # whether Q differs between actions
        # Largest cost of a round without feedback: `top` for each element of the action, plus the
        # comparator's prediction, which counts in rounds with feedback.
        self.without_feedback = oracle.max_chosen * (self.top - self.low * self.varies)

    def guess(self, n_actions: int) -> FloatArray | None:
        """Return Q as a new array for a round, or None if no loss is negative."""
        return None if self.low == 0.0 else np.full(n_actions, self.low)
