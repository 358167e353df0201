"""Confidence bounds for sets of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from hannan.baselines._set_bandit import ElementTable, SetBandit
from hannan.core import Action, Oracle
from hannan.core.state import Part, State
from hannan.core.validation import FloatArray


class CombUCB1(SetBandit):
    r"""Play the set with the lowest sum of lower confidence bounds; semi-bandit feedback.

    The bound of an element with n observed losses, scaled to [0, 1], is their mean minus

    .. math:: \sqrt{1.5 \log t \,/\, n} ,

    where t is the number of rounds so far. Sets with the most elements that were never observed
    come first. Remaining ties are those of the oracle.

    Parameters
    ----------
    oracle
        Policy class with its optimiser (oracle), which finds the best set.
    shared
        Whether all contexts share the losses of elements. Default False: each context has its own.
    loss_range
        Range (low, high) of the loss of each element. Default (0, 1).

    Guarantee
    ---------
    If the losses of each element are drawn independently from one distribution, regret grows like
    :math:`\sqrt{KmT\log T}`. There is no guarantee against an adversary, who makes every round cost
    the most, because play is deterministic. [kveton2015]

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.baselines.CombUCB1(hn.oracles.Subsets(4, 2))
    >>> for _ in range(500):
    ...     chosen = learner.act()
    ...     learner.update(np.array([0.9, 0.1, 0.8, 0.2])[chosen])
    >>> learner.act()
    array([1, 3])

    References
    ----------
    [kveton2015]
    """

    stored = State(_table=Part())

    def __init__(
        self,
        oracle: Oracle,
        *,
        shared: bool = False,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__(oracle, loss_range)
        self.shared = shared
        self._table = ElementTable(self, shared)

    def _values(self, context: Any) -> FloatArray:
        total, count, _ = self._table.row(context)
        n = np.maximum(count, 1.0)
        bounds = total / n - np.sqrt(1.5 * np.log(max(self.rounds, 1)) / n)
        low, high = self._range
        most = (np.abs(bounds).max() + abs(low) / (high - low)) * self.oracle.max_chosen
        bounds[count == 0.0] = -1.0 - 2.0 * most  # no sum of other values makes up for it
        return np.asarray(bounds)

    def _learn(self, context: Any, action: Action, losses: Any) -> None:
        self._table.learn(context, action, losses)
