"""Thompson sampling for sets of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from hannan.baselines._set_bandit import ElementTable, SetBandit
from hannan.core import Action, Oracle
from hannan.core.state import Part, State
from hannan.core.validation import FloatArray, check_choice, check_seed

_POOL = 8.0  # weight of the variance of all elements, in observations of one element


class CombThompson(SetBandit):
    r"""Play the best set for losses drawn from the posterior of each element.

    The feedback is semi-bandit feedback. Let s be the sum of n observed losses of an element,
    scaled to [0, 1]. The learner draws its loss, independently of other elements, from

    - "beta": the Beta distribution with parameters 1 + s and 1 + n - s;
    - "gauss": the normal distribution with mean s/(n+1) and variance
      :math:`\sigma^2/(n+1)`. Here :math:`\sigma^2 = (e + 8v)/(n + 8)`, e is the sum of the squared
      errors of the element and v their mean over all elements, at first 1/4.

    Parameters
    ----------
    oracle
        Policy class with its optimiser (oracle), which finds the best set.
    posterior
        Posterior distribution: "beta" (default), for losses that are mostly 0 or 1, or "gauss", for
        losses such as travel times.
    shared
        Whether all contexts share the losses of elements. Default False: each context has its own.
    seed
        Seed of the draws, an integer >= 0. None (default) uses fresh entropy.
    loss_range
        Range (low, high) of the loss of each element. Default (0, 1).

    Guarantee
    ---------
    If losses are drawn independently from one distribution, regret with "beta" grows like the
    logarithm of the number of rounds. There is no guarantee against an adversary. [wang2018]

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.baselines.CombThompson(hn.oracles.Subsets(4, 2), seed=0)
    >>> for _ in range(200):
    ...     chosen = learner.act()
    ...     learner.update(np.array([0.9, 0.1, 0.8, 0.2])[chosen])
    >>> learner.act()
    array([1, 3])

    References
    ----------
    [wang2018]
    """

    _random = True

    stored = State(_table=Part())

    def __init__(
        self,
        oracle: Oracle,
        *,
        posterior: str = "beta",
        shared: bool = False,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        self.posterior = check_choice(self, "posterior", posterior, ("beta", "gauss"))
        self.seed = check_seed(self, seed)
        super().__init__(oracle, loss_range, seed)
        self.shared = shared
        self._table = ElementTable(self, shared)

    def _values(self, context: Any) -> FloatArray:
        total, count, errors = self._table.row(context)
        rng = self._generator()
        if self.posterior == "beta":
            ones = np.minimum(total, count)
            return np.asarray(rng.beta(1.0 + ones, 1.0 + count - ones))
        pooled = (0.25 + errors.sum()) / (1.0 + np.maximum(count - 1.0, 0.0).sum())
        variance = (errors + _POOL * pooled) / (count + _POOL)
        width = np.sqrt(variance / (count + 1.0))
        return np.asarray(total / (count + 1.0) + width * rng.standard_normal(len(count)))

    def _learn(self, context: Any, action: Action, losses: Any) -> None:
        self._table.learn(context, action, losses)
