"""Weights over listed policies without a learning rate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.baselines._weighted_policies import WeightedPolicies
from hannan.core import OpenRound
from hannan.core.arrays import as_floats
from hannan.core.state import Array, State
from hannan.core.validation import FloatArray, refuse
from hannan.kernels.normalhedge import weights
from hannan.oracles import FinitePolicies


class AdaNormalHedge(WeightedPolicies):
    r"""Weight N listed policies by their regrets, without a learning rate: O(N) per round.

    Policy n has regret :math:`r_t(n) = \langle p_t, \ell_t \rangle - \ell_t(n)` in a round, with
    losses scaled to [0, 1]. Let :math:`R_n = \sum_s r_s(n)` and :math:`C_n = \sum_s |r_s(n)|`. The
    learner follows policy n with probability

    .. math:: p(n) \propto q(n) \bigl(\Phi(R_n + 1, C_n + 1) - \Phi(R_n - 1, C_n + 1)\bigr),
              \qquad \Phi(R, C) = \exp\bigl([R]_+^2 / (3C)\bigr),

    or with probability q(n) if all of these weights are 0.

    Parameters
    ----------
    actions, seed, loss_range
        As in `Hedge`.
    prior
        Prior q: a positive number for each policy, in any scale. Default None: uniform.

    Guarantee
    ---------
    The expected regret to policy n is at most :math:`\sqrt{3 C_n \log(B/q(n))}` with :math:`B = 1 +
    \tfrac32 \sum_i q(i) (1 + \log(1 + C_i))`, for losses in [0, 1]. It is at most of order
    :math:`\sqrt{T \log(N \log T)}`. [luo2015]

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.baselines.AdaNormalHedge([[0, 0], [1, 0]], seed=0)
    >>> for _ in range(200):
    ...     action = learner.act(0)
    ...     learner.update([1.0, 0.0])
    >>> learner.act(0)
    1

    References
    ----------
    [luo2015]
    """

    stored = State(_mixture=Array(low=0.0), _magnitudes=Array(low=0.0))

    class Round(OpenRound):
        """A round with the policy weights used for its action; regret is measured against them."""

        followed: FloatArray = np.empty(0)

        stored = State(followed=Array(lambda self: len(self._mixture), low=0.0))

    def __init__(
        self,
        actions: ArrayLike | FinitePolicies,
        *,
        prior: ArrayLike | None = None,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__(actions, seed, loss_range)
        self.prior = prior
        self._prior = self._check_prior(prior)
        self._mixture = self._prior.copy()
        self._magnitudes = np.zeros_like(self._totals)

    def _prepare(self, opened: Round) -> None:
        opened.followed = self._mixture  # an array that never changes

    def _weights(self, opened: Round) -> FloatArray:
        return opened.followed

    def _update(self, opened: Round, loss: Any) -> None:
        losses = self._check(loss)[0]
        regrets = self._charge(opened.context, losses)
        np.subtract(opened.followed @ regrets, regrets, out=regrets)
        regrets /= self._width
        self._totals += regrets
        self._magnitudes += np.abs(regrets, out=regrets)
        mixture = weights(self._totals, self._magnitudes)
        mixture *= self._prior
        total = mixture.sum()
        self._mixture = mixture / total if total > 0.0 else self._prior.copy()

    def regret_bound(self) -> float | None:
        """Return √(3 C log(B/q)) of the leading policy, times the width of the losses, or None."""
        if not self._ledger.immediate:
            return None
        best = int(np.argmax(self._totals))
        growth = 1.0 + 1.5 * float(self._prior @ (1.0 + np.log1p(self._magnitudes)))
        record = math.log(growth / float(self._prior[best]))
        return self._width * math.sqrt(3.0 * float(self._magnitudes[best]) * record)

    def _check_prior(self, prior: ArrayLike | None) -> FloatArray:
        N = len(self._totals)
        if prior is None:
            return np.full(N, 1.0 / N)
        try:
            found = as_floats(prior).copy()
        except (TypeError, ValueError):
            found = np.zeros(0)
        if found.shape != (N,) or not (np.isfinite(found) & (found > 0.0)).all():
            raise refuse(self, "prior", f"{N} positive numbers, one for each policy", prior)
        found /= found.sum()
        return found
