"""A predictor at work where all losses are shown: Theorem 5's Q_t."""

from __future__ import annotations

from typing import Any

import numpy as np

from hannan.core import Action, LossFunction, Predictor
from hannan.core.available import IntArray
from hannan.core.policy import loss_of
from hannan.core.predictor import adopt, check_guess
from hannan.core.stored import Stored
from hannan.core.validation import LossRange
from hannan.kernels.losses import extremes

TRUST = ("earned", "always")


class Forecast(Stored):
    r"""The guess :math:`Q_t` for the round to come, and :math:`\sum_t \|f_t - Q_t\|_*^2`.

    A guess is made from the context and the past before any noise of the round is looked at.
    Where the losses have a range, guesses outside it are moved to its nearer end.

    Trust is *earned*: a guess counts while the squared ranges of :math:`f_s - Q_s` so far add up
    to no more than those of :math:`f_s`, else it is replaced by 0. Each of the two sums is at
    most a step ahead of the other while it is the one in use, so the sum over what was used is at
    most twice the smaller one, plus a step: a bad predictor costs a factor √2, not more.
    """

    def __init__(
        self, predictor: Predictor, loss_range: LossRange, m: int, trust: str = "earned"
    ) -> None:
        self.predictor = adopt(predictor)
        self.squared_error = 0.0
        self.guess: Any = None
        self._offered: Any = None
        self._earned = trust == "earned"
        self._with = 0.0
        self._without = 0.0
        self._range = loss_range
        self._m = m
        self._n_actions = 0

    def prepare(self, n_actions: int) -> None:
        """Told once how many elements there are; until then there is no guess."""
        self._n_actions = n_actions
        if hasattr(self.predictor, "prepare"):
            self.predictor.prepare(n_actions)

    def look_ahead(self, context: Any) -> Any:
        """The guess for a round: losses of all elements, a loss function, or None."""
        self.guess = self._offered = None
        if self._n_actions:
            self._offered = self._checked(self.predictor.predict(context))
            if not self._earned or self._with <= self._without:
                self.guess = self._offered
        return self.guess

    def surprise(self, losses: Any, action: Action) -> float:
        """What an action cost beyond the guess, f - Q."""
        cost = loss_of(losses, action)
        return cost if self.guess is None else cost - loss_of(self.guess, action)

    def surprises(self, losses: Any, low: float, high: float) -> tuple[float, float]:
        """Bounds on f - Q over all actions, given those on f."""
        return self._gap(losses, self.guess, low, high)

    def replace(self, stands: IntArray) -> None:
        """Guess for each action what is guessed of the one played in its place."""
        self.guess = self.guess if self.guess is None else self.guess[stands]
        self._offered = self._offered if self._offered is None else self._offered[stands]

    def learn(
        self, context: Any, losses: Any, low: float, high: float, there: IntArray | None = None
    ) -> None:
        """Count the errors, given bounds on f, and pass on the losses of the actions there."""
        error = max(map(abs, self.surprises(losses, low, high)))
        if self._m > 1 and isinstance(losses, np.ndarray):
            guess = 0.0 if self.guess is None else self.guess
            error = float(np.sort(np.abs(losses - guess))[-self._m :].sum())
        self.squared_error += error * error
        if isinstance(self._offered, LossFunction) and isinstance(losses, LossFunction):
            self._with += _probed_range(losses, self._offered) ** 2
        else:
            least, most = self._gap(losses, self._offered, low, high)
            self._with += (most - least) ** 2
        self._without += (high - low) ** 2
        if not self._n_actions:
            self.prepare(len(losses))
        if there is None:
            self.predictor.learn(context, np.arange(self._n_actions), losses)
        else:
            self.predictor.learn(context, there, losses[there])

    def _gap(self, losses: Any, guess: Any, low: float, high: float) -> tuple[float, float]:
        if guess is None:
            return low, high
        if isinstance(losses, np.ndarray) and isinstance(guess, np.ndarray):
            return self._scaled(*extremes(losses - guess))
        if guess is losses:
            return 0.0, 0.0
        lowest, highest = self._extremes(guess)
        return low - highest, high - lowest

    def _scaled(self, least: float, most: float) -> tuple[float, float]:
        """Bounds for sets of up to m elements."""
        if self._m == 1:
            return least, most
        return self._m * min(least, 0.0), self._m * max(most, 0.0)

    def _extremes(self, guess: Any) -> tuple[float, float]:
        if isinstance(guess, LossFunction):
            return guess.extremes()
        return self._scaled(*extremes(guess))

    def _checked(self, guess: Any) -> Any:
        if isinstance(guess, LossFunction):
            return guess
        return check_guess(self.predictor, guess, self._n_actions, self._range)


def _probed_range(losses: LossFunction, guess: LossFunction) -> float:
    """The range of f - Q on single elements and a chain of sets, as a guess at that on all."""
    n = losses.n_actions
    sets = [np.arange(i) for i in range(n + 1)] + [np.array([j]) for j in range(1, n)]
    gaps = [loss_of(losses, some) - loss_of(guess, some) for some in sets]
    return max(gaps) - min(gaps)
