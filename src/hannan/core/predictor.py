"""Predictors: guesses of the next losses."""

from abc import ABC, abstractmethod
from typing import Any

from hannan.core.params import Parametrised
from hannan.core.policy import Action
from hannan.core.validation import FloatArray


class Predictor(Parametrised, ABC):
    """Guesses the losses of all elements before a round, from the past alone.

    A learner takes a clone, so one predictor object may be given to several. Any object with
    `predict` and `learn` will do; one without `clone` is used itself.
    """

    def prepare(self, n_actions: int) -> None:
        """Told once, before the first round, how many elements there are."""

    @abstractmethod
    def predict(self, context: Any) -> FloatArray:
        """The guess for each of K elements, preferably a low one."""

    def baseline(self, context: Any) -> FloatArray:
        """A more cautious, lower guess, for use inside loss estimates."""
        return self.predict(context)

    def estimate(self, context: Any) -> FloatArray:
        """The best guess, neither low nor high; drift is looked for in its errors."""
        return self.predict(context)

    @abstractmethod
    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """What the chosen elements cost: a number, or one for each chosen element.

        With full information all elements count as chosen, in their order.
        """
