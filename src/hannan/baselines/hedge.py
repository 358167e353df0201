"""Exponential weights over listed policies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.core import Action, Learner
from hannan.core.validation import (
    check_loss_range,
    check_losses,
    check_positive,
    check_seed,
)
from hannan.oracles import FinitePolicies


class Hedge(Learner):
    r"""Exponential weights over a table of N policies: O(N) a round, no oracle.

    Policy n is followed with probability proportional to
    :math:`\exp(-\eta \sum_{s<t} \ell_s(\pi_n(x_s)))`.

    Parameters
    ----------
    actions
        Integers [N, d]: policy n plays `actions[n, i]` on context i; or a `FinitePolicies`.
    learning_rate
        η; if None, the anytime rate :math:`\eta_t = \sqrt{8 \log N / t}` divided by the width
        of `loss_range`.
    seed
        Fixes the play; None takes fresh entropy.
    loss_range
        Range of the losses.

    Guarantee
    ---------
    With the best fixed η for T rounds of losses in [0, 1], expected regret at most
    :math:`\sqrt{T \log N / 2}`; the anytime rate costs a factor 2 at most. [freund1997]

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

    def __init__(
        self,
        actions: ArrayLike | FinitePolicies,
        *,
        learning_rate: float | None = None,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__()
        self.actions = actions
        self.learning_rate = (
            None if learning_rate is None else check_positive(self, "learning_rate", learning_rate)
        )
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        self._range = check_loss_range(self, loss_range)
        self.oracle: FinitePolicies = (
            actions if isinstance(actions, FinitePolicies) else FinitePolicies(actions)
        )
        self._columns = np.ascontiguousarray(self.oracle.table.T)
        self._totals = np.zeros(self.oracle.n_policies)
        self._rng = np.random.default_rng(seed)

    def _act(self, context: Any) -> Action:
        weights = np.exp(-self._rate() * (self._totals - self._totals.min()))
        cumulative = np.cumsum(weights)
        policy = np.searchsorted(cumulative, self._rng.random() * cumulative[-1], side="right")
        return int(self._columns[context, min(policy, len(weights) - 1)])

    def _update(self, context: Any, action: Action, loss: Any) -> None:
        losses = check_losses(loss, self.oracle.n_actions, self._range)[0]
        self._totals += losses[self._columns[context]]

    def _rate(self) -> float:
        if self.learning_rate is not None:
            return self.learning_rate
        width = self._range[1] - self._range[0]
        return math.sqrt(8.0 * math.log(len(self._totals)) / (self.rounds + 1)) / width
