"""Predictions Q_t of the losses of the next round, with full information (Theorem 5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from hannan.core import Action, LossFunction, Oracle
from hannan.core.policy import loss_of
from hannan.core.predictor import adopt, check_guess
from hannan.core.rounds import n_actions_of
from hannan.core.state import Array, Count, Number, Object, Part, State
from hannan.core.stored import Stored
from hannan.core.validation import LossRange
from hannan.kernels.losses import extremes, gap

TRUST = ("earned", "always")


GUESS = Array(n_actions_of) | Object(LossFunction) | None
"""Stored form of the prediction of a round."""


class Prediction(Stored):
    r"""The prediction :math:`Q_t` of the next round, and :math:`\sum_t \|f_t - Q_t\|_*^2`.

    The predictor sees the context and the past, but not the noise of the round. The round stores
    two values: `opened.offered`, the prediction, and `opened.guess`, the prediction in use. If the
    losses have a range, predictions are clipped to it.

    With trust="earned", a prediction is used while the sum of the squared ranges of
    :math:`f_s - Q_s` so far is at most that of :math:`f_s`; else 0 replaces it. Each of the two
    sums, while in use, exceeds the other by at most one step. So the sum over the values in use is
    at most twice the smaller sum, plus a step: a bad predictor costs at most a factor √2.

    Without a predictor, :math:`Q_t = 0`, and there is no sum of errors.
    """

    stored = State(
        predictor=Part(),
        squared_error=(Number() | None).where(
            lambda self, error: (error is None) == (self.predictor is None)
        ),
        _with=Number(),
        _without=Number(),
        _n_actions=Count().where(lambda self, n: self.oracle.n_actions in (None, n)),
    )

    def __init__(self, predictor: Any, loss_range: LossRange, oracle: Oracle, trust: str) -> None:
        self.predictor: Any = None
        self.squared_error: Any = None
        if predictor is not None:
            self.predictor = adopt(predictor, n_actions=oracle.n_actions)
            self.squared_error = 0.0
        self._earned = trust == "earned"
        self._with = 0.0
        self._without = 0.0
        self._range = loss_range
        self._m = oracle.max_chosen
        self._n_actions = oracle.n_actions or 0

    def look_ahead(self, opened: Any) -> None:
        """Store the prediction in a round: losses of all elements, a loss function, or None."""
        if self.predictor is not None and self._n_actions:
            guess = self.predictor.predict(opened.context)
            if not isinstance(guess, LossFunction):
                guess = check_guess(self.predictor, guess, self._n_actions, self._range)
            opened.offered = guess
            if not self._earned or self._with <= self._without:
                opened.guess = opened.offered

    def surprise(self, opened: Any, losses: Any, action: Action) -> float:
        """Return the loss of an action minus its prediction, (f - Q)(a)."""
        cost = loss_of(losses, action)
        return cost if opened.guess is None else cost - loss_of(opened.guess, action)

    def surprises(self, opened: Any, losses: Any, low: float, high: float) -> tuple[float, float]:
        """Return bounds on f - Q over all actions, given bounds on f."""
        return self._gap(losses, opened.guess, low, high)

    def learn(self, opened: Any, losses: Any, low: float, high: float) -> None:
        """Let the predictor learn from the losses of available actions, then add its errors."""
        if self.predictor is None:
            return
        error = max(map(abs, self.surprises(opened, losses, low, high)))
        if self._m > 1 and isinstance(losses, np.ndarray):
            guess = 0.0 if opened.guess is None else opened.guess
            error = float(np.sort(np.abs(losses - guess))[-self._m :].sum())
        offered = opened.offered
        if isinstance(offered, LossFunction) and isinstance(losses, LossFunction):
            least, most = _probed_range(losses, offered)
        else:
            least, most = self._gap(losses, offered, low, high)
        n_actions = self._n_actions or len(losses)
        if not self._n_actions and hasattr(self.predictor, "prepare"):
            self.predictor.prepare(n_actions)  # there was no prediction before this round
        seen = np.arange(n_actions) if opened.plays is None else opened.available
        shown = losses if opened.plays is None else losses[seen]
        self.predictor.learn(opened.context, seen, shown)
        # Change the sums last: if the predictor fails, they are unchanged.
        self._n_actions = n_actions
        self.squared_error += error * error
        self._with += (most - least) ** 2
        self._without += (high - low) ** 2

    def _gap(self, losses: Any, guess: Any, low: float, high: float) -> tuple[float, float]:
        if guess is None:
            return low, high
        if isinstance(losses, np.ndarray) and isinstance(guess, np.ndarray):
            return self._scaled(*gap(losses, guess))
        if guess is losses:
            return 0.0, 0.0
        function = isinstance(guess, LossFunction)
        lowest, highest = guess.extremes() if function else self._scaled(*extremes(guess))
        return low - highest, high - lowest

    def _scaled(self, least: float, most: float) -> tuple[float, float]:
        """Return bounds for sets of up to m elements, given bounds for one element."""
        if self._m == 1:
            return least, most
        return self._m * min(least, 0.0), self._m * max(most, 0.0)


def _probed_range(losses: LossFunction, guess: LossFunction) -> tuple[float, float]:
    """Return the range of f - Q on single elements and a chain of sets, as an approximation."""
    n = losses.n_actions
    sets = [np.arange(i) for i in range(n + 1)] + [np.array([j]) for j in range(1, n)]
    gaps = [loss_of(losses, some) - loss_of(guess, some) for some in sets]
    return min(gaps), max(gaps)
