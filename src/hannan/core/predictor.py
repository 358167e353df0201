"""Predictors: guesses of the next losses."""

import operator
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from hannan.core.arrays import as_floats
from hannan.core.errors import InputTypeError, LossError, ParameterError
from hannan.core.params import Parametrised
from hannan.core.policy import Action
from hannan.core.rounds import IntArray
from hannan.core.validation import FloatArray, LossRange
from hannan.kernels.losses import extremes

_FLOAT64 = np.dtype(np.float64)


class Predictor(Parametrised, ABC):
    """Guesses the losses of all elements before a round, from the past alone.

    A learner takes a clone, so one predictor object may be given to several. Any object with
    `predict` and `learn` will do; one without `clone` is used itself.
    """

    takes_items: ClassVar[bool] = False
    """Whether contexts are menus of described actions; K is then that of the round."""

    sound: ClassVar[bool] = False
    """Whether `advise` always returns a new float64 array of K numbers from 0 to 1, which nobody
    has to check or copy."""

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

    def advise(self, context: Any, available: IntArray | None = None) -> tuple[int, FloatArray]:
        """What to play, and the best guess for each of K elements; asked once before a round.

        The action has the least lower confidence value, ties to the smallest, among those
        `available`: a sorted array of indices, or None for all. The guesses are as in `estimate`.
        """
        low = np.asarray(self.predict(context))
        action = low.argmin() if available is None else available[low[available].argmin()]
        return int(action), self.estimate(context)

    @abstractmethod
    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """What the chosen elements cost: a number, or one for each chosen element.

        With full information all elements count as chosen, in their order.
        """


def extended_predictor(predictor: Any, n_actions: int) -> Any:
    """A predictor at work that knows what this one does, where there are more actions."""
    if not callable(getattr(predictor, "extended", None)):
        raise ParameterError(
            f"{type(predictor).__name__} cannot take more actions than it began with: it has no "
            "extended(n_actions)."
        )
    return predictor.extended(n_actions)


def adopt(predictor: Any, name: str = "predictor", n_actions: int | None = None) -> Any:
    """A predictor of one's own: a clone, or the object itself where it has none to give.

    It is told the number of elements, where that is known.
    """
    if isinstance(predictor, type):
        raise InputTypeError(
            f"{name}= needs an instance, {predictor.__name__}(...); got the class itself."
        )
    for verb in ("predict", "learn"):
        if not callable(getattr(predictor, verb, None)):
            raise InputTypeError(
                f"{name}= needs predict(context) and learn(context, action, loss), as in "
                f"hannan.predictors; got {predictor!r}."
            )
    own = predictor.clone() if hasattr(predictor, "clone") else predictor
    if n_actions is not None and hasattr(own, "prepare"):
        own.prepare(n_actions)
    return own


def check_guess(predictor: Any, guess: Any, n_actions: int, loss_range: LossRange) -> FloatArray:
    """A guess for each element, moved into the range of the losses.

    Always a copy: a round keeps it, and the predictor may use its own array again.
    """
    found: FloatArray = guess
    if type(guess) is not np.ndarray or guess.dtype is not _FLOAT64:
        try:
            found = as_floats(guess)
        except (TypeError, ValueError):
            found = np.empty(0)
    low, high = extremes(found) if found.shape == (n_actions,) else (np.nan, np.nan)
    if low >= loss_range[0] and high <= loss_range[1]:
        return found.copy()
    if np.isnan(low):
        raise LossError(
            f"A predictor must return {n_actions} finite numbers, one for each element; "
            f"{type(predictor).__name__} returned {guess!r}."
        )
    return np.clip(found, *loss_range)


def advice_of(predictor: Any, context: Any, available: IntArray | None, n_actions: Any) -> int:
    """What a predictor recommends, checked: the least of its guesses where it does not say."""
    advise = getattr(predictor, "advise", None)
    if advise is None:
        guess = check_guess(predictor, predictor.predict(context), n_actions, (-np.inf, np.inf))
        some = np.arange(n_actions) if available is None else available
        return int(some[guess[some].argmin()])
    advice = advise(context, available)[0]
    return check_advice(predictor, advice, available, n_actions)


def check_advice(predictor: Any, advice: Any, available: IntArray | None, n_actions: int) -> int:
    """The recommended action as a plain integer; refuse advice that cannot be played."""
    try:
        action = operator.index(advice)
    except TypeError:
        action = -1
    valid = 0 <= action < n_actions
    if not valid or (available is not None and action not in available):
        raise LossError(
            f"A predictor must recommend an available action below {n_actions}; "
            f"{type(predictor).__name__} recommended {advice!r}."
        )
    return action
