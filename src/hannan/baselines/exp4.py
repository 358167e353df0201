"""Exponential weights over listed policies, with bandit feedback."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.baselines._listed import ListedPolicies
from hannan.core import Action, Feedback, ParameterError
from hannan.core.available import IntArray
from hannan.core.validation import FloatArray
from hannan.oracles import FinitePolicies


class Exp4(ListedPolicies):
    r"""Exponential weights over a table of N policies, bandit feedback: O(N) a round, no oracle.

    On context x action a is played with probability :math:`p_a`, the total weight of the policies
    that play it there, and :math:`\hat\ell = \ell/p_a` on the action played is what those policies
    are charged; policy n has weight :math:`\exp(-\eta \sum_s \hat\ell_s(\pi_n(x_s)))`.

    Parameters
    ----------
    actions
        Integers [N, d]: policy n plays `actions[n, i]` on context i; or a `FinitePolicies`.
    learning_rate
        η; if None, the anytime rate :math:`\eta_t = \sqrt{\log N/(tK)}` divided by the largest
        loss.
    seed
        Fixes the play; None takes fresh entropy.
    loss_range
        Range of the losses, not negative.

    Guarantee
    ---------
    With :math:`\eta = \sqrt{2 \log N/(TK)}` and losses in [0, 1], pseudo-regret at most
    :math:`\sqrt{2TK \log N}`; the anytime rate costs a factor :math:`\sqrt2`. [auer2002]

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.baselines.Exp4([[0, 0], [1, 0]], seed=0)
    >>> for _ in range(300):
    ...     action = learner.act(0)
    ...     learner.update(1.0 - action)
    >>> learner.act(0)
    1

    References
    ----------
    [auer2002]
    """

    feedback = Feedback.SEMI
    _scratch = frozenset({"_law"})

    def __init__(
        self,
        actions: ArrayLike | FinitePolicies,
        *,
        learning_rate: float | None = None,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__(actions, learning_rate, seed, loss_range)
        if self._range[0] < 0.0:
            raise ParameterError("Exp4 needs losses that are never negative: shift them.")
        if self.oracle.sets is not None:
            raise ParameterError("Exp4 is for single actions; got a table of sets.")
        self._probability = 1.0
        self._law: FloatArray = np.ones(self.oracle.n_actions)  # of the last action, in any unit

    def _act(self, context: Any) -> Action:
        weights = self._weigh(context)
        mass = np.bincount(self._columns[context], weights, self.oracle.n_actions)
        ends = mass.cumsum()
        found = int(ends.searchsorted(self._rng.random() * ends[-1], side="right"))
        action = min(found, self.oracle.n_actions - 1)
        self._probability = float(mass[action] / ends[-1])
        self._law = np.asarray(mass, dtype=np.float64)
        return action

    def _weigh(self, context: Any) -> FloatArray:
        weights = self._weights
        np.subtract(self._totals, self._totals.min(), out=weights)
        weights *= -self._rate()
        return np.exp(weights, out=weights)

    def _update(self, context: Any, action: Action, loss: Any) -> None:
        cost = self._cost(action, loss)
        if cost == 0.0:
            return
        charge = np.zeros(self.oracle.n_actions)
        charge[action] = cost / self._probability
        charge.take(self._columns[context], out=self._weights, mode="clip")
        self._totals += self._weights

    def _keep(self) -> float:
        return self._probability

    def _recall(self, kept: float) -> None:
        self._probability = kept

    def _inverse_propensities(self, alike: IntArray | None = None) -> FloatArray:
        if alike is None:
            return np.array([1.0 / self._probability])
        return np.array([self._law.sum() / self._law[alike].sum()])

    def regret_bound(self) -> float | None:
        """log N/η + ηTKB²/2; with the anytime rate √2 times its least value, B the largest loss."""
        if self._delayed:
            return None
        T, K, B = self.rounds, self.oracle.n_actions, self._range[1]
        log_N = math.log(len(self._totals))
        if T == 0 or self.learning_rate is None:
            return 2.0 * B * math.sqrt(T * K * log_N)
        return log_N / self.learning_rate + 0.5 * self.learning_rate * T * K * B * B

    def _rate(self) -> float:
        if self.learning_rate is not None:
            return self.learning_rate
        N, K = len(self._totals), self.oracle.n_actions
        return math.sqrt(math.log(N) / ((self.rounds + 1) * K)) / self._range[1]
