"""Base class of predictors of the losses of elements, for actions that are sets."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from hannan.core.arrays import as_floats
from hannan.core.errors import ParameterError
from hannan.core.policy import Action
from hannan.core.predictor import Predictor
from hannan.core.rounds import IntArray
from hannan.core.state import Count, State
from hannan.core.validation import (
    FloatArray,
    LossRange,
    check_bounded_range,
    check_choice,
    check_integer,
    refuse,
)
from hannan.predictors._lower import check_seen, room_for_one
from hannan.predictors._table import check_alpha, check_prepared

_SAMPLES = 0x73616D70  # separate random stream for samples


class ElementPredictor(Predictor):
    """Estimate the losses of elements; predict the estimates minus widths, or sample around them.

    Predictions are values for an optimiser to choose a set by. They may be outside the range of the
    losses; the estimates are in it.
    """

    stored = State(
        _n_actions=Count().where(
            lambda self, n: n == 0 or self.guess is None or n == len(self._prior)
        ),
        _clock=Count(),
    )

    def __init__(
        self, alpha: float, guess: Any, loss_range: LossRange, explore: str, seed: int
    ) -> None:
        self.alpha = check_alpha(self, alpha)
        self.loss_range = check_bounded_range(self, loss_range)
        self.guess = guess
        self._prior = np.full(1, self.loss_range[0]) if guess is None else self._check_guess(guess)
        self.explore = check_choice(self, "explore", explore, ("bound", "sample"))
        self.seed = check_integer(self, "seed", seed, 0)
        self._n_actions = 0
        self._clock = 0  # number of calls of `learn`
        self._one = room_for_one()

    def _check_guess(self, guess: Any) -> FloatArray:
        """Return a copy of the first guesses; raise `ParameterError` unless in the loss range."""
        low, high = self.loss_range
        accepted = f"a number from {low:g} to {high:g} for each element, as in loss_range"
        try:
            prior = as_floats(guess).copy()
        except (TypeError, ValueError):
            raise refuse(self, "guess", accepted, guess) from None
        if prior.ndim != 1 or not prior.size or not ((low <= prior) & (prior <= high)).all():
            raise refuse(self, "guess", accepted, guess)
        return prior

    def prepare(self, n_actions: int) -> None:
        """Set the number of elements K, which must be the length of the first guess."""
        self._check_length("guess", None if self.guess is None else self._prior, n_actions)
        self._n_actions = n_actions

    def _check_length(self, name: str, values: Any, n_actions: int) -> None:
        if values is not None and n_actions != len(values):
            raise refuse(self, name, f"of length {n_actions}, one for each element", values)

    def _check_extension(self, name: str, values: Any) -> None:
        if values is not None:
            raise ParameterError(
                f"{type(self).__name__} with {name}= for {self._n_actions} elements cannot take "
                f"more elements. Pass a {name}= for all elements to a new predictor."
            )

    def predict(self, context: Any) -> FloatArray:
        """Return the estimates minus their widths, or a sample; not clipped."""
        if self.explore == "bound":
            return self._lower(context, self.alpha)
        return self._sample(context, np.random.default_rng([_SAMPLES, self.seed, self._clock]))

    def bounds_and_estimates(self, context: Any) -> tuple[FloatArray, FloatArray]:
        """Return `predict` and `estimate` of a context; learners of sets need both."""
        return self.predict(context), self.estimate(context)

    def baseline(self, context: Any) -> FloatArray:
        """Return the estimates minus their widths, not clipped."""
        return self._lower(context, self.alpha)

    def estimate(self, context: Any) -> FloatArray:
        """Return the estimates, clipped to the range of the losses."""
        return np.clip(self._lower(context, 0.0), *self.loss_range)

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """Learn from the losses of the chosen elements; NaN means that a loss was not observed."""
        elements, losses = check_seen(self, self._n_actions, action, loss, self._one, missing=True)
        self._learn(context, elements, losses)
        self._clock += 1

    def _empty(self) -> FloatArray:
        """Return an uninitialised number for each element."""
        check_prepared(type(self).__name__, self._n_actions)
        return np.empty(self._n_actions)

    @abstractmethod
    def _lower(self, context: Any, alpha: float) -> FloatArray:
        """Return the estimates minus α times their widths, not clipped."""

    @abstractmethod
    def _sample(self, context: Any, rng: np.random.Generator) -> FloatArray:
        """Return a sample of the losses, not clipped."""

    @abstractmethod
    def _learn(self, context: Any, elements: IntArray, losses: FloatArray) -> None:
        """Learn from checked losses, of which some may be NaN."""
