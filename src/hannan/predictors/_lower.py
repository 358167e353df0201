"""Lower confidence values from a mean, a width and the size of past errors."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from hannan.core.errors import ContextError
from hannan.core.policy import Action
from hannan.core.predictor import Predictor
from hannan.core.rounds import IntArray
from hannan.core.state import Count, Made, State
from hannan.core.validation import FloatArray
from hannan.predictors._fits import Fits
from hannan.predictors._rows import bad_row, check_row, check_seen
from hannan.predictors._several import Several
from hannan.predictors._table import check_prepared


class LowerConfidence(Predictor):
    """Guesses mean - α σ width, where σ² is the mean squared error of its own predictions.

    Its regressions are made when the first context shows how many features there are: `_fits`
    have learned something, `_fresh` have not.
    """

    gives_away = True
    alpha: float
    _fits: Any = None
    _fresh: Any = None

    @abstractmethod
    def _ready(self, context: Any) -> tuple[Any, Any]:
        """Return the regressions, and the context in the form that they take."""

    @abstractmethod
    def _unusable(self, context: Any) -> ContextError:
        """Return the error for a context with features that cannot be used."""

    def predict(self, context: Any) -> FloatArray:
        """Lower confidence values, clipped to [0, 1]."""
        return np.clip(self._lower(context, self.alpha), 0.0, 1.0)

    def baseline(self, context: Any) -> FloatArray:
        """Lower confidence values with α = 1, clipped to [0, 1]."""
        return np.clip(self._lower(context, 1.0), 0.0, 1.0)

    def estimate(self, context: Any) -> FloatArray:
        """The means, clipped to [0, 1]."""
        return np.clip(self._look(context, widths=False)[0], 0.0, 1.0)

    def lower(self, context: Any) -> FloatArray:
        """Lower confidence values as they are, without clipping."""
        return self._lower(context, self.alpha)

    def widths(self, context: Any) -> FloatArray:
        """How far each mean may be off, in units of the size of an error."""
        return self._look(context)[1]

    def advise(self, context: Any, available: IntArray | None = None) -> tuple[int, FloatArray]:
        """The action with the least lower confidence value, and `estimate`.

        Ties go to the smallest action. For rows of features widths are computed only as long as
        one of them could still change the answer.
        """
        fits, x = self._ready(context)
        action, estimates = fits.advise(x, available, self.alpha)
        if action < 0:
            raise self._unusable(context)
        return action, estimates

    def _look(self, context: Any, widths: bool = True) -> tuple[FloatArray, FloatArray]:
        """The means as they are, and the widths; the latter empty if they are not asked for."""
        fits, x = self._ready(context)
        values: tuple[FloatArray, FloatArray] | None = fits.look(x, widths)
        if values is None:
            raise self._unusable(context)
        return values

    def _lower(self, context: Any, alpha: float) -> FloatArray:
        means, widths = self._look(context)
        fits = self._fresh if self._fits is None else self._fits
        return np.asarray(means - alpha * fits.deviation * widths)


class RowPredictor(LowerConfidence):
    """Regressions on contexts that are rows of numbers."""

    stored = State(
        _n_actions=Count(),
        _fits=Made((Fits, Several), "_new_fits", n_actions=Count(), n_features=Count()).where(
            lambda self, fits: fits.n_actions == self._n_actions
        )
        | None,
    )
    _n_actions = 0

    def prepare(self, n_actions: int) -> None:
        """Make room for K elements."""
        self._n_actions = n_actions
        self._fits = self._fresh = None

    @abstractmethod
    def _new_fits(self, n_actions: int, n_features: int) -> Any:
        """Return regressions for K elements that have seen nothing."""

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """Count how wrong the prediction was, then learn what was seen."""
        elements, losses = check_seen(self, self._n_actions, action, loss)
        if not len(elements):
            return
        fits, row = self._ready(context)
        if not fits.learn(row, elements, losses):
            raise self._unusable(context)
        self._fits, self._fresh = fits, None

    def _ready(self, context: Any) -> tuple[Any, Any]:
        row = check_row(self, context)
        fits = self._fits
        if fits is None:
            check_prepared(type(self).__name__, self._n_actions)
            fits = self._fresh
            if fits is None or fits.n_features != len(row):
                fits = self._fresh = self._new_fits(self._n_actions, len(row))
        elif fits.n_features != len(row):
            raise ContextError(
                f"{type(self).__name__} has seen contexts with {fits.n_features} features; "
                f"got {context!r}."
            )
        return fits, row

    def _unusable(self, context: Any) -> ContextError:
        return bad_row(self, context)
