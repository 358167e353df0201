"""Exponential weights over listed policies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.baselines._weighted_policies import WeightedPolicies
from hannan.core import OpenRound
from hannan.core.state import Number, State
from hannan.core.validation import FloatArray
from hannan.oracles import FinitePolicies

# Totals are relative to an earlier minimum. While no exponent can have moved by more than this
# since then, weights neither overflow nor vanish, and no new minimum is needed.
_SAFE_EXPONENT = 100.0


class Hedge(WeightedPolicies):
    r"""Exponential weights over a table of N policies with full information: O(N) per round.

    No oracle is needed. The learner follows policy n with probability proportional to
    :math:`\exp(-\eta \sum_{s<t} \ell_s(\pi_n(x_s)))`.

    Parameters
    ----------
    actions
        Table of policies, as `FinitePolicies` takes it, or a `FinitePolicies`.
    learning_rate
        Learning rate η > 0. Default None: the anytime rate :math:`\eta_t = \sqrt{8 \log N / t}`
        divided by the width of `loss_range` (times m, if policies choose m elements).
    seed
        Seed of the sampled actions, an integer >= 0. None (default) uses fresh entropy.
    loss_range
        Range (low, high) of the losses. Default (0, 1).

    Guarantee
    ---------
    The expected regret is at most :math:`\log N / \eta + \eta T / 8` for losses in [0, 1]. With the
    best fixed η for T rounds this is :math:`\sqrt{T \log N / 2}`. The anytime rate costs a factor
    3/2. [freund1997]

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.baselines.Hedge([[0, 0], [1, 0]], seed=0)
    >>> for _ in range(200):
    ...     action = learner.act(0)
    ...     learner.update([1.0, 0.0])
    >>> learner.act(0)
    1

    References
    ----------
    [freund1997]
    """

    stored = State(_drift=Number())

    def __init__(
        self,
        actions: ArrayLike | FinitePolicies,
        *,
        learning_rate: float | None = None,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__(actions, seed, loss_range, learning_rate)
        self._drift = 0.0

    def _act(self, opened: OpenRound) -> None:
        self._totals, self._drift = self._measured(self._rate())
        super()._act(opened)

    def _update(self, opened: OpenRound, loss: Any) -> None:
        losses, low, high = self._check(loss)
        self._totals += self._charge(opened.context, losses)
        self._drift += self.oracle.max_chosen * max(high, -low)

    def regret_bound(self) -> float | None:
        """Return log N/η + ηTW²/8 for losses of width W; 3/2 its minimum at the anytime rate."""
        if not self._ledger.immediate:
            return None
        T, W, log_N = self.rounds, self._width, self._log_size
        if T == 0 or self.learning_rate is None:
            return 1.5 * W * math.sqrt(0.5 * T * log_N)
        return log_N / self.learning_rate + self.learning_rate * T * W * W / 8.0

    def _rate(self) -> float:
        if self.learning_rate is not None:
            return self.learning_rate
        return math.sqrt(8.0 * self._log_size / (self.rounds + 1)) / self._width

    def _measured(self, rate: float) -> tuple[FloatArray, float]:
        """Return the totals, relative to a new minimum if needed, and a bound on their change."""
        if rate * self._drift <= _SAFE_EXPONENT:
            return self._totals, self._drift
        return self._totals - self._totals.min(), 0.0

    def _weights(self, opened: OpenRound) -> FloatArray:
        weights, rate = self._scratch, self._rate()
        np.multiply(self._measured(rate)[0], -rate, out=weights)
        return np.exp(weights, out=weights)
