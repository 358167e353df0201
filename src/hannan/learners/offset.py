"""Losses that may be negative, such as rewards: each is counted from the lowest that it can be."""

from __future__ import annotations

import numpy as np

from hannan.core import Oracle
from hannan.core.validation import FloatArray, LossRange


class Offset:
    r"""A guess Q that no loss is below, so that what is learned beyond it is never negative.

    With losses in [low, high], low < 0, every round is decided as if each element were going to
    lose Q = low, and that is what an element which was not chosen enters the totals with. For a
    chosen one :math:`W_j (\ell_j - low) \ge 0` is added. Where actions differ in size this is what
    makes a larger one worth its while; where they do not, Q is the same for all.

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
        self.top = high - self.low  # the largest loss of an element beyond the guess
        self.varies = low < 0.0 and not oracle.fixed_size  # not the same guess for all actions
        # The most that a round without an answer costs, left out for what was played: `top` for
        # each of its elements, and the comparator's guess, which counts in rounds with an answer.
        self.unanswered = oracle.max_chosen * (self.top - self.low * self.varies)

    def guess(self, n_actions: int) -> FloatArray | None:
        """Q, a new array for each round; None where no loss is negative."""
        return None if self.low == 0.0 else np.full(n_actions, self.low)
