"""Lower confidence values from a mean, a width and the size of past errors."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from hannan.core.policy import Action
from hannan.core.predictor import Predictor
from hannan.core.rounds import IntArray
from hannan.core.state import Count, Made, State
from hannan.core.validation import FloatArray
from hannan.predictors._fits import Rows
from hannan.predictors._rows import check_seen
from hannan.predictors._several import Several


class LowerConfidence(Predictor):
    """Guesses mean - α σ width, where σ² is the mean squared error of its own predictions."""

    gives_away = True
    alpha: float
    _model: Rows | Several
    stored = State(_model=Made((Rows, Several), "_new_model", n_actions=Count()))

    def prepare(self, n_actions: int) -> None:
        """Make room for K elements."""
        self._model = self._new_model(n_actions)

    @abstractmethod
    def _new_model(self, n_actions: int) -> Rows | Several:
        """Regressions for K elements that have seen nothing."""

    def predict(self, context: Any) -> FloatArray:
        """Lower confidence values, clipped to [0, 1]."""
        return np.clip(self._lower(context, self.alpha), 0.0, 1.0)

    def baseline(self, context: Any) -> FloatArray:
        """Lower confidence values with α = 1, clipped to [0, 1]."""
        return np.clip(self._lower(context, 1.0), 0.0, 1.0)

    def estimate(self, context: Any) -> FloatArray:
        """The means, clipped to [0, 1]."""
        return np.clip(self._model.look(context, widths=False)[0], 0.0, 1.0)

    def lower(self, context: Any) -> FloatArray:
        """Lower confidence values as they are, without clipping."""
        return self._lower(context, self.alpha)

    def widths(self, context: Any) -> FloatArray:
        """How far each mean may be off, in units of the size of an error."""
        return self._model.look(context, widths=True)[1]

    def advise(self, context: Any, available: IntArray | None = None) -> tuple[int, FloatArray]:
        """The action with the least lower confidence value, and `estimate`.

        Ties go to the smallest action. For rows of features widths are computed only as long as
        one of them could still change the answer.
        """
        return self._model.advise(context, available, self.alpha)

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """Count how wrong the prediction was, then learn what was seen."""
        model = self._model
        finite = type(loss) is float and math.isfinite(loss)
        if finite and type(action) is int and 0 <= action < model.n_actions:  # as `check_seen`
            model.learn_one(context, action, loss)
            return
        elements, losses = check_seen(self, model.n_actions, action, loss)
        if len(elements):
            model.learn(context, elements, losses)

    def _lower(self, context: Any, alpha: float) -> FloatArray:
        means, widths = self._model.look(context, widths=True)
        return np.asarray(means - alpha * self._model.deviation * widths)
