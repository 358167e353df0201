"""Tsallis-INF for each context of a table."""

from __future__ import annotations

import math

import numpy as np

from hannan.core.validation import FloatArray
from hannan.kernels import tsallis as kernel
from hannan.learners.known_distribution import KnownDistribution


class TsallisINF(KnownDistribution):
    r"""Tsallis-INF for bandit feedback, separately for each context of a table.

    On context x the learner draws its action from

    .. math:: w = \arg\min_w \langle w, \hat L_x \rangle - \frac4\eta \sum_k \sqrt{w_k} ,
              \qquad \eta = 2/\sqrt{W_x} ,

    with :math:`\hat L_x` the estimated total losses on x and :math:`W_x` the number of visits,
    this one included. The distribution is known, so no resampling is needed. Regret is of order
    :math:`\sqrt{KT}` against any adversary, and of order :math:`\log T` if the losses are
    independent draws from one distribution. You need not know which of these is the case.

    Parameters
    ----------
    oracle
        `AllPolicies(d, K)` for d contexts and K actions; d = 1 for a bandit without contexts.
    predictor
        Model that recommends actions and estimates losses, as in `ContextSemiBanditFTPL`.
    trust
        How far to follow the predictor: "earned" (default), or a `Trust` with hints.
    exploration
        Minimum probability of each available action, as in `ContextSemiBanditFTPL`. Default 0.
    seed, loss_range
        As in `ContextSemiBanditFTPL`; losses must not be negative.

    Guarantee
    ---------
    Losses in [0, 1], immediate feedback, adaptive adversaries: pseudo-regret at most
    :math:`4\sqrt{dKT}`; with a predictor, however bad, at most
    :math:`S_T + 4.67\sqrt{dKW_T}`, with :math:`S_T \le 3\sqrt{GT}` the measured cost of its hints
    and :math:`W_T \le 34T` (`Trust.share`). With delayed feedback, even if the delays depend on
    the actions, the certificate stays valid, because it measures the instability cost.
    [zimmert2021]

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.TsallisINF(hn.oracles.AllPolicies(1, 3), seed=0)
    >>> for t in range(300):
    ...     action = learner.act()
    ...     learner.update(0.2 if action == 1 else 0.8)
    >>> learner.best_policy()(0), learner.propensities().probabilities.round(2)
    (1, array([0.  , 0.94, 0.06]))

    References
    ----------
    [zimmert2021]
    """

    def _distribution(self, totals: FloatArray, eta: float) -> FloatArray:
        distribution = np.empty(len(totals))
        kernel.distribution(totals, eta, distribution)
        return distribution

    def _choice(
        self, opened: KnownDistribution.Round, totals: FloatArray, eta: float
    ) -> FloatArray:
        # With delay, missing feedback may depend on the action. Then a baseline would bias the
        # estimates of other actions.
        if opened.values is None or opened.late or not self.hint.signed:
            return self._distribution(totals, eta)
        opened.baseline, distribution = np.empty(len(totals)), np.empty(len(totals))
        kernel.capped_distribution(
            totals, opened.values, opened.advice, opened.share, 1.0 - opened.explores, eta,
            self._range[1], opened.baseline, distribution,
        )  # fmt: skip
        return distribution

    def _rate(self, W: float) -> float:
        return 2.0 / (self._range[1] * math.sqrt(W))

    @property
    def _constant(self) -> float:
        return 4.0 if self.hint.predictor is None else 4.67

    @property
    def _entropy(self) -> float:
        return 4.0 * (math.sqrt(self.oracle.n_actions) - 1.0)  # uniform against a corner
