"""Scores of all actions by fitted scikit-learn models, for restricted action sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Objective, Policy
from hannan.core.oracle import Noise
from hannan.core.validation import FloatArray

if TYPE_CHECKING:
    from hannan.oracles.sklearn_policies import SklearnObjective


def action_scores(
    models: Sequence[Any], row: FloatArray, n_actions: int, classifies: bool
) -> FloatArray:
    """A score for each action on one context; small is good.

    For regressors the predicted losses; for a classifier minus its probabilities, or else minus its
    decision values. If it has neither, known labels score 0 and unknown ones infinity.
    """
    if not classifies:
        return np.array([float(np.ravel(model.predict(row))[0]) for model in models])
    model = models[0]
    scores = np.full(n_actions, np.inf)
    scores[model.classes_] = 0.0
    if hasattr(model, "predict_proba"):
        scores[model.classes_] = -model.predict_proba(row)[0]
    elif hasattr(model, "decision_function"):
        values = np.ravel(model.decision_function(row))
        if len(values) == 1:
            values = np.array([-values[0], values[0]])
        if len(values) == len(model.classes_):  # otherwise there is one for each pair of classes
            scores[model.classes_] = -values
    return scores


class FewerActions(Objective):
    """A total whose leaders choose the best of the available actions."""

    draws_in_batches = False

    def __init__(self, total: SklearnObjective, available: NDArray[np.intp]) -> None:
        self.oracle = total.oracle
        self.total = total
        self.available = available

    def copy(self) -> FewerActions:
        return FewerActions(self.total.copy(), self.available)

    def add(self, context: FloatArray, losses: FloatArray) -> None:
        self.total.add(context, losses)

    def leaders(self, noise: Noise | None, first: int, count: int, scale: float) -> list[Policy]:
        return self.total.leaders(noise, first, count, scale)

    def minima(self, noise: Noise | None, first: int, count: int, scale: float) -> FloatArray:
        return self.total.minima(noise, first, count, scale)

    def action(self, context: FloatArray, noise: Noise | None, draw: int, scale: float) -> int:
        return self.total._solve(noise, draw, scale)[0].among(context, self.available)
