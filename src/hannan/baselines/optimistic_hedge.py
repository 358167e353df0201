"""Exponential weights over listed policies with a prediction of the next losses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.baselines._weighted_policies import WeightedPolicies
from hannan.core import OpenRound, Predictor
from hannan.core.predictor import adopt, check_guess
from hannan.core.state import Array, Number, Part, State
from hannan.core.validation import FloatArray
from hannan.oracles import FinitePolicies
from hannan.predictors import Last


class OptimisticHedge(WeightedPolicies):
    r"""Exponential weights over N policies that include predicted next losses: O(N) per round.

    The learner follows policy n with probability proportional to :math:`\exp(-\eta_t (\sum_{s<t}
    \ell_s(\pi_n(x_s)) + Q_t(\pi_n(x_t))))`. Here :math:`Q_t` is the prediction from the context and
    the past.

    Parameters
    ----------
    actions, seed, loss_range
        As in `Hedge`.
    predictor
        A `Predictor`, which is cloned. Default None: `predictors.Last(by_context=False)`, the
        previous losses. Predictions are clipped to `loss_range`.
    learning_rate
        Learning rate η > 0. Default None: :math:`\eta_t = 2 \sqrt{\log N / (V^2 + \sum_{s<t}
        v_s^2)}`. Here :math:`v_s` is the largest difference between the errors :math:`\ell_s - Q_s`
        of two actions, and V its largest possible value: 2 for losses in [0, 1].

    Guarantee
    ---------
    The expected regret is at most :math:`\log N / \eta + \eta \sum_t v_t^2 / 8` with a fixed rate,
    and :math:`\sqrt{(V^2 + \sum_t v_t^2) \log N}` with the default rate, for any predictions.
    Moreover :math:`v_t \le 2 \|\ell_t - Q_t\|_\infty`. [rakhlin2013]

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.baselines.OptimisticHedge([[0, 0], [1, 0]], seed=0)
    >>> for _ in range(50):
    ...     action = learner.act(0)
    ...     learner.update([1.0, 0.0])
    >>> learner.act(0)
    1

    References
    ----------
    [rakhlin2013]
    """

    stored = State(_predictor=Part(), _errors=Number())

    class Round(OpenRound):
        """A round with the predicted losses Q_t."""

        guess: FloatArray = np.empty(0)

        stored = State(
            guess=Array(None).where(
                lambda self, guess: len(guess) in (self.oracle.n_actions, len(self._totals))
            )
        )

    def __init__(
        self,
        actions: ArrayLike | FinitePolicies,
        *,
        predictor: Predictor | None = None,
        learning_rate: float | None = None,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__(actions, seed, loss_range, learning_rate)
        self.predictor = predictor
        mine = Last(by_context=False) if predictor is None else predictor
        self._predictor = adopt(mine, n_actions=self.oracle.n_actions)
        self._elements = np.arange(self.oracle.n_actions)
        self._errors = (2.0 * self._width) ** 2
        """V² plus the sum of the v²."""

    def _prepare(self, opened: Round) -> None:
        """Predict Q_t."""
        guess = self._predictor.predict(opened.context)
        opened.guess = check_guess(self._predictor, guess, self.oracle.n_actions, self._range)

    def _update(self, opened: Round, loss: Any) -> None:
        losses = self._check(loss)[0]
        errors = self.oracle.losses_by_code(losses - opened.guess)
        self._predictor.learn(opened.context, self._elements, losses)
        self._errors += float(np.ptp(errors)) ** 2
        self._totals += self._charge(opened.context, losses)

    def regret_bound(self) -> float | None:
        """Return √((V² + Σv²) log N), or log N/η + ηΣv²/8, for the observed errors, or None."""
        if not self._ledger.immediate:
            return None
        log_N, rate = self._log_size, self.learning_rate
        if self.rounds == 0:
            return 0.0
        if rate is None:
            return math.sqrt(self._errors * log_N)
        first = (2.0 * self._width) ** 2
        return log_N / rate + rate * (self._errors - first) / 8.0

    def _rate(self) -> float:
        if self.learning_rate is not None:
            return self.learning_rate
        return 2.0 * math.sqrt(self._log_size / self._errors)

    def _weights(self, opened: Round) -> FloatArray:
        weights = self._charge(opened.context, opened.guess)
        weights += self._totals
        weights -= weights.min()
        weights *= -self._rate()
        return np.exp(weights, out=weights)
