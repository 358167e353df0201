"""Exp3-IX for each context of a table."""

from __future__ import annotations

import math

import numpy as np

from hannan.core.validation import FloatArray
from hannan.learners.known_distribution import KnownDistribution


class Exp3IX(KnownDistribution):
    r"""Exp3-IX, exponential weights with implicit exploration, for bandit feedback on a table.

    On context x action k has probability proportional to :math:`\exp(-\eta \hat L_x(k))`, with

    .. math:: \hat\ell = \frac{\ell}{q + \gamma}, \qquad
              \eta = \sqrt{\frac{\log K}{K W_x}}, \qquad \gamma = \frac\eta2

    for losses in [0, 1]. :math:`\hat L_x` is the sum of the loss estimates of each action on x, q
    is the propensity and :math:`W_x` the number of visits of x, this one included. Because of γ an
    estimate is at most 1/γ and too small on average, never too large. So regret concentrates
    without uniform exploration.

    Parameters
    ----------
    oracle, predictor, trust, exploration, seed, loss_range
        As in `TsallisINF`. The predictor gives hints only; its estimates are not a baseline.

    Guarantee
    ---------
    Losses in [0, 1], immediate feedback, adaptive adversaries: pseudo-regret at most
    :math:`3\sqrt{dKT \log K}`. With a predictor, however bad, at most
    :math:`S_T + 3\sqrt{dKW_T \log K}`, with S and W as for `TsallisINF`. With delayed feedback the
    certificate stays valid: it measures the instability cost and the bias. [neu2015]

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.Exp3IX(hn.oracles.AllPolicies(1, 3), seed=0)
    >>> for t in range(300):
    ...     action = learner.act()
    ...     learner.update(0.2 if action == 1 else 0.8)
    >>> learner.best_policy()(0), learner.propensities().probabilities.round(2)
    (1, array([0.02, 0.88, 0.1 ]))

    References
    ----------
    [neu2015]
    """

    def _distribution(self, totals: FloatArray, eta: float) -> FloatArray:
        weights = np.exp(eta * (totals.min() - totals))
        return np.asarray(weights / weights.sum())

    def _rate(self, W: float) -> float:
        return math.sqrt(self._entropy / (self.oracle.n_actions * W)) / self._range[1]

    def _weight(self, opened: KnownDistribution.Round) -> float:
        gamma = self._range[1] / (2.0 * opened.scale)
        return 1.0 / (1.0 / opened.weight + gamma)

    @property
    def _constant(self) -> float:
        # The sum of log K/η, and in each round ηK/2 for variance and γK for bias of the estimate.
        return 3.0 * math.sqrt(self._entropy)

    @property
    def _entropy(self) -> float:
        return math.log(max(2, self.oracle.n_actions))
