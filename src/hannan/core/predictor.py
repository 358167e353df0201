"""Predictors: predictions of the next losses."""

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
    """Predict the losses of all elements before a round, from the past alone.

    A learner uses a clone, so you can pass one predictor to several learners. Any object with
    `predict` and `learn` is a predictor; an object without `clone` is used itself.
    """

    takes_items: ClassVar[bool] = False
    """Whether contexts are menus of actions with features; K is then the size of the menu."""

    sound: ClassVar[bool] = False
    """Whether `advise` always returns a new float64 array of K numbers from 0 to 1, which learners
    need not check or copy."""

    def prepare(self, n_actions: int) -> None:
        """Receive the number of elements, once before the first round."""

    @abstractmethod
    def predict(self, context: Any) -> FloatArray:
        """Return a prediction for each of K elements, preferably a low one."""

    def baseline(self, context: Any) -> FloatArray:
        """Return a more cautious, lower prediction, for use inside loss estimates."""
        return self.predict(context)

    def estimate(self, context: Any) -> FloatArray:
        """Return the best estimate, neither low nor high; drift is detected in its errors."""
        return self.predict(context)

    def advise(self, context: Any, available: IntArray | None = None) -> tuple[int, FloatArray]:
        """Return the recommended action and the best estimate for each of K elements.

        A learner calls this method once before a round. The action has the least lower confidence
        bound among the `available` actions (a sorted array of indices, or None for all). Ties go to
        the smallest action. The estimates are the ones of `estimate`.
        """
        low = np.asarray(self.predict(context))
        action = low.argmin() if available is None else available[low[available].argmin()]
        return int(action), self.estimate(context)

    @abstractmethod
    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """Learn from the losses of the chosen elements: one number, or one per chosen element.

        With full information, all elements count as chosen, in their order.
        """


def extended_predictor(predictor: Any, n_actions: int) -> Any:
    """Return a predictor with the same learned state for more actions."""
    if not callable(getattr(predictor, "extended", None)):
        raise ParameterError(
            f"{type(predictor).__name__} cannot take more actions than it began with: it has no "
            "extended(n_actions)."
        )
    return predictor.extended(n_actions)


def adopt(predictor: Any, name: str = "predictor", n_actions: int | None = None) -> Any:
    """Return a clone of a predictor, or the predictor itself if it has no `clone`.

    If `n_actions` is known, pass it to `prepare`.
    """
    if isinstance(predictor, type):
        raise InputTypeError(
            f"{name}= needs an instance, {predictor.__name__}(...); got the class."
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
    """Return a copy of the predictions, clipped to the range of the losses.

    The copy is needed because a round stores it, and the predictor may reuse its own array.
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
    """Return the checked action that a predictor recommends, by default its least prediction."""
    advise = getattr(predictor, "advise", None)
    if advise is None:
        guess = check_guess(predictor, predictor.predict(context), n_actions, (-np.inf, np.inf))
        some = np.arange(n_actions) if available is None else available
        return int(some[guess[some].argmin()])
    advice = advise(context, available)[0]
    return check_advice(predictor, advice, available, n_actions)


def check_advice(predictor: Any, advice: Any, available: IntArray | None, n_actions: int) -> int:
    """Return the recommended action as an integer, or raise a `LossError` if it is invalid."""
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
