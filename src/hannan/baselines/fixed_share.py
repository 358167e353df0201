"""Exponential weights over listed policies, with a minimum weight of each policy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.baselines._weighted_policies import WeightedPolicies
from hannan.core import OpenRound, ParameterError
from hannan.core.state import Array, State
from hannan.core.validation import (
    FloatArray,
    check_integer,
    check_probability,
)
from hannan.oracles import FinitePolicies

_TINY = float(np.finfo(np.float64).tiny)


class FixedShare(WeightedPolicies):
    r"""Exponential weights, of which a share is spread evenly after each round: O(N) per round.

    This learner competes with a sequence of policies that changes k times. From weights :math:`w_t`
    over a table of N policies,

    .. math:: v_t(n) \propto w_t(n) \exp(-\eta_t \ell_t(\pi_n(x_t))), \qquad
              w_{t+1}(n) = (1 - \alpha_{t+1}) v_t(n) + \alpha_{t+1} / N .

    Parameters
    ----------
    actions, seed, loss_range
        As in `Hedge`.
    share
        Share α in [0, 1]. Default None: k/(T - 1) if horizon and switches are given, else
        :math:`\alpha_t = 1/t`. With 0 the weights are exponential weights without sharing.
    learning_rate
        Learning rate η > 0. Default None: if horizon and switches are given, :math:`\sqrt{8C/T}`
        with :math:`C = (k+1) \log N + (T-1) H(k/(T-1))`, H the binary entropy; else the anytime
        rate :math:`\eta_t = \sqrt{8 (k+1) \log(Nt)/t}`, with k = 0 unless given. These default
        rates are divided by the width of `loss_range` (times m, if policies choose m elements).
    horizon
        Number of rounds T. Requires `switches`.
    switches
        Number of changes k of the best policy, below `horizon`.

    Guarantee
    ---------
    The expected regret to every sequence of policies with k changes, for losses in [0, 1], is at
    most

    - :math:`\sqrt{TC/2}`, if tuned for T and k;
    - :math:`\sqrt{2 (k+1) T \log(NT)}` after any T rounds, if tuned for k only;
    - :math:`(k+4) \sqrt{T \log(NT)/8}` for all k and T simultaneously, if tuned for neither,
      because no weight is ever below 1/(Nt).

    [herbster1998, cesabianchi2012]

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.baselines.FixedShare([[0], [1]], seed=0)
    >>> for t in range(400):
    ...     action = learner.act(0)
    ...     learner.update([0.0, 1.0] if t < 300 else [1.0, 0.0])
    >>> learner.act(0)
    1

    References
    ----------
    [herbster1998], [cesabianchi2012]
    """

    stored = State(_mixture=Array(low=0.0, high=1.0 + 1e-9))

    def __init__(
        self,
        actions: ArrayLike | FinitePolicies,
        *,
        share: float | None = None,
        learning_rate: float | None = None,
        horizon: int | None = None,
        switches: int | None = None,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__(actions, seed, loss_range, learning_rate)
        self.share = None if share is None else check_probability(self, "share", share)
        self.horizon = None if horizon is None else check_integer(self, "horizon", horizon, 1)
        self.switches = None if switches is None else check_integer(self, "switches", switches, 0)
        if self.horizon is not None and (self.switches is None or self.switches >= self.horizon):
            raise ParameterError(
                "FixedShare with horizon= needs switches= below the horizon; got "
                f"horizon={horizon} and switches={switches}."
            )
        N = len(self._totals)
        self._mixture = np.full(N, 1.0 / N)
        self._tuned = None if horizon is None else _tuned(N, horizon, self.switches or 0)

    def _weights(self, opened: OpenRound) -> FloatArray:
        return self._mixture

    def _update(self, opened: OpenRound, loss: Any) -> None:
        losses = self._check(loss)[0]
        # Totals are -log w, because weights without a share may leave the range of floats.
        exponents = self._charge(opened.context, losses)
        exponents *= self._rate()
        self._totals += exponents
        self._totals -= self._totals.min()
        mixture, share = self._mixture, self._share()
        np.exp(np.negative(self._totals, out=mixture), out=mixture)
        mixture *= (1.0 - share) / mixture.sum()
        least = share / len(mixture)
        if least > _TINY:
            mixture += least
            np.negative(np.log(mixture, out=self._totals), out=self._totals)

    def regret_bound(self) -> float | None:
        r"""Return a bound on the regret to a single policy, or None.

        With a fixed η, the bound is :math:`(\log N + \sum_{t=2}^T \log\frac1{1-\alpha_t})/\eta +
        \eta T W^2/8`. With the anytime rate it is the bound for k changes, or None if `share` is
        given.
        """
        T, N, W = self.rounds, len(self._totals), self._width
        if not self._ledger.immediate:
            return None
        if T == 0 or N == 1:
            return 0.0
        if self.learning_rate is None and self._tuned is None:
            k = self.switches or 0
            bound = W * math.sqrt(2.0 * (k + 1) * T * math.log(N * T))
            return bound if self.share is None else None
        if self.share is None and self._tuned is None:
            taken = math.log(T)
        elif self._share() < 1.0:
            taken = -(T - 1) * math.log1p(-self._share())
        else:
            return None
        eta = self._rate()
        return (self._log_size + taken) / eta + eta * T * W * W / 8.0

    def _share(self) -> float:
        """Return the share redistributed after this round."""
        if self.share is not None:
            return self.share
        return 1.0 / (self.rounds + 2) if self._tuned is None else self._tuned[0]

    def _rate(self) -> float:
        """Return η of this round."""
        if self.learning_rate is not None:
            return self.learning_rate
        if self._tuned is not None:
            return self._tuned[1] / self._width
        k, N, t = self.switches or 0, len(self._totals), self.rounds + 1
        return math.sqrt(8.0 * (k + 1) * math.log(N * t) / t) / self._width


def _tuned(N: int, T: int, k: int) -> tuple[float, float]:
    """Return the share and the rate for losses in [0, 1] and k changes in T rounds."""
    share = k / max(T - 1, 1)
    entropy = -sum(p * math.log(p) for p in (share, 1.0 - share) if p > 0.0)
    return share, math.sqrt(8.0 * ((k + 1) * math.log(N) + (T - 1) * entropy) / T)
